import { type Hex, UpstreamDisagreementError, UpstreamUnavailableError } from '@causeway/core'
import {
  askAny,
  askFinalHeight,
  askHeight,
  askQuorum,
  blockReading,
  type OnMalformed,
  quorumOf,
  type Reading,
  type TransferHit,
  traceReading,
  transactionReading,
  transfersReading,
} from '@causeway/families'
import { classifyTopUps, needsTrace, type TopUpFacts, type TopUpTarget } from '@causeway/families/rules'
import type { ObservedTopUp } from '@causeway/ledger'
import { isTooWide, type JsonRpcClient, NodeError } from '@causeway/rpc'

/** `any`: one endpoint is enough, for what is only shown. `quorum`: needed for what moves money. */
export type Trust = 'any' | 'quorum'

/** Reads top-ups to one account from its chain. */
export interface TopUpChain {
  readonly chainId: number
  readonly target: TopUpTarget
  /** Newest block that a quorum has. */
  head(signal: AbortSignal): Promise<bigint>
  /** Newest block that a quorum calls final. */
  finalHeight(signal: AbortSignal): Promise<bigint>
  /** `undefined` when there is no such block. */
  blockHash(height: bigint, trust: Trust, signal: AbortSignal): Promise<Hex | undefined>
  /**
   * Classified transfers of a range in chain order. With `quorum`, enough endpoints gave every block,
   * transaction and receipt alike. A transaction that moved to another block meanwhile is left out with
   * `any`; with `quorum` it counts as one that cannot be read.
   * @param unreadable takes transactions that cannot be read; absent: one of them fails the whole reading
   */
  topUps(
    range: Range,
    trust: Trust,
    signal: AbortSignal,
    unreadable?: UnreadableTransactions,
  ): Promise<readonly ObservedTopUp[]>
  /** Top-ups of one transaction, by quorum; `undefined` while it is in no block. */
  topUpsIn(transaction: Hex, signal: AbortSignal): Promise<readonly ObservedTopUp[] | undefined>
}

type Range = { from: bigint; to: bigint }

/** Handles transactions that cannot be read, so that they do not stop the others. */
export type UnreadableTransactions = {
  /** False for a transaction whose next try is later. */
  readonly isDue: (transaction: Hex) => boolean
  readonly add: (transaction: Hex) => void
}

export type TopUpChainOptions = {
  readonly client: JsonRpcClient
  readonly chainId: number
  readonly target: TopUpTarget
  /** Equal answers needed; default ceil(2n/3) of the endpoints. */
  readonly rpcThreshold?: number | undefined
  /** `trace`: ask for call traces, so that transfers through contracts can be attributed. */
  readonly mode: 'strict' | 'trace'
  readonly onMalformed: OnMalformed
}

/** @source rules L-57, Q-233 */
export const createTopUpChain = (options: TopUpChainOptions): TopUpChain => new TopUpReader(options)

class TopUpReader implements TopUpChain {
  readonly #options: TopUpChainOptions
  readonly #threshold: number
  readonly chainId: number
  readonly target: TopUpTarget

  constructor(options: TopUpChainOptions) {
    this.#options = options
    this.#threshold = quorumOf(options.client, options.rpcThreshold)
    this.chainId = options.chainId
    this.target = options.target
  }

