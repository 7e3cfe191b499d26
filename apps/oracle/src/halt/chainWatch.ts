import type { Evidence } from '@causeway/core'
import type { FinalChange } from '@causeway/families'
import { AttestationError } from '../attestations/errors.ts'
import { isUsable, type WatchedChain, type WatchOptions, type WatchStatus } from './watchedChain.ts'
import { WatchedEntry } from './watchedEntry.ts'

/** Knows for which chains the oracle may sign now, by watching their final blocks. See `WatchStatus`. */
export interface ChainWatch {
  /** Passes `ready` and `silent`. @throws AttestationError `CHAIN_HALTED`, else `CHAIN_NOT_CHECKED` */
  refuseUnlessReady(chainId: string): void
  /** Compares the blocks of an attestation's facts with those seen before. @throws AttestationError `CHAIN_HALTED` */
  observe(evidence: readonly Evidence[]): void
  statusOf(chainId: string): WatchStatus | undefined
  /**
   * Call it before a cached answer or fact of the chain is used. It marks the chain as used, so that its blocks are
   * followed for another while. False when they were not followed any more: then nothing cached may be used, because
   * nobody would have seen a rewritten chain. The reader's cache is dropped in that case.
   */
  useKept(chainId: string): boolean
  /** True if enough endpoints of these chains, and of those that they rest on, agreed on a head within `headAgeMaxMs`. */
  hasHeads(chainIds: readonly string[]): boolean
  /**
   * As `hasHeads`, but asks the endpoints of chains that have none. @throws DomainError as a reading of facts does;
   * AttestationError `CHAIN_NOT_CHECKED` where the endpoints contradict the configuration
   */
  requireHeads(chainIds: readonly string[]): Promise<void>
  /** The fast check, every 500 ms: links new blocks of recently used chains. Never rejects; overlapping calls are one. */
  follow(): Promise<void>
  /** Per followed chain, milliseconds since the start of the last check that showed it unchanged. */
  keptWindows(): readonly { readonly chain: string; readonly ageMs: number }[]
  /** The newest final block of each chain that has blocks, and how long ago it was first seen, in milliseconds. */
  finalHeads(): readonly { readonly chain: string; readonly number: bigint; readonly ageMs: number }[]
  /** The slow check, every 15 s, of all chains: verifies, compares, saves and lifts halts, and logs. Never rejects. */
  check(): Promise<void>
  /** Resolves when halts are stored. */
  close(): Promise<void>
}

export type ChainWatchOptions = WatchOptions & {
  readonly chains: readonly WatchedChain[]
  /** A clock that only goes forward, in milliseconds. Default that of the process. */
  readonly now?: () => number
}

const retryAfterHaltSeconds = 60

/**
 * Makes the watch over the final blocks of every chain. The oracle signs nothing for a chain before it was verified,
 * nor after one of its final blocks changed, until the operator clears that halt. @source rule P-95
 * @throws ConfigurationError when the store cannot be read
 */
export async function createChainWatch(options: ChainWatchOptions): Promise<ChainWatch> {
  return new EntryWatch(options, await openEntries(options))
}

type Entries = ReadonlyMap<string, WatchedEntry>

/** An entry per chain; halted where the store has a halt of an earlier run. @throws ConfigurationError */
async function openEntries(options: ChainWatchOptions): Promise<Entries> {
  const { chains, store, log, now = () => performance.now() } = options
  const storedHalts = (await store?.load()) ?? new Map<string, FinalChange | undefined>()
  for (const chainId of storedHalts.keys()) {
    log.error({ event: 'halt_kept', chain: chainId }, 'chain is halted since an earlier run')
  }
  return new Map(
    chains.map((chain) => [
      chain.id,
      new WatchedEntry(chain, { ...options, now, isHaltStored: storedHalts.has(chain.id) }),
    ]),
  )
}

class EntryWatch implements ChainWatch {
  readonly #options: ChainWatchOptions
  readonly #entries: Entries
  /** By chain id, the entries whose heads an answer needs: the chain's, and that of the chain on which it rests. */
  readonly #neededEntries: ReadonlyMap<string, readonly WatchedEntry[]>

