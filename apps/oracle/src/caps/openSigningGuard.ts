import type { ChainRegistry } from '@causeway/chains'
import { ConfigurationError, hubTokenId } from '@causeway/core'
import {
  type CapTable,
  createCapJournal,
  createHeldStore,
  createSigningCaps,
  type HeldStore,
  type LineJournal,
  noJournal,
  type TokenCap,
} from '@causeway/signer'
import type { WatchLog } from '../halt/watchedChain.ts'
import type { SharedCaps } from './sharedCaps.ts'
import {
  type CountedCaps,
  createSigningGuard,
  noGuard,
  type SigningGuard,
  type SigningGuardOptions,
} from './signingGuard.ts'

type Options = Pick<SigningGuardOptions, 'isExecuted' | 'metrics' | 'log'> & {
  readonly chains: ChainRegistry
  /** True in `local`, where tokens without a cap are not held. */
  readonly isLocal: boolean
  readonly stateDirectory: string | undefined
  /** Divisor of every cap: the number of processes among which the caps are divided. */
  readonly capsShare: number
  /** The database in which several processes count together; `undefined`: this process counts for itself. */
  readonly shared: SharedCounting | undefined
}

/** Caps and held executions that several processes of one oracle share. */
export type SharedCounting = {
  /** @param isUnlistedHeld true to hold value of a token without a cap */
  readonly capsOf: (table: CapTable, isUnlistedHeld: boolean) => SharedCaps
  readonly held: HeldStore
}

/** Signed executions that the caps remember; signing one again counts nothing while it is among them. */
const rememberedMax = 20_000

/**
 * Opens the guard before signatures, with the caps of the chain file and the counts and held executions of
 * earlier runs, from `STATE_DIR` or a shared database. In `local` without caps nothing is counted or held.
 * With a shared database the caller repeats `refresh`, to know of what other processes hold; no verdict of
 * `admit` depends on it. `isKept` is false while `STATE_DIR` lacks a count: signing goes on, and the caller
 * reports it.
 * @throws ConfigurationError when `STATE_DIR` holds counts that cannot be read, or a cap is too small to be
 * shared
 */
export async function openSigningGuard(
  options: Options,
): Promise<SigningGuard & Pick<LineJournal<unknown>, 'isKept' | 'close'>> {
  const { isLocal, stateDirectory, shared, log } = options
  const table = capTable(options)
  if (isLocal && table.size === 0) return { ...noGuard, isKept: () => true, close: () => undefined }
  const now = steadyClock()
  const counting =
    shared === undefined
      ? openOwnCounting({ table, isLocal, stateDirectory, now, log })
      : openSharedCounting(shared, table, isLocal)
  const { caps, held } = counting
  const guard = createSigningGuard({ ...options, caps, table, now, ...(held && { held }) })
  const refresh = async () => {
    await counting.refresh()
    await guard.refresh()
  }
  await refresh()
  return {
    admit: (signing, reading) => guard.admit(signing, reading),
    refresh,
    isKept: counting.isKept,
    close: counting.close,
  }
}

/** Caps and held executions, of this process alone or of several. */
type Counting = Pick<LineJournal<unknown>, 'isKept' | 'close'> & {
  readonly caps: CountedCaps
  /** Undefined: a held execution is never released. */
  readonly held: HeldStore | undefined
  /** Reads what other processes counted. */
  refresh(): Promise<void>
}

function openSharedCounting({ capsOf, held }: SharedCounting, table: CapTable, isLocal: boolean): Counting {
  const caps = capsOf(table, !isLocal)
  return { caps, held, refresh: () => caps.refresh(), isKept: () => true, close: () => undefined }
}

/** Counts of this process alone, kept over restarts where it has a `STATE_DIR`. */
function openOwnCounting({
  table,
  isLocal,
  stateDirectory,
  now,
  log,
}: Pick<Options, 'isLocal' | 'stateDirectory'> & {
  readonly table: CapTable
  readonly now: () => number
  readonly log: WatchLog
}): Counting {
  const warnNotKept = (error: unknown) =>
    log.error(
      { event: 'signed_value_not_kept', err: error },
      'what was signed could not be written to STATE_DIR',
    )
  const journal = stateDirectory === undefined ? noJournal : createCapJournal(stateDirectory, warnNotKept)
  if (stateDirectory === undefined) {
    log.warn(
      { event: 'signed_value_forgotten' },
      'without STATE_DIR every start begins a new hour of each cap',
    )
  }
  const caps = createSigningCaps({ table, isUnlistedHeld: !isLocal, now, journal, rememberedMax })
  return {
    caps,
    held: stateDirectory === undefined ? undefined : createHeldStore(stateDirectory),
    refresh: async () => undefined,
    isKept: () => journal.isKept(),
    close: () => journal.close(),
  }
}

/** Caps by hub token id, each reduced to the share of this process. */
function capTable({ chains: { chains }, capsShare }: Pick<Options, 'chains' | 'capsShare'>): CapTable {
  const entries = [...chains.values()].flatMap(({ id, vmType, network, signingCaps = [] }) =>
    signingCaps.map((cap): readonly [bigint, TokenCap] => {
      const amount = cap.amount / BigInt(capsShare)
      if (amount === 0n && cap.amount > 0n)
        throw new ConfigurationError(
          `CAPS_SHARE: the cap of ${cap.currency} on ${id} is smaller than ${capsShare}, so that its share is nothing.`,
        )
      return [
        hubTokenId({ chainId: id, vmType, network }, cap.currency),
        { chain: id, currency: cap.currency, amount },
      ]
    }),
  )
  return new Map(entries)
}

/** Milliseconds since 1970 that run on steadily: setting the machine's clock must not shift the hour of a cap. */
function steadyClock(): () => number {
  const startedAt = Date.now() - performance.now()
  return () => startedAt + performance.now()
}
