import { hexToBytes } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import secp256k1 from 'secp256k1'
import { expect, test } from 'vitest'
import { oracleKey } from '../../core/test/vectors/messages.ts'
import { orderBId, orderBSignature, orderBSolverKey } from '../../core/test/vectors/orders.ts'
import { SignerFailedError } from './errors.ts'
import { finishSignature } from './finishSignature.ts'

const digest = signingDigest({ purpose: 'order', orderId: orderBId })
const publicKey = secp256k1.publicKeyCreate(hexToBytes(orderBSolverKey), false)
const { signature: compact, recid: recoveryId } = secp256k1.ecdsaSign(digest, hexToBytes(orderBSolverKey))
const good = { digest, compact, recoveryId, publicKey }

test('the signature of the key leaves in its wire form', () => {
  expect(finishSignature(good)).toBe(orderBSignature)
})

test.each<[string, Partial<typeof good>]>([
  ['of another key', { publicKey: secp256k1.publicKeyCreate(hexToBytes(oracleKey), false) }],
  ['over another digest', { digest: new Uint8Array(32).fill(1) }],
  ['with a flipped bit', { compact: compact.map((byte, index) => (index === 40 ? byte ^ 1 : byte)) }],
  ['with the other recovery id', { recoveryId: 1 - recoveryId }],
  ['that is no signature', { compact: new Uint8Array(64) }],
])('a signature %s never leaves', (_name, change) => {
  expect(() => finishSignature({ ...good, ...change })).toThrow(SignerFailedError)
})
