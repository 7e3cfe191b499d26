import { secp256k1 } from '@noble/curves/secp256k1.js'
import { describe, expect, test } from 'vitest'
import { bitcoinLibrary } from '../library.ts'
import { encodeScript } from '../script.ts'
import { OwnerKeyError, ownerKeyOf } from './ownerKey.ts'

const publicKey = secp256k1.getPublicKey(new Uint8Array(32).fill(1), true)
const digits = Buffer.from(publicKey).toString('hex')
const { hash160 } = bitcoinLibrary().crypto
const redeemScript = encodeScript({ kind: 'witness', version: 0, program: hash160(publicKey) })
const scripts = {
  legacy: encodeScript({ kind: 'public-key-hash', hash: hash160(publicKey) }),
  nested: encodeScript({ kind: 'script-hash', hash: hash160(redeemScript) }),
  native: redeemScript,
  taproot: Uint8Array.from([0x51, 32, ...new Uint8Array(32)]),
  none: Uint8Array.of(0x6a),
}

describe('a PSBT carries of the key', () => {
  test.each([
    ['nothing for a hash of the key', scripts.legacy, undefined, { kind: 'public-key-hash' }],
    ['nothing for a witness of it', scripts.native, digits, { kind: 'witness', shown: {} }],
    ['nothing for taproot where it is not told', scripts.taproot, undefined, { kind: 'witness', shown: {} }],
    ['nothing for what has no address', scripts.none, digits, { kind: 'witness', shown: {} }],
    [
      'the script that it makes, behind a hash',
      scripts.nested,
      digits,
      { kind: 'witness', shown: { redeemScript } },
    ],
    [
      'the same where its digits begin with 0x',
      scripts.nested,
      `0x${digits}`,
      { kind: 'witness', shown: { redeemScript } },
    ],
  ])('%s', (_what, script, key, shown) => {
    expect(ownerKeyOf(script, key)).toEqual(shown)
  })
})

test.each([
  ['is missing', scripts.nested, undefined, 'is needed'],
  ['is no hex', scripts.legacy, 'zz', 'is no hex'],
  ['has 0x within it', scripts.native, `${digits.slice(0, 2)}0x${digits.slice(2)}`, 'is no hex'],
  ['is another one', scripts.nested, `02${'11'.repeat(32)}`, 'is not the key of user'],
  ['makes another taproot address', scripts.taproot, digits, 'is not the key of user'],
])('a key that %s is refused by its field', (_what, script, key, problem) => {
  const refused = () => ownerKeyOf(script, key)
  expect(refused).toThrow(OwnerKeyError)
  expect(refused).toThrow(
    expect.objectContaining({
      code: 'INVALID_REQUEST',
      kind: 'invalid_request',
      data: { field: 'additionalData.userPublicKey' },
    }),
  )
  expect(refused).toThrow(problem)
})
