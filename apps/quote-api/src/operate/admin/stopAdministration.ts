import { setTimeout as sleep } from 'node:timers/promises'
import { readEnvironmentFiles } from '@causeway/chains'
import { ConfigurationError, DomainError, type SqlDatabase } from '@causeway/core'
import { createFindings } from '@causeway/core/config'
import { z } from 'zod'
import type { QuoteApiConfig } from '../../config/config.ts'
import {
  type ChainStop,
  endStop,
  everyChain,
  hasReadSince,
  readStops,
  secondsSinceRead,
  stopChain,
} from '../../requests/stops/stopStore.ts'
import type { AuditNote } from './ledgerAdministration.ts'

/** Place and environment of the configuration files. */
export type ConfigPlaces = Pick<QuoteApiConfig, 'environment' | 'configDirectory'>

/** A quoted chain, or all chains: then the id is `everyChain` and the name `all`. */
export type NamedChain = { readonly chainId: number; readonly name: string }

/**
 * Tells whether the allocator knows of a stop. With `STOPS_URL` set it reads the stops every few seconds. `reached`: it read
 * this one; `silent`: it did not in time; `none`: no allocator ever read stops here.
 */
export type AllocatorReach = 'reached' | 'silent' | 'none'

/**
 * Operations on stops: one implementation behind the command line and the admin listener. A chain is named by its key in
 * the quote file, by its number, or `all`.
 */
export interface StopAdministration {
  /** Stops in force, oldest first. */
  list(): Promise<readonly ChainStop[]>
  /** Waits for the allocator, 6 s at most. @throws UnquotedChainError, ConfigurationError */
  stop(chain: string, auditNote: AuditNote): Promise<NamedChain & { readonly allocator: AllocatorReach }>
  /**
   * Ends the operator's stop, for `all` those of every chain. @returns how many ended, and other stops that
   * still hold the chain. @throws as `stop`
   */
  go(
    chain: string,
    auditNote: AuditNote,
  ): Promise<NamedChain & { readonly ended: number; readonly left: readonly ChainStop[] }>
}

/** @param ownStops stops that this process knows and the database does not */
export function createStopAdministration(
  database: SqlDatabase,
  places: ConfigPlaces,
  ownStops: () => readonly ChainStop[],
): StopAdministration {
  const list = async () =>
    [...(await readStops(database)), ...ownStops()].sort(
      (one, other) => one.since.getTime() - other.since.getTime(),
    )
  return {
    list,
    async stop(text, auditNote) {
      const chain = await readChain(text, places)
      await database.transaction((tx) => stopChain(tx, { ...chain, ...auditNote }))
      return { ...chain, allocator: await reachAllocator(database) }
    },
    async go(text, auditNote) {
      const chain = await readChain(text, places)
      const endedStops = await database.transaction((tx) => endStop(tx, { ...chain, ...auditNote }))
      const left = (await list()).filter(
        ({ chainId }) => chainId === everyChain || chainId === chain.chainId || chain.chainId === everyChain,
      )
      return { ...chain, ended: endedStops.length, left }
    },
  }
}

/** The quote file names no such chain, so nothing would be stopped. */
class UnquotedChainError extends DomainError {
  readonly code = 'UNSUPPORTED_CHAIN'
  readonly kind = 'invalid_request'

  constructor(names: readonly string[]) {
    super(`The chain must be all or one of ${names.join(', ')}.`)
  }
}

/** The part of the quote file that names chains. */
const chainNumbers = z.object({ chains: z.record(z.string(), z.object({ chainId: z.int().positive() })) })

/**
 * Finds the chain that an operator names. It reads only the chains' numbers from the quote file, so that a chain can be
 * stopped whatever else is wrong there. `all` needs no file.
 */
async function readChain(
  text: string,
  { environment, configDirectory: directory }: ConfigPlaces,
): Promise<NamedChain> {
  if (text === 'all') return { chainId: everyChain, name: 'all' }
  const findings = createFindings()
  const [json] = await readEnvironmentFiles({ directory, environment }, ['quote'], findings)
  const { data } = chainNumbers.safeParse(json)
  if (data === undefined)
    throw new ConfigurationError(`quote.${environment}.json cannot be read. \`all\` needs no file.`)
  const chains = Object.entries(data.chains)
  const [name, chain] = chains.find(([key, { chainId }]) => key === text || String(chainId) === text) ?? []
  if (name !== undefined && chain !== undefined) return { chainId: chain.chainId, name }
  throw new UnquotedChainError(chains.map(([key]) => key))
}

/** Longest wait for the allocator's next read. */
const reachMs = 6_000
const pollMs = 200
/** A reader that has not read the stops for this long counts as not running. */
const silentMs = 60_000

/**
 * Waits until the allocator has read the stops after this moment, by the database's clock. Called once the
 * stop is committed, so that such a reading has it.
 */
async function reachAllocator(database: Pick<SqlDatabase, 'query'>): Promise<AllocatorReach> {
  const [clock] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  const readSeconds = await secondsSinceRead(database, 'allocator')
  if (clock === undefined || readSeconds === undefined) return 'none'
  if (readSeconds * 1_000 > silentMs) return 'silent'
  const endMs = performance.now() + reachMs
  while (performance.now() < endMs) {
    if (await hasReadSince(database, 'allocator', clock.now)) return 'reached'
    await sleep(pollMs)
  }
  return 'silent'
}
