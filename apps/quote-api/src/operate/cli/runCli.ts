import { open, readFile } from 'node:fs/promises'
import { type Arguments, doctor, type Program, readCommandLine } from '@causeway/cli'
import { ConfigurationError, DomainError } from '@causeway/core'
import type { QuoteApiConfig } from '../../config/config.ts'
import { createAdministration, loadPeppers } from '../administration.ts'
import { openDatabase } from '../database.ts'
import { auditCommands } from './audit.ts'
import { claimCommands } from './claims.ts'
import { amountsAsText, type Command, type CommandContext, type Output } from './command.ts'
import { openCommandChain } from './commandChain.ts'
import { CommandError } from './commandError.ts'
import { configCommands } from './configCheck.ts'
import { draftCommands } from './configDraft.ts'
import { contractCommands } from './contracts.ts'
import { foundFillCommands, openFillJudge } from './foundFills.ts'
import { keyCommands } from './keys.ts'
import { ledgerCommands } from './ledger.ts'
import { orderCommands } from './orders.ts'
import { policyCommands } from './policies.ts'
import { readDifferences } from './readDifferences.ts'
import { requestCommands } from './requests.ts'
import { openReader, rereadCommands } from './reread.ts'
import { retentionCommands } from './retention.ts'
import { statementCommands } from './statements.ts'
import { statusCommands } from './status.ts'
import { stopCommands } from './stops.ts'
import { topUpCommands } from './topUps.ts'
import { balanceCommands, walletCommands } from './wallets.ts'
import { webhookCommands } from './webhooks.ts'
import { whyCommands } from './why.ts'

/** Inputs of `runCli` from the process. */
export type CliOptions = {
  /** Words after `npm run causeway --`. */
  readonly words: readonly string[]
  /** Reads settings; called only for a command that needs them. @throws ConfigurationError */
  readonly config: () => Promise<{
    config: QuoteApiConfig
    variables: Readonly<Record<string, string | undefined>>
  }>
  /** Unchecked environment, for commands that work before there are settings. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** See `AdminAction`. */
  readonly actor: string
  /** Examines the service and prints what it finds. @returns the exit code */
  readonly doctor?: (args: Arguments) => Promise<0 | 1 | 2>
  /** Writes a line to standard output, `complain` to standard error; resolves when the next may follow. */
  readonly print: (line: string) => Promise<void>
  readonly complain: (line: string) => Promise<void>
  readonly signal: AbortSignal
}

/** Commands may read a history of millions of transfers in one statement. */
const statementTimeoutMs = 600_000

/**
 * Runs one command of an operator.
 * @returns the exit code: 0 done; 1 refused, or something is wrong; 2 not understood, or it could not be looked at
 */
export async function runCli(options: CliOptions): Promise<0 | 1 | 2> {
  const { print, complain } = options
  const commandLine = readCommandLine(options.words, causeway)
  if (commandLine.kind !== 'run') {
    await (commandLine.kind === 'help' ? print : complain)(commandLine.text)
    return commandLine.kind === 'help' ? 0 : 2
  }
  const { command, args, usage } = commandLine
  try {
    if ('isDoctor' in command) return (await options.doctor?.(args)) ?? 2
    const output = await runCommand(command, args, options)
    if (output !== undefined) await printOutput(output, args.isOn('json'), print)
    if (output?.isUnknown === true) return 2
    return output?.isFailure === true ? 1 : 0
  } catch (error) {
    return explainFailure(error, usage, complain)
  }
}

async function runCommand(
  command: Command,
  args: Arguments,
  options: CliOptions,
): Promise<Output | undefined> {
  if ('runWithoutSettings' in command) return command.runWithoutSettings(options.variables ?? {}, args)
  if ('runOnChains' in command) return command.runOnChains(await options.config(), args)
  return withContext(options, (context) =>
    runAudited(context, command, () => command.run(context, args), args),
  )
}

/** Runs a command, and adds a refused change to the audit log. A change that is made adds its own line. */
async function runAudited<T>(
  { administration, actor }: CommandContext,
  { words, changes, operands = [] }: Command,
  work: () => Promise<T>,
  args: Arguments,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (changes === true && error instanceof DomainError) {
      const [first] = operands
      // Ids and wallets may be typed in any case; the audit has them in lower case.
      const subject = first === undefined ? '-' : args.operand(first).toLowerCase()
      const reason = args.text('reason')
      const attempt = { actor, action: words.replace(' ', '.'), subject, outcome: error.code }
      await administration.audit.refused({ ...attempt, details: reason === undefined ? {} : { reason } })
    }
    throw error
  }
}

