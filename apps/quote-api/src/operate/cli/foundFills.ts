import { createOracleClient } from '@causeway/chains'
import type { NetworkOf } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import type { Peppers } from '../../access/keys/peppers.ts'
import type { QuoteApiConfig } from '../../config/config.ts'
import { loadFiles } from '../../config/configuration.ts'
import { createRegistry } from '../../pricing/registry.ts'
import { createBookingNotes } from '../../requests/settlement/amounts/bookings.ts'
import {
  type FillStanding,
  type FindingContext,
  type FoundFill,
  judgeKeptFill,
  keptFillSchema,
} from '../../requests/settlement/finding/foundFills.ts'
import { type Command, noOrderSigner } from './command.ts'
import { CommandError } from './commandError.ts'
import { readJson, readReason, readValue, reasonFlag } from './readValue.ts'
import { type CommandReader, openReader } from './reread.ts'
import { tableOf } from './tableOf.ts'

/** Judges whether fills that a solver kept a record of are paid and attested. */
export type FillJudge = Omit<FindingContext, 'database' | 'signal'> & { close(): Promise<void> }

/** Reads the configuration files; a chain is opened when its first fill is judged. @throws ConfigurationError */
export async function openFillJudge(options: {
  readonly config: QuoteApiConfig
  readonly variables: Parameters<typeof loadFiles>[1]
  readonly peppers: Peppers
}): Promise<FillJudge> {
  const { config, variables, peppers } = options
  const { chains, quote } = await loadFiles(config, variables, noOrderSigner)
  const registry = createRegistry(quote, [...chains.chains.values()])
  const networkOf: NetworkOf = registry.networkByKey
  const readers = new Map<number, Promise<CommandReader>>()
  // Without ORACLES nobody can sign, so no fill counts as attested.
  const { oracles = [], threshold = 1 } = config.oracles ?? {}
  return {
    notes: createBookingNotes(peppers),
    networkOf,
    threshold,
    oracles: oracles.map((setting) => createOracleClient({ setting, recover: recoverSigner })),
    async chainOf(chainId) {
      if (!registry.chainById.has(chainId)) return undefined
      const reader = readers.get(chainId) ?? openReader({ config, variables }, String(chainId))
      readers.set(chainId, reader)
      return (await reader).chain
    },
    async close() {
      for (const reader of readers.values()) await (await reader).close()
    },
  }
}

/** Text for the operator about each standing of a fill. */
const advice: Readonly<Record<FillStanding, string>> = {
  UNKNOWN_SPONSOR: 'no note of this service says whose sponsor it was, or whether it had one',
  NOT_PAID: 'no final block has it, or it pays something else',
  NOT_ATTESTED: 'too few of ORACLES sign it: try again',
  BOOKABLE: 'can be booked: --book',
  NOTHING_OWED: 'nobody sponsored it',
  BOOKED: 'booked',
  INSUFFICIENT: 'the sponsor’s balance is too low: it must be topped up',
  FROZEN: 'the sponsor is frozen',
}

export const foundFillCommands: readonly Command[] = [
  {
    words: 'ledger fills',
    changes: true,
    about:
      'List fills of orders that are not known here, from what `solver fills` printed; --book debits them',
    operands: ['file'],
    flags: {
      book: { about: 'Debit the sponsor of each that is proven, once' },
      reason: { ...reasonFlag, about: 'Stored with what is booked', isRequired: false },
    },
    async run({ database, actor, readLines, openFillJudge: open }, args) {
      // Undefined: fills are judged and nothing is booked.
      const operator = args.isOn('book') ? { actor, reason: readReason(args) } : undefined
      const judge = await open()
      const fills: FoundFill[] = []
      let lineCount = 0
      try {
        const context = { ...judge, database, signal: new AbortController().signal }
        for await (const line of readLines(args.operand('file'))) {
          if (line.trim() === '') continue
          lineCount += 1
          const json = readJson(line, `Lines of <file>`)
          const keptFill = readValue(keptFillSchema, json, `Line ${lineCount} of <file>`)
          const foundFill = await judgeKeptFill(context, keptFill, operator)
          // Undefined: its order is known here, so that it is booked like any other.
          if (foundFill !== undefined) fills.push(foundFill)
        }
      } finally {
        await judge.close()
      }
      if (lineCount === 0) throw new CommandError('<file>: it has no fill.')
      const isOpen = ({ standing }: FoundFill) => standing !== 'BOOKED' && standing !== 'NOTHING_OWED'
      return {
        data: { read: lineCount, fills },
        lines: [...linesOf(fills), `Fills in the file: ${lineCount}. Of unknown orders: ${fills.length}.`],
        // Without --book each listed fill still waits for a decision.
        isFailure: fills.some((fill) => operator === undefined || isOpen(fill)),
      }
    },
  },
]

function linesOf(fills: readonly FoundFill[]): readonly string[] {
  if (fills.length === 0) return []
  return tableOf(
    fills.map(({ orderId, chainId, transactionId, recipient, booking, standing }) => ({
      order: orderId,
      chain: String(chainId),
      transaction: transactionId,
      recipient,
      sponsor: booking?.sponsor ?? '-',
      microUsdc: booking?.debitMicroUsd.toString() ?? '-',
      standing: `${standing}: ${advice[standing]}`,
    })),
  )
}
