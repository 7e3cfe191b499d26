import {
  MalformedAnswerError,
  NodeError,
  parseBytes,
  parseHash,
  parseQuantity,
  parseRecord,
  type RpcAnswer,
} from '@causeway/chains'
import type { Hex } from '@causeway/core'
import type { Reading } from '../topUps/readings.ts'

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
    calls: [
      { method: 'eth_getTransactionByHash', params: [hash] },
      { method: 'eth_getTransactionReceipt', params: [hash] },
    ],
    parse: ([transactionAnswer, receiptAnswer]) => {
      const results = [resultOf(transactionAnswer), resultOf(receiptAnswer)]
      if (results.includes(null)) return undefined
      const transaction = parseRecord(results[0], 'eth_getTransactionByHash')
      const what = 'eth_getTransactionReceipt'
      const receipt = parseRecord(results[1], what)
      const isOne =
        parseHash(transaction['hash'], what) === hash &&
        parseHash(receipt['transactionHash'], what) === hash &&
        parseHash(transaction['blockHash'], what) === parseHash(receipt['blockHash'], what)
      if (!isOne) throw new MalformedAnswerError(what)
      const to = transaction['to']
      return {
        hash,
        blockNumber: parseQuantity(receipt['blockNumber'], what),
        succeeded: parseQuantity(receipt['status'], what) === 1n,
        from: parseBytes(transaction['from'], what),
        to: to === null || to === undefined ? undefined : parseBytes(to, what),
        input: parseBytes(transaction['input'], what),
        valueWei: parseQuantity(transaction['value'], what),
      }
    },
  }
}

function resultOf(answer: RpcAnswer | undefined): unknown {
  if (answer === undefined) throw new MalformedAnswerError('JSON-RPC batch')
  if (!answer.ok) throw new NodeError(answer)
  return answer.result
}
