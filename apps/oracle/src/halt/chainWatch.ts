import type { Evidence } from '@causeway/core'
import type { FinalChange } from '@causeway/families'
import { AttestationError } from '../attestations/errors.ts'
import {
  isUsable,
  type WatchedChain,
  WatchedEntry,
  type WatchOptions,
  type WatchStatus,
} from './watchedChain.ts'

/** Says for which chains may be signed. */
export interface ChainWatch {
  /** @throws AttestationError `CHAIN_HALTED` or `CHAIN_NOT_CHECKED` */
  refuseUnlessReady(chainId: string): void
  /** Compares blocks that an attestation rests on with those seen before. @throws AttestationError */
  observe(evidence: readonly Evidence[]): void
  statusOf(chainId: string): WatchStatus | undefined
  /**
   * Says that something kept of the chain is about to be used, which keeps the chain followed. False when it
   * was not followed any more: then nothing kept of it may be used, and what its reader kept is forgotten.
   */
  useKept(chainId: string): boolean
  /** True if enough endpoints of all these chains, and of those that they rest on, agreed on a head lately. Asks nobody. */
  hasHeads(chainIds: readonly string[]): boolean
  /**
   * Asks those whose head is older. @throws DomainError as a reading of facts does; AttestationError where what
   * answers is not what the configuration says
   */
  requireHeads(chainIds: readonly string[]): Promise<void>
  /** Looks once at every chain of which something may be kept. Never rejects; overlapping calls are one. */
  follow(): Promise<void>
  /** Age in milliseconds of the last look that showed each followed chain unchanged, from its start. */
  keptWindows(): readonly { readonly chain: string; readonly ageMs: number }[]
  /** The newest final block of each chain that has blocks, and how long ago it was first seen, in milliseconds. */
  finalHeads(): readonly { readonly chain: string; readonly number: bigint; readonly ageMs: number }[]
  /** Looks at every chain once. Never rejects: what fails is logged and tried again next time. */
  check(): Promise<void>
  /** Resolves when halts are on disk. */
  close(): Promise<void>
}

export type ChainWatchOptions = WatchOptions & {
  readonly chains: readonly WatchedChain[]
  /** A clock that only goes forward, in milliseconds. Default that of the process. */
  readonly now?: () => number
}

const retryAfterHaltSeconds = 60

/**
 * Watches the final blocks of every chain. Nothing is signed for a chain before it was checked, nor
 * after one of its final blocks changed. @source rule P-95
 * @throws ConfigurationError when the store cannot be read
 */
export async function createChainWatch(options: ChainWatchOptions): Promise<ChainWatch> {
  const { checkTimeoutMs, log } = options
  const entries = await openEntries(options)
  const restsOn = new Map(
    options.chains.map((chain) => [
      chain.id,
      [entries.get(chain.id), entries.get(chain.restsOn ?? '')].filter((entry) => entry !== undefined),
    ]),
  )
  const hasHead = (chainId: string) => restsOn.get(chainId)?.every((entry) => entry.hasHead()) ?? true
  return {
    useKept: (chainId) => entries.get(chainId)?.use() ?? true,
    hasHeads: (chainIds) => chainIds.every(hasHead),
    async requireHeads(chainIds) {
      const stale = chainIds.flatMap((chainId) =>
        (restsOn.get(chainId) ?? []).filter((entry) => !entry.hasHead()),
      )
      await Promise.all(stale.map((entry) => entry.readHead()))
      const unfit = chainIds.find((chainId) => !hasHead(chainId))
      if (unfit !== undefined) throw notCheckedError(unfit)
    },
    async follow() {
      const signal = AbortSignal.timeout(checkTimeoutMs)
      const looks = [...entries.values()].map((entry) => entry.follow(signal))
      // The slower look tells of a database that is away.
      await Promise.all([...looks, seeHalts(options, entries).catch(() => undefined)])
    },
    keptWindows: () =>
      factsOf(entries, (entry) => {
        const ageMs = entry.keptWindowMs()
        return ageMs === undefined ? undefined : { ageMs }
      }),
    finalHeads: () => factsOf(entries, (entry) => entry.finalHead()),
    refuseUnlessReady(chainId) {
      const status = entries.get(chainId)?.status
      if (status === 'halted') throw haltedError(chainId)
      if (!isUsable(status)) throw notCheckedError(chainId)
    },
    observe(evidence) {
      for (const { chainId, blockNumber, blockHash } of evidence) {
        const entry = entries.get(chainId)
        if (blockNumber !== undefined && blockHash !== undefined) {
          entry?.note({ number: blockNumber, hash: blockHash })
        }
        if (entry?.status === 'halted') throw haltedError(chainId)
      }
    },
    statusOf: (chainId) => entries.get(chainId)?.status,
    async check() {
      const signal = AbortSignal.timeout(checkTimeoutMs)
      const warn = (error: unknown) =>
        log.warn({ event: 'halts_not_read', err: error }, 'what other processes halted is not known')
      const looks = [...entries.values()].map((entry) => entry.look(signal))
      await Promise.all([...looks, seeHalts(options, entries).catch(warn)])
    },
    async close() {
      await Promise.all([...entries.values()].map((entry) => entry.settled()))
    },
  }
}

type Entries = ReadonlyMap<string, WatchedEntry>

/** Every chain, halted where an earlier run kept that it is. @throws ConfigurationError */
async function openEntries(options: ChainWatchOptions): Promise<Entries> {
  const { chains, store, log, now = () => performance.now() } = options
  const keptHalts = (await store?.load()) ?? new Map<string, FinalChange | undefined>()
  for (const chainId of keptHalts.keys()) {
    log.error({ event: 'halt_kept', chain: chainId }, 'chain is halted since an earlier run')
  }
  return new Map(
    chains.map((chain) => [
      chain.id,
      new WatchedEntry(chain, { ...options, now, isKept: keptHalts.has(chain.id) }),
    ]),
  )
}

/** @throws DomainError where a database does not answer: what lets value out is refused meanwhile */
async function seeHalts({ store }: ChainWatchOptions, entries: Entries): Promise<void> {
  if (store?.isShared !== true) return
  for (const chainId of (await store.load()).keys()) entries.get(chainId)?.haltAsKept()
}

/** Facts of each chain that has any. */
function factsOf<Fact extends object>(entries: Entries, factOf: (entry: WatchedEntry) => Fact | undefined) {
  return [...entries].flatMap(([chain, entry]) => {
    const fact = factOf(entry)
    return fact === undefined ? [] : [{ chain, ...fact }]
  })
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
