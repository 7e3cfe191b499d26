import { userInfo } from 'node:os'
import { readEnvironmentFiles } from '@causeway/chains'
import { ConfigurationError, counted, createFindings, formatAmount, type SqlDatabase } from '@causeway/core'
import { describeAudit } from '@causeway/signer'
import { z } from 'zod'
import { type Figures, figures, type KeptFill, readFigures, readFills, readSaid } from '../wallet/exposure.ts'
import { createStopSwitch } from '../wallet/stopSwitch.ts'
import type { SolverConfig } from './config.ts'
import { openDatabase } from './database.ts'
import { reportInventory } from './inventory.ts'

type Variables = Readonly<Record<string, string | undefined>>

const usage =
  'Commands: doctor, stop <reason>, resume, go <chain|all> <reason>, status, inventory [--json], fills <since>, audit list, backup, restore <file>.'

/**
 * What an operator asks of a solver, beside a running one.
 * @returns lines to print @throws ConfigurationError for words that are no command
 */
export async function runCommand(
  [command, ...words]: readonly string[],
  config: SolverConfig,
  variables: Variables,
): Promise<string> {
  switch (command) {
    case 'stop':
      if (words.length === 0)
        throw new ConfigurationError('stop needs a reason, which the next operator reads.')
      return setStop(config, { isStopped: true, reason: words.join(' ') })
    case 'resume':
      return setStop(config, { isStopped: false, reason: words.join(' ') })
    case 'status':
      return withSwitch(config, async (stop, database) => {
        const lines = describeExposure(await readFigures(database), await readSaid(database))
        return [describeStop(await stop.read()), ...lines].join('\n')
      })
    case 'go':
      return goOn(config, words)
    case 'audit':
      if (words.join(' ') !== 'list') throw new ConfigurationError(usage)
      return withSwitch(config, async (stop) => describeDeeds(await stop.deeds()))
    case 'fills':
      return withSwitch(config, async (_stop, database) => {
        const fills = await readFills(database, readMoment(words))
        return fills.map(describeFill).join('\n')
      })
    case 'inventory':
      if (words.some((word) => word !== '--json')) throw new ConfigurationError(usage)
      return reportInventory(config, variables, { asJson: words.length > 0 })
    default:
      throw new ConfigurationError(usage)
  }
}

/** @throws ConfigurationError */
function readMoment(words: readonly string[]): Date {
  const moment = z.iso.datetime({ offset: true }).safeParse(words.join(' '))
  if (!moment.success) throw new ConfigurationError('fills needs a time, like 2026-11-24T10:15:00Z.')
  return new Date(moment.data)
}

/** A line of JSON, which `causeway ledger fills` reads. */
function describeFill({ asked, at, ...fill }: KeptFill): string {
  const { order, orderSignature, inputs, deposited, booking } = asked
  const parts = { order, orderSignature, inputs, deposited: deposited.toString(), booking }
  return JSON.stringify({ ...fill, at: at.toISOString(), ...parts })
}

type StopSwitch = ReturnType<typeof createStopSwitch>

async function withSwitch(
  config: SolverConfig,
  use: (stop: StopSwitch, database: SqlDatabase) => Promise<string>,
): Promise<string> {
  const opened = await openDatabase(config, { onConnectionLost: () => undefined, joinRunning: true })
  try {
    return await use(createStopSwitch(opened.database), opened.database)
  } finally {
    await opened.close()
  }
}

function setStop(
  config: SolverConfig,
  state: { readonly isStopped: boolean; readonly reason: string },
): Promise<string> {
  return withSwitch(config, async (stop) => {
    await stop.set({ ...state, actor: `cli:${userInfo().username}` })
    return describeStop(await stop.read())
  })
}

/** Ends the wait of a chain whose payments are not attested: from now on the operator answers for them. */
async function goOn(config: SolverConfig, [name, ...words]: readonly string[]): Promise<string> {
  const reason = words.join(' ')
  if (name === undefined || reason === '')
    throw new ConfigurationError('go needs a chain, or all, and a reason, which the next operator reads.')
  const chain = name === 'all' ? undefined : await readChain(config, name)
  return withSwitch(config, async (stop) => {
    const accepted = await stop.go({ chain, reason, actor: `cli:${userInfo().username}` })
    const left = counted(
      accepted,
      'payment that is not attested counts',
      'payments that are not attested count',
    )
    return `Of ${name} ${left} no more.`
  })
}

const chainNumbers = z.object({ chains: z.record(z.string(), z.object({ chainId: z.int().positive() })) })

/** @throws ConfigurationError for a chain that is not in the quote file: nothing would go on */
async function readChain({ environment, configDirectory: directory }: SolverConfig, name: string) {
  const [json] = await readEnvironmentFiles({ directory, environment }, ['quote'], createFindings())
  const chains = Object.entries(chainNumbers.safeParse(json).data?.chains ?? {})
  const [key, found] = chains.find(([key, { chainId }]) => key === name || String(chainId) === name) ?? []
  if (key === undefined || found === undefined)
    throw new ConfigurationError(`go: expected all or one of ${chains.map(([known]) => known).join(', ')}.`)
  return { key, chainId: found.chainId }
}

/** The figures of what is paid and not attested, by chain, and what oracles said of it. */
function describeExposure(sums: Figures, said: ReadonlyMap<number, string>): readonly string[] {
  const usd = (microUsd: bigint) => formatAmount(microUsd, 6)
  return [...sums].map(([chainId, own]) => {
    const parts = figures
      .filter((figure) => own[figure] > 0n)
      .map((figure) => `${figure} ${usd(own[figure])} USD`)
    const last = said.get(chainId)
    return `Chain ${chainId}, paid and not attested: ${parts.join(', ')}${last === undefined ? '' : ` (oracles said last: ${last})`}`
  })
}

const describeDeeds = (deeds: Awaited<ReturnType<StopSwitch['deeds']>>): string =>
  describeAudit(deeds.map(({ at, ...deed }) => ({ ...deed, at: at.toISOString(), subject: '-' })))

function describeStop({ isStopped, reason }: Awaited<ReturnType<StopSwitch['read']>>): string {
  if (!isStopped) return 'The solver may sign.'
  return `Stopped: ${reason}. What was signed before is followed to its end, and nothing new is signed.`
}