  head(signal: AbortSignal): Promise<bigint> {
    const { client, onMalformed } = this.#options
    return askHeight(client, 'latest', { threshold: this.#threshold, signal, onMalformed })
  }

  finalHeight(signal: AbortSignal): Promise<bigint> {
    const { client, onMalformed } = this.#options
    return askFinalHeight(client, { threshold: this.#threshold, signal, onMalformed })
  }

  async blockHash(height: bigint, trust: Trust, signal: AbortSignal): Promise<Hex | undefined> {
    return (await this.#ask(blockReading(height), trust, signal))?.hash
  }

  topUpsIn(transaction: Hex, signal: AbortSignal): Promise<readonly ObservedTopUp[] | undefined> {
    return this.#topUpsOf(transaction, undefined, 'quorum', signal)
  }

  async topUps(
    range: Range,
    trust: Trust,
    signal: AbortSignal,
    unreadable?: UnreadableTransactions,
  ): Promise<readonly ObservedTopUp[]> {
    const byTransaction = new Map<Hex, TransferHit[]>()
    for (const hit of await this.#hitsOf(range, trust, signal)) {
      const { transactionHash } = hit
      byTransaction.set(transactionHash, [...(byTransaction.get(transactionHash) ?? []), hit])
    }
    const observedTopUps: ObservedTopUp[] = []
    for (const [hash, hits] of byTransaction) {
      if (unreadable?.isDue(hash) === false) continue
      try {
        const topUps = await this.#topUpsOf(hash, hits, trust, signal)
        if (topUps !== undefined) observedTopUps.push(...topUps)
        else if (trust === 'quorum') throw new UpstreamUnavailableError('A chain changed while it was read.')
      } catch (error) {
        if (unreadable === undefined || signal.aborted || !hasNoAgreedAnswer(error)) throw error
        unreadable.add(hash)
      }
    }
    return observedTopUps
  }

  async #ask<T>(reading: Reading<T>, trust: Trust, signal: AbortSignal): Promise<T> {
    const { client, onMalformed } = this.#options
    if (trust === 'any') return askAny(client, reading, onMalformed, signal)
    return (await askQuorum(client, reading, { threshold: this.#threshold, signal })).value
  }

  /** Halves the range while the node refuses it, as nodes do for too many results. */
  async #hitsOf(range: Range, trust: Trust, signal: AbortSignal): Promise<readonly TransferHit[]> {
    try {
      return await this.#ask(transfersReading(this.target, range), trust, signal)
    } catch (error) {
      const isRefused = error instanceof NodeError || isTooWide(error)
      if (!isRefused || range.from === range.to) throw asUnavailable(error)
      const middle = (range.from + range.to) / 2n
      const lower = await this.#hitsOf({ from: range.from, to: middle }, trust, signal)
      return [...lower, ...(await this.#hitsOf({ from: middle + 1n, to: range.to }, trust, signal))]
    }
  }

  /**
   * Reads one transaction as a whole.
   * @param hits its transfers as the range listed them; undefined: they are not compared
   * @returns undefined if it is in no block, or is no longer as it was listed
   */
  async #topUpsOf(
    hash: Hex,
    hits: readonly TransferHit[] | undefined,
    trust: Trust,
    signal: AbortSignal,
  ): Promise<readonly ObservedTopUp[] | undefined> {
    const { chainId, target } = this
    const included = await this.#ask(transactionReading(target, hash), trust, signal)
    if (included === undefined) return undefined
    const { blockHash, blockNumber, facts } = included
    const logIndexes = new Set(facts.logs.map(({ logIndex }) => logIndex))
    const isAsListed = (hit: TransferHit) =>
      hit.blockHash === blockHash && hit.blockNumber === blockNumber && logIndexes.has(hit.logIndex)
    const areAllAsListed = hits === undefined || (hits.length === facts.logs.length && hits.every(isAsListed))
    if (!areAllAsListed) return undefined
    // The block of a receipt may be off the canonical chain.
    if ((await this.blockHash(blockNumber, trust, signal)) !== blockHash) return undefined
    const { token, custody } = target
    const location = { chainId, transactionHash: hash, blockNumber, blockHash, token, custody }
    const tracedFacts = await this.#withTrace(hash, facts, trust, signal)
    return classifyTopUps(tracedFacts, target).map((transfer) => ({ ...transfer, ...location }))
  }

  async #withTrace(hash: Hex, facts: TopUpFacts, trust: Trust, signal: AbortSignal): Promise<TopUpFacts> {
    if (this.#options.mode === 'strict' || !needsTrace(facts, this.target)) return facts
    try {
      return { ...facts, trace: await this.#ask(traceReading(hash), trust, signal) }
    } catch (error) {
      // A node that cannot trace leaves the transfer where strict mode puts it: in suspense.
      if (error instanceof NodeError) return facts
      throw error
    }
  }
}

function hasNoAgreedAnswer(error: unknown): boolean {
  return error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
}

/** Turns a node's refusal, which no caller can mend, into an error that is retried. */
function asUnavailable(error: unknown): unknown {
  if (!(error instanceof NodeError)) return error
  return new UpstreamUnavailableError('A chain refused to list transfers.', { cause: error })
}
