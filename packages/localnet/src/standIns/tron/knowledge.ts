import type { Hex } from '@causeway/core'
import type { RpcFrame } from './renderBodies.ts'

/** Prices of a chain; may change while it runs. */
export type TronPrices = { sunPerEnergy: number; sunPerByte: number }

/** Members of a call, as nodes read them. */
export type CallBody = {
  readonly owner: Hex
  readonly contract: Hex
  readonly data: Hex
  readonly value: bigint
  readonly feeLimitSun?: number | undefined
}

/** Transactions of one chain, shared by its facades. */
export type TronKnowledge = {
  readonly known: ReadonlyMap<string, KnownTransaction>
  /** Takes note of what was broadcast and run. */
  add(transactionId: string, transaction: KnownTransaction): void
  /** One after the other, whichever facade it comes through. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
}

export function createTronKnowledge(known: Map<string, KnownTransaction> = new Map()): TronKnowledge {
  let last: Promise<unknown> = Promise.resolve()
  return {
    known,
    add: (transactionId, transaction) => void known.set(transactionId, transaction),
    inTurn(work) {
      const result = last.then(work, work)
      last = result.catch(() => undefined)
      return result
    },
  }
}

export type KnownTransaction = {
  readonly evmHash: Hex
  /** Without `0x`. */
  readonly rawHex: string
  readonly isContractCall: boolean
  /** Burnt fee, sun; absent where the transaction came by another way than a broadcast. */
  readonly feeSun?: bigint | undefined
  /** For the time when the node has forgotten the state before it. */
  readonly trace?: RpcFrame | undefined
}
