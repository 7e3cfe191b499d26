import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import { serializeUnsigned } from './unsignedTransaction.ts'

/**
 * Kind of one ABI word of calldata, which decides how many of its 32 bytes are random. Zero padding compresses well,
 * random bytes do not. `address`: 20 random bytes, `amount`: 10, `hash`: 32.
 */
export type CalldataWord = 'address' | 'amount' | 'hash'

const randomByteCounts = { address: 20, amount: 10, hash: 32 } as const satisfies Record<CalldataWord, number>

/**
 * Calldata of a function with these arguments, with values as random as real ones: rollups charge for the compressed
 * size, and repeated or zero bytes would make the estimate too low. Equal arguments give equal bytes.
 * @source OP-stack GasPriceOracle, since Fjord
 */
export function probeCalldata(args: readonly CalldataWord[]): Hex {
  const selector = pseudoRandomHex('selector', 4)
  const words = args.map((kind, index) =>
    pseudoRandomHex(`${kind} ${index}`, randomByteCounts[kind]).padStart(64, '0'),
  )
  return `0x${selector}${words.join('')}`
}

/**
 * An unsigned EIP-1559 transaction of realistic size, from which data fees are estimated. The OP stack's gas oracle
 * adds the size of a signature by itself; for Arbitrum `arbitrumDataBytes` does.
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
    to: `0x${pseudoRandomHex('to', 20)}`,
    value: valueWei,
    data: calldata,
  })
}

/** Hex digits of a hash of the seed. */
function pseudoRandomHex(seed: string, bytes: number): string {
  return createHash('sha256')
    .update(seed)
    .digest('hex')
    .slice(0, bytes * 2)
}
