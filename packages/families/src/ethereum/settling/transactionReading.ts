import type { Hex } from '@causeway/core'
import {
  MalformedAnswerError,
  NodeError,
  parseBytes,
  parseHash,
  parseList,
  parseQuantity,
  parseRecord,
  toQuantity,
} from '@causeway/rpc'
import type { MinedTransaction, PaidId } from '../../shared/settlingChain.ts'
import { addressTopic, paidTopic } from '../reading/events.ts'
import { fillContractCalls } from '../rules/fillContract.ts'
import { minedCalls, parseAddress, parseLog, parseMined, type Reading } from './chainReadings.ts'
import { readPaidSwap } from './paidSwaps.ts'

/** A transaction in a block, with swaps that the deposit router logged; `undefined` if the node has it in no block. */
export function minedReading(
  hash: string,
  depositRouter: string | undefined,
): Reading<MinedTransaction | undefined> {
  return {
    calls: minedCalls(hash),
    parse: (answers) => {
      const mined = parseMined(answers, hash)
      if (mined === undefined) return undefined
      const { transaction, receipt, requestName } = mined
      const to = transaction['to']
      return {
        hash,
        blockNumber: parseQuantity(receipt['blockNumber'], requestName),
        succeeded: parseQuantity(receipt['status'], requestName) === 1n,
        from: parseAddress(transaction['from'], requestName),
        to: to === null || to === undefined ? undefined : parseAddress(to, requestName),
        input: parseBytes(transaction['input'], requestName),
        valueWei: parseQuantity(transaction['value'], requestName),
        paidSwaps: parseList(receipt['logs'], requestName).flatMap((log) => {
          const paid = readPaidSwap(parseLog(parseRecord(log, requestName), requestName), depositRouter)
          return paid === undefined ? [] : [paid]
        }),
      }
    },
  }
}

/** The fill contract's enum `State`, in its order. */
const states = ['open', 'paid', 'closed'] as const

/** A payment id of a fill wallet in a fill contract. */
type RecordQuery = { readonly fillContract: string; readonly fillWallet: string; readonly id: Hex }

/** True if the fill contract has an id as paid by a wallet, at the newest block. */
export function paidReading(query: RecordQuery): Reading<boolean> {
  const { calls, parse } = stateReading(query, 'latest')
  return { calls, parse: (answers) => parse(answers) === 'paid' }
}

/** Code of a fill contract, by which the caller sees if it keeps states: contracts of earlier releases keep none. */
export function codeReading(contract: string): Reading<Hex> {
  const requestName = 'eth_getCode'
  return {
    calls: [{ method: requestName, params: [contract, 'latest'] }],
    parse: ([answer]) => parseBytes(answer?.ok === true ? answer.result : undefined, requestName),
  }
}

/** State of an id in the fill contract, at a block. A node's own error counts as a malformed answer. */
export function stateReading(
  { fillContract: to, fillWallet, id }: RecordQuery,
  block: string,
): Reading<(typeof states)[number]> {
  const requestName = 'eth_call'
  // CAST: the configuration holds parsed addresses of this family alone.
  const data = fillContractCalls.encode('stateOf', [fillWallet as Hex, id])
  return {
    calls: [{ method: requestName, params: [{ to, data }, block] }],
    parse: ([answer]) => {
      const word = parseBytes(answer?.ok === true ? answer.result : undefined, requestName)
      const state = word.length === 66 ? states[Number(BigInt(word))] : undefined
      if (state === undefined) throw new MalformedAnswerError(requestName)
      return state
    },
  }
}

/** Payments of a wallet that fill contracts logged in a range of blocks. */
export function paidIdsReading(query: {
  readonly contracts: readonly string[]
  readonly fillWallet: string
  readonly from: bigint
  readonly to: bigint
}): Reading<readonly PaidId[]> {
  const requestName = 'eth_getLogs'
  const filter = {
    address: query.contracts,
    topics: [paidTopic, addressTopic(query.fillWallet.toLowerCase())],
    fromBlock: toQuantity(query.from),
    toBlock: toQuantity(query.to),
  }
  return {
    calls: [{ method: requestName, params: [filter] }],
    parse: ([answer]) => {
      if (answer?.ok === false) throw new NodeError(answer)
      return parseList(answer?.result, requestName).map((value) => {
        const log = parseRecord(value, requestName)
        const [, , id] = parseLog(log, requestName).topics
        if (id === undefined) throw new MalformedAnswerError(requestName)
        return { id, transactionId: parseHash(log['transactionHash'], requestName) }
      })
    },
  }
}
