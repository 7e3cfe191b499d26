import { userInfo } from 'node:os'
import { readEnvironmentFiles, type Variables } from '@causeway/chains'
import { type Arguments, type CommandForm, doctor, type Program } from '@causeway/cli'
import { ConfigurationError, formatAmount, type SqlDatabase } from '@causeway/core'
import { counted, createFindings } from '@causeway/core/config'
import { describeAudit } from '@causeway/signer'
import { z } from 'zod'
import { type Figures, figures, readFigures, readLastAnswers } from '../wallet/exposure.ts'
import { type KeptFill, readFills } from '../wallet/paymentProofs.ts'
import { createStopSwitch } from '../wallet/stopSwitch.ts'
import { backup, restore, withDatabase } from './backup.ts'
import type { SolverConfig } from './config.ts'
import { reportInventory } from './inventory.ts'

/** Input of a command beside its arguments. */
export type CommandContext = {
  readonly config: SolverConfig
  readonly variables: Variables
  /** Writes output that is too long to be held. */
  readonly write: (text: string) => Promise<void>
}

type SolverCommand = CommandForm & {
  /** @returns lines to print, `undefined` when all was written @throws ConfigurationError */
  run(scene: CommandContext, args: Arguments): Promise<string | undefined>
}

/** End of the descriptions of commands that take a reason. */
const forNext = 'The next operator reads the reason'

const commands: readonly SolverCommand[] = [
  {
    words: 'stop',
    about: `Sign nothing new in any process of this database. ${forNext}`,
    operands: ['reason...'],
    run: ({ config }, args) => setStop(config, { isStopped: true, reason: args.operand('reason') }),
  },
  {
    words: 'resume',
    about: 'End the stop',
    operands: ['[reason...]'],
    run: ({ config }, args) => setStop(config, { isStopped: false, reason: args.operand('reason') }),
  },
  {
    words: 'go',
    about: `Answer for what is paid and not attested: it counts no more, and the chain goes on. ${forNext}`,
    operands: ['chain|all', 'reason...'],
    run: ({ config }, args) => goOn(config, args.operand('chain|all'), args.operand('reason')),
  },
  {
    words: 'status',
    about: 'Show whether it is stopped, and what is paid and not attested',
    run: ({ config }) =>
      withSwitch(config, async (stop, database) => {
        const lines = describeExposure(await readFigures(database), await readLastAnswers(database))
        return [describeStop(await stop.read()), ...lines].join('\n')
      }),
  },
  {
    words: 'inventory',
    about: 'Show what lies in the wallet and on the hub, and what to withdraw and move; moves nothing',
    flags: { json: { about: 'Amounts as decimal strings in smallest units' } },
    run: ({ config, variables }, args) => reportInventory(config, variables, { asJson: args.isOn('json') }),
  },
  {
    words: 'fills',
    about: 'Print what it filled since a time like 2026-11-24T10:15:00Z, a line of JSON each',
    operands: ['since'],
    run: ({ config }, args) =>
      withSwitch(config, async (_stop, database) => {
        const fills = await readFills(database, readMoment(args.operand('since')))
        return fills.map(describeFill).join('\n')
      }),
  },
  {
    words: 'audit list',
    about: 'List who stopped, resumed or restored it, when and why',
    run: ({ config }) => withSwitch(config, async (stop) => describeDeeds(await stop.deeds())),
  },
  {
    words: 'backup',
    about: 'Print all tables as text from one snapshot, for a file; the solver may go on',
    run: ({ config, write }) => backup(config, write).then(() => undefined),
  },
  {
    words: 'restore',
    about: 'Fill an empty database, on which no solver runs, from a backup, all or nothing',
    operands: ['file'],
    run: ({ config }, args) => restore(config, args.operand('file')),
  },
]

/** Commands on a solver, beside a running one. */
export const solverProgram: Program<SolverCommand | typeof doctor> = {
  name: 'npm run causeway -- solver',
  about: 'The solver: without a word it runs.',
  commands: [doctor, ...commands],
  groups: { audit: 'Who changed what' },
}

/** @throws ConfigurationError */
function readMoment(text: string): Date {
  const moment = z.iso.datetime({ offset: true }).safeParse(text)
  if (!moment.success) throw new ConfigurationError('fills needs a time, like 2026-11-24T10:15:00Z.')
  return new Date(moment.data)
}

/** A fill as one line of JSON, for `causeway ledger fills` to read. */
function describeFill({ asked, at, ...fill }: KeptFill): string {
  const { order, orderSignature, inputs, deposited, booking } = asked
  const parts = { order, orderSignature, inputs, deposited: deposited.toString(), booking }
  return JSON.stringify({ ...fill, at: at.toISOString(), ...parts })
}

type StopSwitch = ReturnType<typeof createStopSwitch>

function withSwitch(
  config: SolverConfig,
  use: (stop: StopSwitch, database: SqlDatabase) => Promise<string>,
): Promise<string> {
  return withDatabase(config, (database) => use(createStopSwitch(database), database))
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

/** Takes a chain's unattested payments out of the limits, so that it pays again. @param name of a chain, or `all` */
async function goOn(config: SolverConfig, name: string, reason: string): Promise<string> {
  const chain = name === 'all' ? undefined : await readChain(config, name)
  return withSwitch(config, async (stop) => {
    const accepted = await stop.go({ chain, reason, actor: `cli:${userInfo().username}` })
    const plural = 'payments that are not attested count'
    return `Of ${name} ${counted(accepted, 'payment that is not attested counts', plural)} no more.`
  })
}

const chainNumbers = z.object({ chains: z.record(z.string(), z.object({ chainId: z.int().positive() })) })

/** Finds a chain by its key or number. @throws ConfigurationError for one that is not in the quote file */
async function readChain({ environment, configDirectory: directory }: SolverConfig, name: string) {
  // Its findings are dropped: in a file that cannot be read no chain is found, which is the error below.
  const [json] = await readEnvironmentFiles({ directory, environment }, ['quote'], createFindings())
  const chains = Object.entries(chainNumbers.safeParse(json).data?.chains ?? {})
  const [key, listedChain] =
    chains.find(([key, { chainId }]) => key === name || String(chainId) === name) ?? []
  if (key === undefined || listedChain === undefined)
    throw new ConfigurationError(
      `go: expected all or one of ${chains.map(([chainName]) => chainName).join(', ')}.`,
    )
  return { key, chainId: listedChain.chainId }
}

/** Lines about unattested payments, by chain, with the newest answer of oracles. */
function describeExposure(sums: Figures, answerByChain: ReadonlyMap<number, string>): readonly string[] {
  const usd = (microUsd: bigint) => formatAmount(microUsd, 6)
  return [...sums].map(([chainId, chainFigures]) => {
    const parts = figures
      .filter((figure) => chainFigures[figure] > 0n)
      .map((figure) => `${figure} ${usd(chainFigures[figure])} USD`)
    const last = answerByChain.get(chainId)
    return `Chain ${chainId}, paid and not attested: ${parts.join(', ')}${last === undefined ? '' : ` (oracles said last: ${last})`}`
  })
}

/** The audit as text. It names no subjects: each action is on the one solver. */
const describeDeeds = (deeds: Awaited<ReturnType<StopSwitch['deeds']>>): string =>
  describeAudit(deeds.map(({ at, ...action }) => ({ ...action, at: at.toISOString(), subject: '-' })))

function describeStop({ isStopped, reason }: Awaited<ReturnType<StopSwitch['read']>>): string {
  if (!isStopped) return 'The solver may sign.'
  return `Stopped: ${reason}. What was signed before is followed to its end, and nothing new is signed.`
}