/** Opens the database for a command, and closes it afterwards. */
async function withContext<T>(
  options: CliOptions,
  work: (context: CommandContext) => Promise<T>,
): Promise<T> {
  const { actor, print, signal } = options
  const { config, variables } = await options.config()
  const opened = await openDatabase(config, {
    // In `local` a running service may own the database server already.
    joinRunning: true,
    statementTimeoutMs,
    // A command prints its own answer alone; a lost connection fails its next statement.
    log: () => {},
    onConnectionLost: () => {},
  })
  try {
    const { database } = opened
    const peppers = await loadPeppers(config, database)
    return await work({
      administration: createAdministration({ config, database, peppers }),
      database,
      retention: config.retention,
      variables,
      actor,
      print,
      chain: () => openCommandChain({ config, variables, database, signal }),
      differences: () => readDifferences(database, { config, variables }),
      openReader: (name) => openReader({ config, variables }, name),
      openFillJudge: () => openFillJudge({ config, variables, peppers }),
      readLines,
      readFile: (path) => readText(path),
    })
  } finally {
    await opened.close()
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw explainUnreadable(path, error)
  }
}

async function* readLines(path: string): AsyncGenerator<string> {
  const file = await open(path).catch((error: unknown) => {
    throw explainUnreadable(path, error)
  })
  yield* file.readLines()
}

function explainUnreadable(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  return new CommandError(`The file ${path} cannot be read (${String(error.code)}).`)
}

async function printOutput({ data, lines }: Output, isJson: boolean, print: CliOptions['print']) {
  if (isJson) await print(JSON.stringify(data, amountsAsText))
  else for (const line of lines) await print(line)
}

async function explainFailure(
  error: unknown,
  usage: string,
  complain: CliOptions['complain'],
): Promise<1 | 2> {
  if (error instanceof CommandError) {
    await complain(`${error.message}\n\n${usage}`)
    return 2
  }
  if (error instanceof DomainError) {
    const facts = Object.entries(error.data).map(([name, value]) => `\n  ${name}: ${value}`)
    await complain(`${error.message} (${error.code})${facts.join('')}`)
    return 1
  }
  if (error instanceof ConfigurationError) {
    await complain(error.message)
    return 1
  }
  throw error
}

/** All commands but the doctor, in the order in which the help lists them. */
export const commandTable: readonly Command[] = [
  ...statusCommands,
  ...stopCommands,
  ...keyCommands,
  ...walletCommands,
  ...policyCommands,
  ...webhookCommands,
  ...balanceCommands,
  ...topUpCommands,
  ...ledgerCommands,
  ...foundFillCommands,
  ...statementCommands,
  ...whyCommands,
  ...orderCommands,
  ...requestCommands,
  ...claimCommands,
  ...rereadCommands,
  ...retentionCommands,
  ...auditCommands,
  ...draftCommands,
  ...contractCommands,
  ...configCommands,
]

/** Doctor of this service alone, from its own variables. */
const ownDoctor = {
  ...doctor,
  flags: { service: { value: '<name>', about: 'quote-api alone: the others have commands of their own' } },
}

const json = { about: 'Print one JSON document' }

/** Commands of `npm run causeway --`. */
export const causeway: Program<Command | typeof doctor> = {
  name: 'npm run causeway --',
  about: 'Commands of operators: on the database itself, beside the service or without it.',
  commands: [ownDoctor, ...commandTable].map((command) => ({
    ...command,
    flags: { ...command.flags, json },
  })),
  groups: {
    keys: 'API keys',
    wallets: 'Wallets that keys are linked to',
    policies: 'What keys may sponsor',
    webhooks: 'Where messages of keys go',
    balance: 'Balances of sponsors',
    topup: 'Top-ups of balances',
    suspense: 'Top-ups that nobody is credited for',
    ledger: 'The books',
    sponsor: 'Stops of one sponsor',
    statements: 'Statements of balances',
    orders: 'Signatures of orders',
    requests: 'Requests, and what to do with parked ones',
    claims: 'Claims of app fees',
    chains: 'What chains are read for',
    retention: 'Ages of what is stored',
    audit: 'Who changed what',
    config: 'Configuration files',
    contracts: 'Contracts of this release',
  },
  notes: [
    'DATABASE_URL names the database; without one, ENVIRONMENT=local (the default) uses that of npm start.',
    '`quote-api`, `oracle`, `solver` and `allocator` run that process, by its own variables; words behind them are its',
    'commands: npm run causeway -- solver --help',
  ].join('\n'),
}
