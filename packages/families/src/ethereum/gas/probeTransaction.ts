import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { serializeUnsigned } from './unsignedTransaction.ts'

/**
 * Form of one argument on the wire: padding compresses well, random bytes do not. `address`: 20 bytes, `amount`: 10,
 * `hash`: 32.
 */
export type CalldataWord = 'address' | 'amount' | 'hash'

const randomBytesOf = { address: 20, amount: 10, hash: 32 } as const satisfies Record<CalldataWord, number>

/**
 * Calldata of a function with these arguments whose values are as random as real ones: rollups charge
 * for the compressed size, and repeated or zero bytes would make the estimate too low. The same
 * arguments always give the same bytes.
 * @source pricing-engine.md 1.3
 */
export function probeCalldata(args: readonly CalldataWord[]): Hex {
  const selector = randomHex('selector', 4)
  const words = args.map((kind, index) =>
    randomHex(`${kind} ${index}`, randomBytesOf[kind]).padStart(64, '0'),
  )
  return `0x${selector}${words.join('')}`
}

/**
 * An unsigned EIP-1559 transaction of realistic size. Data fees are charged on the unsigned form, the
 * oracle adds the signature itself.
 */
export function probeTransaction(args: {
  readonly chainId: number
  readonly calldata: Hex
  readonly valueWei: bigint
  readonly gasUnits: bigint
}): Hex {
  const { chainId, calldata, valueWei, gasUnits } = args
  return serializeUnsigned({
    chainId,
    nonce: 0x1234,
    gas: gasUnits,
    maxFeePerGas: 0x12345678n,
    maxPriorityFeePerGas: 0x123456n,
    to: `0x${randomHex('to', 20)}`,
    value: valueWei,
    data: calldata,
  })
}

/** Digits that look random, from a hash of what they stand for. */
function randomHex(seed: string, bytes: number): string {
  return createHash('sha256')
    .update(seed)
    .digest('hex')
    .slice(0, bytes * 2)
}
