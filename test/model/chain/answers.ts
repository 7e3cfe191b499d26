// Answers of a model chain's node, in the JSON that readers parse.

import type { Hex } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'
import { Revert } from '../contracts/contractModel.ts'
import type { ChainLog, Receipt } from './chain.ts'

export type ModelBlock = { readonly number: number; readonly hash: Hex; readonly timestamp: bigint }

export type CallTrace = {
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly input: Hex
  readonly calls: readonly CallTrace[]
}

export type ModelTransaction = Omit<Receipt, 'logs'> & {
  readonly input: Hex
  readonly blockHash: Hex
  readonly logs: readonly (ChainLog & { readonly logIndex: bigint })[]
  readonly trace: CallTrace | undefined
}

/** A call that changes nothing; `from` and `value` as a transaction has them. */
export type Viewed = {
  readonly to: Hex
  readonly data: Hex
  readonly from?: Hex
  readonly value?: bigint
}

type Node = {
  readonly blocks: readonly ModelBlock[]
  transactionOf(id: Hex): ModelTransaction | undefined
  /** @throws Revert */
  view(viewed: Viewed, height?: number): Hex
  hasCode(account: Hex): boolean
}

const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`
const result = (value: unknown): RpcAnswer => ({ ok: true, result: value })
const failure = (message: string): RpcAnswer => ({ ok: false, code: -32_000, message })

export function answerCall({ method, params }: RpcCall, node: Node): RpcAnswer {
  const [first, second] = params
  switch (method) {
    case 'eth_blockNumber':
      return result(quantity(node.blocks.length - 1))
    case 'eth_getBlockByNumber':
      return result(blockAt(heightOf(first, node), node))
    case 'eth_getTransactionReceipt':
      return result(receiptJson(transactionNamed(first, node)))
    case 'eth_getTransactionByHash':
      return result(transactionJson(transactionNamed(first, node)))
    case 'eth_call':
      return view(first, second === 'latest' ? undefined : heightOf(second, node), node)
    case 'eth_estimateGas': {
      const ran = view(first, undefined, node)
      return ran.ok ? result(quantity(gasOfAll)) : ran
    }
    case 'eth_getCode':
      return result(node.hasCode(hexOf(first)) ? '0xfe' : '0x')
    case 'debug_traceTransaction': {
      const trace = transactionNamed(first, node)?.trace
      return trace === undefined ? failure('transaction not found') : result(traceJson(trace))
    }
    default:
      return failure(`the method ${method} does not exist`)
  }
}

function heightOf(block: unknown, { blocks }: Node): number {
  return typeof block === 'string' && block.startsWith('0x') ? Number(block) : blocks.length - 1
}

function hexOf(value: unknown): Hex {
  if (typeof value !== 'string' || !value.startsWith('0x')) throw new Error('a parameter is no hex')
  return `0x${value.slice(2).toLowerCase()}`
}

const transactionNamed = (id: unknown, node: Node) => node.transactionOf(hexOf(id))

function blockAt(height: number, { blocks }: Node) {
  const block = blocks[height]
  if (block === undefined) return null
  const { number, hash, timestamp } = block
  return { number: quantity(number), hash, timestamp: quantity(timestamp) }
}

function placeOf({ blockNumber, blockHash }: ModelTransaction) {
  return { blockNumber: quantity(blockNumber), blockHash, transactionIndex: '0x0' }
}

function receiptJson(transaction: ModelTransaction | undefined) {
  if (transaction === undefined) return null
  const place = { transactionHash: transaction.id, ...placeOf(transaction) }
  const logs = transaction.logs.map(({ logIndex, ...log }) => ({
    ...log,
    logIndex: quantity(logIndex),
    removed: false,
    ...place,
  }))
  return { ...place, status: transaction.succeeded ? '0x1' : '0x0', logs }
}

function transactionJson(transaction: ModelTransaction | undefined) {
  if (transaction === undefined) return null
  const { id, from, to, input, value } = transaction
  return { hash: id, ...placeOf(transaction), from, to, input, value: quantity(value) }
}

/** The model has no gas. */
const gasOfAll = 100_000n

function view(call: unknown, height: number | undefined, node: Node): RpcAnswer {
  if (typeof call !== 'object' || call === null || !('to' in call) || !('data' in call)) {
    return failure('invalid params')
  }
  try {
    const from = 'from' in call ? hexOf(call.from) : undefined
    const value = 'value' in call ? BigInt(String(call.value)) : 0n
    const viewed = { to: hexOf(call.to), data: hexOf(call.data), value, ...(from !== undefined && { from }) }
    return result(node.view(viewed, height))
  } catch (error) {
    if (error instanceof Revert) return { ok: false, code: 3, message: 'execution reverted' }
    throw error
  }
}

function traceJson({ from, to, value, input, calls }: CallTrace): unknown {
  return { type: 'CALL', from, to, value: quantity(value), input, calls: calls.map(traceJson) }
}
