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

/** The places of the configuration files. */
export type ConfigPlaces = Pick<QuoteApiConfig, 'environment' | 'configDirectory'>

/** `everyChain` and `all` stand for all chains. */
export type NamedChain = { readonly chainId: number; readonly name: string }

/** The allocator as far as it is known: it reads the stops every few seconds where `STOPS_URL` is set. */
export type AllocatorReach = 'reached' | 'silent' | 'none'

/** A chain is named as the quote file names it, by its number, or `all`. */
export interface StopAdministration {
  /** Stops in force, oldest first. */
  list(): Promise<readonly ChainStop[]>
  /** Waits for the allocator, 6 s at most. @throws UnquotedChainError, ConfigurationError */
  stop(chain: string, auditNote: AuditNote): Promise<NamedChain & { readonly allocator: AllocatorReach }>
  /** @returns how many stops ended, and which hold this chain all the same. @throws as `stop` */
  go(
    chain: string,
    auditNote: AuditNote,
  ): Promise<NamedChain & { readonly ended: number; readonly left: readonly ChainStop[] }>
}

/** @param ownStops those that this process knows and the database does not */
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
 * Reads no more of the files than the numbers of chains: whatever else is wrong with them, a chain can be stopped. `all`
 * needs no file.
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

const reachMs = 6_000
const pollMs = 200
/** A reader that has not read the stops for this long counts as not running. */
const silentMs = 60_000

async function reachAllocator(database: Pick<SqlDatabase, 'query'>): Promise<AllocatorReach> {
  const [clock] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  const readSeconds = await secondsSinceRead(database, 'allocator')
  if (clock === undefined || readSeconds === undefined) return 'none'
  if (readSeconds * 1_000 > silentMs) return 'silent'
  for (const endMs = performance.now() + reachMs; performance.now() < endMs; ) {
    if (await hasReadSince(database, 'allocator', clock.now)) return 'reached'
    await sleep(pollMs)
  }
  return 'silent'
}
