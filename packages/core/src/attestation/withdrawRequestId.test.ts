import fc from 'fast-check'
import { encodeAbiParameters, keccak256, toHex } from 'viem'
import { expect, test } from 'vitest'
import { withdrawRequest } from '../../test/vectors/messages.ts'
import { withdrawRequestPayloadId } from './withdrawRequestId.ts'

const members = [
  { name: 'chainId', type: 'uint256' },
  { name: 'depository', type: 'string' },
  { name: 'currency', type: 'string' },
  { name: 'amount', type: 'uint256' },
  { name: 'spender', type: 'address' },
  { name: 'recipient', type: 'string' },
  { name: 'data', type: 'bytes' },
  { name: 'nonce', type: 'bytes32' },
] as const

test('the payload id is the published one, of one tuple and not of eight parameters', () => {
  expect(withdrawRequestPayloadId(withdrawRequest)).toBe(
    '0xdb9f84f17ac6f8f3d9a0c703229915b2d8b57c2f3401641f2c88e8f0492e963a',
  )
})

test('the payload id is the hash of the ABI encoding that viem makes', () => {
  const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
  const text = fc.string({ unit: 'grapheme', maxLength: 80 })
  fc.assert(
    fc.property(
      uint256,
      uint256,
      text,
      text,
      fc.uint8Array({ maxLength: 100 }),
      (chainId, amount, one, two, data) => {
        const request = {
          ...withdrawRequest,
          chainId,
          amount,
          depository: one,
          currency: two,
          recipient: one,
          data: toHex(data),
        }
        expect(withdrawRequestPayloadId(request)).toBe(
          keccak256(encodeAbiParameters([{ type: 'tuple', components: members }], [request])),
        )
      },
    ),
  )
})
