import type { ChainRegistry } from '@causeway/chains'
import { hubTokenId } from '@causeway/core'
import {
  type CapTable,
  createCapJournal,
  createHeldStore,
  createSigningCaps,
  noJournal,
  type TokenCap,
} from '@causeway/signer'
import { createSigningGuard, openGuard, type SigningGuard, type SigningGuardOptions } from './signingGuard.ts'

type Options = Pick<SigningGuardOptions, 'isExecuted' | 'metrics' | 'log'> & {
  readonly chains: ChainRegistry
  readonly isLocal: boolean
  readonly stateDirectory: string | undefined
}

/** A re-asked execution is free as long as no more than so many others were signed since. */
const rememberedMax = 20_000

/**
 * The caps of the chain file, with what earlier runs counted and held where `STATE_DIR` keeps it.
 * @throws ConfigurationError when `STATE_DIR` holds counts that cannot be read
 */
export async function openSigningGuard(options: Options): Promise<SigningGuard & { close(): void }> {
  const { chains, isLocal, stateDirectory, log } = options
  const table = capTable(chains)
  if (isLocal && table.size === 0) return { ...openGuard, close: () => undefined }
  const now = steadyClock()
  const warnNotKept = (error: unknown) =>
    log.error(
      { event: 'signed_value_not_kept', err: error },
      'what was signed could not be written to STATE_DIR',
    )
  const journal = stateDirectory === undefined ? noJournal : createCapJournal(stateDirectory, warnNotKept)
  const held = stateDirectory === undefined ? undefined : createHeldStore(stateDirectory)
  if (stateDirectory === undefined) {
    log.warn(
      { event: 'signed_value_forgotten' },
      'without STATE_DIR every start begins a new hour of each cap',
    )
  }
  const caps = createSigningCaps({ table, isUnlistedHeld: !isLocal, now, journal, rememberedMax })
  const heldBefore = held === undefined ? [] : [...(await held.list()).keys()]
  const guard = createSigningGuard({ ...options, caps, table, now, heldBefore, ...(held && { held }) })
  return { ...guard, close: () => journal.close() }
}

/** By the id that actions name their token with. */
function capTable({ chains }: ChainRegistry): CapTable {
  const entries = [...chains.values()].flatMap(({ id, vmType, network, signingCaps = [] }) =>
    signingCaps.map(({ currency, amount }): readonly [bigint, TokenCap] => [
      hubTokenId({ chainId: id, vmType, network }, currency),
      { chain: id, currency, amount },
    ]),
  )
  return new Map(entries)
}

/** The time of day when the process began, and what has passed since: setting the clock changes no window. */
function steadyClock(): () => number {
  const startedAt = Date.now() - performance.now()
  return () => startedAt + performance.now()
}
