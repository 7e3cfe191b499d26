import { setTimeout as sleep } from 'node:timers/promises'
import { readEnvironmentFiles } from '@causeway/chains'
import { ConfigurationError, createFindings, type SqlDatabase } from '@causeway/core'
import { z } from 'zod'
import {
  endStop,
  everyChain,
  hasReadSince,
  lastRead,
  readStops,
  stopChain,
} from '../../requests/stops/stopStore.ts'
import type { Command } from './command.ts'
import { CommandError } from './commandError.ts'
import { readReason, reasonFlag } from './readValue.ts'
import { tableOf } from './tableOf.ts'

/** The part of the quote file that names chains. */
const chainNumbers = z.object({ chains: z.record(z.string(), z.object({ chainId: z.int().positive() })) })

type Places = { readonly environment: string; readonly configDirectory: string }

type Named = { readonly chainId: number; readonly name: string }

/**
 * Reads no more of the files than the numbers of chains: whatever else is wrong with them, a chain can be stopped. `all`
 * needs no file.
 * @throws CommandError for a chain that is not quoted: nothing would be stopped
 */
async function readChain(text: string, { environment, configDirectory: directory }: Places): Promise<Named> {
  if (text === 'all') return { chainId: everyChain, name: 'all' }
  const found = createFindings()
  const [json] = await readEnvironmentFiles({ directory, environment }, ['quote'], found)
  const { data } = chainNumbers.safeParse(json)
  if (data === undefined)
    throw new ConfigurationError(`quote.${environment}.json cannot be read. \`all\` needs no file.`)
  const chains = Object.entries(data.chains)
  const [name, chain] = chains.find(([key, { chainId }]) => key === text || String(chainId) === text) ?? []
  if (name !== undefined && chain !== undefined) return { chainId: chain.chainId, name }
  throw new CommandError(`<chain>: expected all or one of ${chains.map(([key]) => key).join(', ')}.`)
}

const reachMs = 6_000
const pollMs = 200
/** Whoever has not read the stops for so long is not running. */
const silentMs = 60_000

/** The allocator as far as it is known: it reads the stops every few seconds where `STOPS_URL` is set. */
async function reachAllocator(database: Pick<SqlDatabase, 'query'>): Promise<'reached' | 'silent' | 'none'> {
  const [clock] = await database.query<{ now: Date }>('select clock_timestamp() as now')
  const read = await lastRead(database, 'allocator')
  if (clock === undefined || read === undefined) return 'none'
  if (clock.now.getTime() - read.getTime() > silentMs) return 'silent'
  for (const endMs = performance.now() + reachMs; performance.now() < endMs; ) {
    if (await hasReadSince(database, 'allocator', clock.now)) return 'reached'
    await sleep(pollMs)
  }
  return 'silent'
}

const stopByHand = 'stop it yourself: npm run allocator -- stop <reason>'
const allocatorLines = {
  reached: 'allocator: it has read this stop and signs nothing for it',
  silent: `allocator: NOT REACHED, it has not read the stops lately; ${stopByHand}`,
  none: `allocator: NOT REACHED, none reads the stops here (STOPS_URL); ${stopByHand}`,
} as const

export const stopCommands: readonly Command[] = [
  {
    words: 'stop',
    changes: true,
    about:
      'Stop a chain, or all: no quotes, no work for solvers, no withdrawals; says which parts it reached',
    operands: ['chain|all'],
    flags: { reason: reasonFlag },
    async run({ database, actor, places }, args) {
      const chain = await readChain(args.operand('chain|all'), places)
      const reason = readReason(args)
      await database.transaction((tx) => stopChain(tx, { ...chain, actor, reason }))
      const allocator = await reachAllocator(database)
      return {
        data: { ...chain, stopped: true, allocator },
        lines: [
          `${describe(chain)} stopped until: go ${chain.name}`,
          'quote-api: every replica reads it within a second; nothing is quoted, relayed or claimed there',
          'solvers: no fill, refund, claim, sweep or permit is offered any more, and a report of one is refused, so that nothing new is sent; what was reported before is followed to its end',
          allocatorLines[allocator],
        ],
      }
    },
  },
  {
    words: 'go',
    changes: true,
    about: 'End the stop of a chain, or every stop',
    operands: ['chain|all'],
    flags: { reason: reasonFlag },
    async run({ database, actor, places }, args) {
      const chain = await readChain(args.operand('chain|all'), places)
      const reason = readReason(args)
      const ended = await database.transaction((tx) => endStop(tx, { ...chain, actor, reason }))
      const left = await readStops(database)
      const still = left.filter(
        ({ chainId }) => chainId === everyChain || chainId === chain.chainId || chain.chainId === everyChain,
      )
      return {
        data: { ...chain, ended: ended.length, left: still },
        lines: [
          ended.length === 0
            ? `${describe(chain)} not stopped by an operator.`
            : `${describe(chain)} let go on.`,
          ...still.map(({ chainId, toldBy }) =>
            toldBy === 'solver'
              ? `The solver still pays nothing on chain ${chainId}: npm run solver -- status`
              : 'All chains are still stopped: go all',
          ),
        ],
      }
    },
  },
  {
    words: 'stops',
    about: 'List what is stopped, by whom, since when and why',
    operands: [],
    flags: {},
    async run({ database }) {
      const stops = await readStops(database)
      const rows = stops.map(({ chainId, toldBy, actor, since, reason }) => ({
        chain: chainId === everyChain ? 'all' : String(chainId),
        ...{ by: toldBy, actor, since: since.toISOString(), reason },
      }))
      return { data: { stops }, lines: rows.length === 0 ? ['Nothing is stopped.'] : tableOf(rows) }
    },
  },
]

const describe = ({ chainId, name }: Named): string =>
  chainId === everyChain ? 'All chains are' : `Chain ${name} (${chainId}) is`
