import type { Hex } from '@causeway/core'
import type { RpcAnswer, RpcCall } from '@causeway/rpc'

export type SentTransaction = {
  readonly from: Hex
  readonly to: Hex
  readonly data?: Hex
  readonly value?: bigint
}

export type ChainLog = {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

export type Receipt = {
  readonly id: Hex
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly blockNumber: number
  readonly succeeded: boolean
  /** Name of the contract's error; `no data` where it says nothing. */
  readonly errorName: string | undefined
  readonly logs: readonly ChainLog[]
}

/** One chain as parties act on it and services read it: of contract models, or a node with the contracts. */
export interface Chain {
  readonly id: string
  readonly chainId: number
  readonly headSeconds: bigint
  readonly headNumber: number
  /** Included in a block of its own, whether it succeeds or not. */
  transact(sent: SentTransaction): Promise<Receipt>
  mine(blocks: number): Promise<void>
  /** The next block is so much later. */
  pass(seconds: bigint): Promise<void>
  /** Replaces the newest blocks by more of them; what was in them is included again, or gone. */
  reorganize(blocks: number, comesBack: boolean): Promise<void>
  /** `undefined` when no block holds it now. */
  receiptOf(id: Hex): Receipt | undefined
  /** @param height default the newest block's */
  call(to: Hex, data: Hex, height?: number): Promise<Hex>
  weiOf(account: Hex, height?: number): Promise<bigint>
  /** Answer of an honest endpoint. */
  ask(call: RpcCall): RpcAnswer | Promise<RpcAnswer>
}