  constructor(options: ChainWatchOptions, entries: Entries) {
    this.#options = options
    this.#entries = entries
    // No chain has the empty id, so a chain that rests on no other needs its own entry alone.
    this.#neededEntries = new Map(
      options.chains.map(({ id, restsOn = '' }) => [
        id,
        [entries.get(id), entries.get(restsOn)].filter((entry) => entry !== undefined),
      ]),
    )
  }

  refuseUnlessReady(chainId: string): void {
    const status = this.statusOf(chainId)
    if (status === 'halted') throw haltedError(chainId)
    if (!isUsable(status)) throw notCheckedError(chainId)
  }

  observe(evidence: readonly Evidence[]): void {
    for (const { chainId, blockNumber, blockHash } of evidence) {
      const entry = this.#entries.get(chainId)
      if (blockNumber !== undefined && blockHash !== undefined) {
        entry?.note({ number: blockNumber, hash: blockHash })
      }
      if (entry?.status === 'halted') throw haltedError(chainId)
    }
  }

  statusOf(chainId: string): WatchStatus | undefined {
    return this.#entries.get(chainId)?.status
  }

  useKept(chainId: string): boolean {
    // Every chain that facts are read from has an entry, so the default is never used.
    return this.#entries.get(chainId)?.useKept() ?? true
  }

  hasHeads(chainIds: readonly string[]): boolean {
    return chainIds.every((chainId) => this.#entriesWithoutHead(chainId).length === 0)
  }

  async requireHeads(chainIds: readonly string[]): Promise<void> {
    const stale = chainIds.flatMap((chainId) => this.#entriesWithoutHead(chainId))
    await Promise.all(stale.map((entry) => entry.readHead()))
    const unfit = chainIds.find((chainId) => !this.hasHeads([chainId]))
    if (unfit !== undefined) throw notCheckedError(unfit)
  }

  #entriesWithoutHead(chainId: string): readonly WatchedEntry[] {
    return (this.#neededEntries.get(chainId) ?? []).filter((entry) => !entry.hasHead())
  }

  async follow(): Promise<void> {
    const signal = AbortSignal.timeout(this.#options.checkTimeoutMs)
    const checks = [...this.#entries.values()].map((entry) => entry.follow(signal))
    // `check` reports a database that does not answer.
    await Promise.all([...checks, this.#haltAsStored().catch(() => undefined)])
  }

  async check(): Promise<void> {
    const { checkTimeoutMs, log } = this.#options
    const signal = AbortSignal.timeout(checkTimeoutMs)
    const warn = (error: unknown) =>
      log.warn({ event: 'halts_not_read', err: error }, 'what other processes halted is not known')
    const checks = [...this.#entries.values()].map((entry) => entry.check(signal))
    await Promise.all([...checks, this.#haltAsStored().catch(warn)])
  }

  /**
   * Halts chains that another process of the oracle halted. @throws DomainError while the database does not answer; then
   * the signing guard, which needs it too, refuses what lets value out
   */
  async #haltAsStored(): Promise<void> {
    const { store } = this.#options
    if (store?.isShared !== true) return
    for (const chainId of (await store.load()).keys()) this.#entries.get(chainId)?.haltAsStored()
  }

  keptWindows(): ReturnType<ChainWatch['keptWindows']> {
    return [...this.#entries].flatMap(([chain, entry]) => {
      const ageMs = entry.keptWindowMs()
      return ageMs === undefined ? [] : [{ chain, ageMs }]
    })
  }

  finalHeads(): ReturnType<ChainWatch['finalHeads']> {
    return [...this.#entries].flatMap(([chain, entry]) => {
      const head = entry.finalHead()
      return head === undefined ? [] : [{ chain, ...head }]
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => entry.haltSaved))
  }
}

function haltedError(chainId: string): AttestationError {
  return new AttestationError('CHAIN_HALTED', `Chain ${chainId} is halted: a final block changed.`, {
    data: { chainId },
    retryAfterSeconds: retryAfterHaltSeconds,
  })
}

function notCheckedError(chainId: string): AttestationError {
  return new AttestationError('CHAIN_NOT_CHECKED', `Chain ${chainId} is not checked yet.`, {
    data: { chainId },
    retryAfterSeconds: 1,
  })
}
