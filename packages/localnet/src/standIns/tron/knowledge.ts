import type { Hex } from '@causeway/core'
import type { RpcFrame } from './renderBodies.ts'

/** Prices of a chain in sun; tests change them while it runs. */
export type TronPrices = { sunPerEnergy: number; sunPerByte: number }

/** A call of a contract, read from a request; accounts are the EVM's, `value` in sun. */
export type CallBody = {
  readonly owner: Hex
  readonly contract: Hex
  readonly data: Hex
  readonly value: bigint
  readonly feeLimitSun?: number | undefined
}

/** Tron transactions of one chain as its facades know them, beside the EVM node. */
export type TronKnowledge = {
  /** By transaction id. */
  readonly known: ReadonlyMap<string, KnownTransaction>
  /** Adds a transaction that was broadcast and run. */
  add(transactionId: string, transaction: KnownTransaction): void
  /** Runs work of all facades one after the other. */
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

/** A Tron transaction and the EVM transaction that ran it. */
export type KnownTransaction = {
  readonly evmHash: Hex
  /** Raw bytes, without `0x`. */
  readonly rawHex: string
  readonly isContractCall: boolean
  /** Burnt fee in sun; absent where the transaction was not broadcast. */
  readonly feeSun?: bigint | undefined
  /** Its calls, kept because the node forgets the states that a trace needs. */
  readonly trace?: RpcFrame | undefined
}
