import { inspect } from 'node:util'
import { type Hex, Secret, type SigningRequest } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import fc from 'fast-check'
import { toHex } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import {
  allocatorDomain,
  depositExecution,
  ethereumDepositId,
  fillExecution,
  hubDomain,
  oracleKey,
  withdrawRequest,
} from '../../core/test/vectors/messages.ts'
import { orderBId, orderBSignature, orderBSolverKey } from '../../core/test/vectors/orders.ts'
import { parsePrivateKey } from './privateKey.ts'
import { createRawKeySigner } from './rawKeySigner.ts'
import { recoverSigner } from './recoverSigner.ts'

const signerOf = (key: Hex) => createRawKeySigner({ privateKey: parsePrivateKey(key, 'KEY') })

describe('the published signatures are ours', () => {
  test.each<[string, Hex, SigningRequest, Hex]>([
    ['order B', orderBSolverKey, { purpose: 'order', orderId: orderBId }, orderBSignature],
    [
      'the deposit message',
      oracleKey,
      { purpose: 'message', messageId: ethereumDepositId },
      '0x2e639563ee00d7284978658449a3be56e95ab1622347b2ea19f959eddd6452463d957f72ecbd75a4b212ba6912050711eff0fb86650cd2806bc307df3e877c3b1c',
    ],
    [
      'the deposit execution',
      oracleKey,
      { purpose: 'execution', domain: hubDomain, execution: depositExecution },
      '0xb040c92bb3ee60df2323f77c484268e3d07bea489c6e9cdee0a0281f9a631b6462b695604c8a6cc381a82a3d282369de1d17460edc4fae314cc5e713659fa8c41b',
    ],
    [
      'the fill execution',
      oracleKey,
      { purpose: 'execution', domain: hubDomain, execution: fillExecution },
      '0x2a3f855baeb34695af4623fc5395e368cf62bbe76c64d67b72a1db3c6b3455366dca500239a9a385e098099b46da4aba9ebb005c680f9d17b0d4f4352d7b96d81b',
    ],
    [
      'the withdraw request',
      oracleKey,
      { purpose: 'withdraw-request', domain: allocatorDomain, request: withdrawRequest },
      '0x8da11aa7f17d730fbcb71b4b79fb76d9a782fa66fa44a1bdfbfa2b9b5e53d6ff7fb842b9e357afbb31a9a1370e147e7c3803c874f631f7f82adaf36068096c3c1b',
    ],
  ])('%s', async (_name, key, request, expected) => {
    const signer = signerOf(key)
    expect(await signer.sign(request)).toBe(expected)
    expect(recoverSigner(signingDigest(request), expected)).toBe(signer.address)
  })
})

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes): Hex => toHex(bytes))
const keys = word.filter((key) => BigInt(key) > 0n && BigInt(key) < 2n ** 255n)

test('signatures and addresses equal viem for any key and digest', async () => {
  await fc.assert(
    fc.asyncProperty(keys, word, async (key, orderId) => {
      const signer = signerOf(key)
      const request = { purpose: 'order', orderId } as const
      const signature = await signer.sign(request)
      expect(signer.address).toBe(privateKeyToAccount(key).address.toLowerCase())
      expect(signature).toBe(await sign({ hash: toHex(signingDigest(request)), privateKey: key, to: 'hex' }))
      expect(recoverSigner(signingDigest(request), signature)).toBe(signer.address)
    }),
    { numRuns: 50 },
  )
})

test('a request that was given up is not signed', async () => {
  const signal = AbortSignal.abort()
  await expect(
    signerOf(oracleKey).sign({ purpose: 'order', orderId: orderBId }, { signal }),
  ).rejects.toThrow()
})

test('a request that does not fit its type is refused, not signed', async () => {
  await expect(signerOf(oracleKey).sign({ purpose: 'order', orderId: '0x1234' })).rejects.toThrow(RangeError)
})

test('the key shows nowhere', async () => {
  const privateKey = new Secret(oracleKey)
  const signer = createRawKeySigner({ privateKey })
  const failure = await signer.sign({ purpose: 'order', orderId: '0x12' }).catch((error: unknown) => error)
  const seen = [signer, privateKey, failure].map((value) => inspect(value, { depth: 10, showHidden: true }))
  const digits = oracleKey.slice(2)
  for (const text of [...seen, JSON.stringify(signer), String(failure)]) expect(text).not.toContain(digits)
})
