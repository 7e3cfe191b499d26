import { isTooWide, type JsonRpcClient, NodeError } from '@causeway/chains'
import {
  classifyTopUps,
  type Hex,
  needsTrace,
  type TopUpFacts,
  type TopUpTarget,
  UpstreamDisagreementError,
  UpstreamUnavailableError,
} from '@causeway/core'
import type { ObservedTopUp } from '@causeway/ledger'
import {
  askAny,
  askFinalHeight,
  askHeight,
  askQuorum,
  type OnMalformed,
  quorumOf,
} from '../../chainReadings/askChain.ts'
import {
  blockReading,
  type Reading,
  type TransferHit,
  traceReading,
  transactionReading,
  transfersReading,
} from '../../chainReadings/readings.ts'

/** `any`: one endpoint, for what is shown. `quorum`: what money moves on. */
export type Trust = 'any' | 'quorum'

/** Top-ups as a chain reports them. */
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
   * Classified transfers of a range in chain order. With `quorum` every block, transaction and receipt was
   * read alike by enough endpoints. With `any`, transactions that moved meanwhile are left out.
   * @param strange who takes transactions that cannot be read; absent: one of them fails the reading
   */
  topUps(
    range: { from: bigint; to: bigint },
    trust: Trust,
    signal: AbortSignal,
    strange?: StrangeTopUps,
  ): Promise<readonly ObservedTopUp[]>
  /** Those of one transaction, by quorum; `undefined` where it is in no block. */
  topUpsIn(transaction: Hex, signal: AbortSignal): Promise<readonly ObservedTopUp[] | undefined>
}

export type StrangeTopUps = {
  /** False of one that is read later. */
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

/** @source ledger-and-safety.md 1.7, Scanner */
export function createTopUpChain(options: TopUpChainOptions): TopUpChain {
  const { client, chainId, target, mode, onMalformed } = options
  const threshold = quorumOf(client, options.rpcThreshold)

  async function ask<T>(reading: Reading<T>, trust: Trust, signal: AbortSignal): Promise<T> {
    if (trust === 'any') return askAny(client, reading, onMalformed, signal)
    return (await askQuorum(client, reading, { threshold, signal })).value
  }

  const blockHash: TopUpChain['blockHash'] = async (height, trust, signal) =>
    (await ask(blockReading(height), trust, signal))?.hash

  /** Halves the range while the node refuses it, as nodes do for too many results. */
  async function hitsOf(
    range: { from: bigint; to: bigint },
    trust: Trust,
    signal: AbortSignal,
  ): Promise<readonly TransferHit[]> {
    try {
      return await ask(transfersReading(target, range), trust, signal)
    } catch (error) {
      const isRefused = error instanceof NodeError || isTooWide(error)
      if (!isRefused || range.from === range.to) throw asUnavailable(error)
      const middle = (range.from + range.to) / 2n
      const lower = await hitsOf({ from: range.from, to: middle }, trust, signal)
      return [...lower, ...(await hitsOf({ from: middle + 1n, to: range.to }, trust, signal))]
    }
  }

  async function withTrace(
    hash: Hex,
    facts: TopUpFacts,
    trust: Trust,
    signal: AbortSignal,
  ): Promise<TopUpFacts> {
    if (mode === 'strict' || !needsTrace(facts, target)) return facts
    try {
      return { ...facts, trace: await ask(traceReading(hash), trust, signal) }
    } catch (error) {
      // A node that cannot trace leaves the transfer where strict mode puts it: in suspense.
      if (error instanceof NodeError) return facts
      throw error
    }
  }

  async function topUpsOf(
    hash: Hex,
    hits: readonly TransferHit[] | undefined,
    trust: Trust,
    signal: AbortSignal,
  ): Promise<readonly ObservedTopUp[] | undefined> {
    const included = await ask(transactionReading(target, hash), trust, signal)
    if (included === undefined) return undefined
    const { blockHash: includedIn, blockNumber, facts } = included
    const places = new Set(facts.logs.map(({ logIndex }) => logIndex))
    const isSame = hits?.every(
      (hit) => hit.blockHash === includedIn && hit.blockNumber === blockNumber && places.has(hit.logIndex),
    )
    if (hits !== undefined && (!isSame || hits.length !== facts.logs.length)) return undefined
    if ((await blockHash(blockNumber, trust, signal)) !== includedIn) return undefined
    const { token, custody } = target
    const place = { chainId, transactionHash: hash, blockNumber, blockHash: includedIn, token, custody }
    return classifyTopUps(await withTrace(hash, facts, trust, signal), target).map((transfer) => ({
      ...transfer,
      ...place,
    }))
  }

  return {
    chainId,
    target,
    head: (signal) => askHeight(client, 'latest', { threshold, signal, onMalformed }),
    finalHeight: (signal) => askFinalHeight(client, { threshold, signal, onMalformed }),
    blockHash,
    topUpsIn: (transaction, signal) => topUpsOf(transaction, undefined, 'quorum', signal),
    async topUps(range, trust, signal, strange) {
      const byTransaction = new Map<Hex, TransferHit[]>()
      for (const hit of await hitsOf(range, trust, signal)) {
        const { transactionHash } = hit
        byTransaction.set(transactionHash, [...(byTransaction.get(transactionHash) ?? []), hit])
      }
      const found: ObservedTopUp[] = []
      for (const [hash, hits] of byTransaction) {
        if (strange?.isDue(hash) === false) continue
        try {
          const topUps = await topUpsOf(hash, hits, trust, signal)
          if (topUps !== undefined) found.push(...topUps)
          else if (trust === 'quorum')
            throw new UpstreamUnavailableError('A chain changed while it was read.')
        } catch (error) {
          if (strange === undefined || signal.aborted || !isSilence(error)) throw error
          strange.add(hash)
        }
      }
      return found
    },
  }
}

function isSilence(error: unknown): boolean {
  return error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
}

/** A node's own refusal says nothing that a caller could mend. */
function asUnavailable(error: unknown): unknown {
  if (!(error instanceof NodeError)) return error
  return new UpstreamUnavailableError('A chain refused to list transfers.', { cause: error })
}
