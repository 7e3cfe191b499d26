import { parseBytes, parseQuantity } from '@causeway/chains'
import type { Hex } from '@causeway/core'
import { minedCalls, parseAddress, parseMined, type Reading } from '../../chainReadings/readings.ts'

/** A transaction in a block, at whatever depth. */
export type MinedTransaction = {
  readonly hash: Hex
  readonly blockNumber: bigint
  readonly succeeded: boolean
  readonly from: Hex
  /** Absent where it creates a contract. */
  readonly to: Hex | undefined
  readonly input: Hex
  readonly valueWei: bigint
}

/** `undefined` where the node knows no such transaction in a block. */
export function minedReading(hash: Hex): Reading<MinedTransaction | undefined> {
  return {
    calls: minedCalls(hash),
    parse: (answers) => {
      const mined = parseMined(answers, hash)
      if (mined === undefined) return undefined
      const { transaction, receipt, what } = mined
      const to = transaction['to']
      return {
        hash,
        blockNumber: parseQuantity(receipt['blockNumber'], what),
        succeeded: parseQuantity(receipt['status'], what) === 1n,
        from: parseAddress(transaction['from'], what),
        to: to === null || to === undefined ? undefined : parseAddress(to, what),
        input: parseBytes(transaction['input'], what),
        valueWei: parseQuantity(transaction['value'], what),
      }
    },
  }
}
