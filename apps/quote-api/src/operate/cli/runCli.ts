import { open, readFile } from 'node:fs/promises'
import { ConfigurationError, DomainError } from '@causeway/core'
import type { QuoteApiConfig } from '../../config/config.ts'
import { createAdministration, loadPeppers } from '../administration.ts'
import { openDatabase } from '../database.ts'
import { auditCommands } from './audit.ts'
import { claimCommands } from './claims.ts'
import type { Arguments, Command, CommandContext, Output } from './command.ts'
import { openCommandChain } from './commandChain.ts'
import { CommandError } from './commandError.ts'
import { configCommands } from './configCheck.ts'
import { draftCommands } from './configDraft.ts'
import { contractCommands } from './contracts.ts'
import { foundFillCommands, openFillJudge } from './foundFills.ts'
import { keyCommands } from './keys.ts'
import { ledgerCommands } from './ledger.ts'
import { orderCommands } from './orders.ts'
import { parseCommandLine } from './parseCommandLine.ts'
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

export type CliOptions = {
  /** Behind `npm run causeway --`. */
  readonly words: readonly string[]
  /** Asked once a command is to run. @throws ConfigurationError */
  readonly config: () => Promise<{
    config: QuoteApiConfig
    variables: Readonly<Record<string, string | undefined>>
  }>
  /** As they are set, for commands that work before there are settings. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  readonly actor: string
  /** One line; resolves when it may be followed by the next. */
  readonly print: (line: string) => Promise<void>
  readonly complain: (line: string) => Promise<void>
  readonly signal: AbortSignal
}

/** A history of millions of transfers is read in one statement. */
const statementTimeoutMs = 600_000

/** @returns the exit code: 0 done, 1 refused or something is wrong, 2 not understood, or it cannot be told */
export async function runCli(options: CliOptions): Promise<0 | 1 | 2> {
  const { print, complain } = options
  const parsed = parseCommandLine(options.words, commandTable)
  if (parsed.kind === 'help') {
    await print(usageOf(commandTable))
    return 0
  }
  if (parsed.kind === 'wrong') {
    const usage = parsed.command === undefined ? usageOf(commandTable) : usageOfCommand(parsed.command)
    await complain(`${parsed.problem}\n\n${usage}`)
    return 2
  }
  const { command, args, json } = parsed
  try {
    const output = await runCommand(command, args, options)
    if (output !== undefined) await printOutput(output, json, print)
    if (output?.isUnknown === true) return 2
    return output?.isFailure === true ? 1 : 0
  } catch (error) {
    return explainFailure(error, command, complain)
  }
}

async function runCommand(
  command: Command,
  args: Arguments,
  options: CliOptions,
): Promise<Output | undefined> {
  if ('runWithoutSettings' in command) return command.runWithoutSettings(options.variables ?? {}, args)
  if ('runOnChains' in command) return command.runOnChains(await options.config(), args)
  return withScene(options, (scene) => runAudited(scene, command, () => command.run(scene, args), args))
}

/** What a command that changes something refuses leaves a line, as what it does. */
async function runAudited<T>(
  { administration, actor }: CommandContext,
  { words, changes, operands }: Command,
  work: () => Promise<T>,
  args: Arguments,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (changes === true && error instanceof DomainError) {
      const [first] = operands
      const subject = first === undefined ? '-' : args.operand(first).toLowerCase()
      const reason = args.text('reason')
      const attempt = { actor, action: words.replace(' ', '.'), subject, outcome: error.code }
      await administration.audit.refused({ ...attempt, details: reason === undefined ? {} : { reason } })
    }
    throw error
  }
}

async function withScene<T>(options: CliOptions, work: (scene: CommandContext) => Promise<T>): Promise<T> {
  const { actor, print, signal } = options
  const { config, variables } = await options.config()
  const opened = await openDatabase(config, {
    joinRunning: true,
    statementTimeoutMs,
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
    throw unreadable(path, error)
  }
}

async function* readLines(path: string): AsyncGenerator<string> {
  const file = await open(path).catch((error: unknown) => {
    throw unreadable(path, error)
  })
  yield* file.readLines()
}

function unreadable(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  return new CommandError(`The file ${path} cannot be read (${String(error.code)}).`)
}

async function printOutput({ data, lines }: Output, json: boolean, print: CliOptions['print']) {
  if (json) await print(JSON.stringify(data, amountsAsText))
  else for (const line of lines) await print(line)
}

function amountsAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

async function explainFailure(
  error: unknown,
  command: Command,
  complain: CliOptions['complain'],
): Promise<1 | 2> {
  if (error instanceof CommandError) {
    await complain(`${error.message}\n\n${usageOfCommand(command)}`)
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

/** Every command, in the order in which the usage lists them. */
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

const invocation = 'npm run causeway --'

/** One line per command. */
export function usageOf(commands: readonly Command[]): string {
  const width = Math.max(...commands.map((command) => signatureOf(command).length))
  return [
    `Usage: ${invocation} <command> [--json]`,
    '',
    `  ${'doctor'.padEnd(width)}  Tell every setting that is missing, wrong or contradictory, and what to do`,
    ...commands.map((command) => `  ${signatureOf(command).padEnd(width)}  ${command.about}`),
    '',
    'Works on the database itself, beside the service or without it. DATABASE_URL names it; without one,',
    'ENVIRONMENT=local (the default) uses the database of npm start. --json prints one JSON document.',
    '`solver …` and `allocator …` are commands of those processes, with their variables.',
  ].join('\n')
}

/** What one command takes. */
export function usageOfCommand(command: Command): string {
  const flags = Object.entries(command.flags)
  const named = flags.map(([name, { value }]) => `--${name}${value === undefined ? '' : ` ${value}`}`)
  const width = Math.max(0, ...named.map((text) => text.length))
  return [
    `Usage: ${invocation} ${signatureOf(command)} [--json]`,
    command.about,
    ...flags.map(([, { about }], index) => `  ${(named[index] ?? '').padEnd(width)}  ${about}`),
  ].join('\n')
}

function signatureOf({ words, operands, flags }: Command): string {
  const required = Object.entries(flags).filter(([, { isRequired }]) => isRequired === true)
  return [
    words,
    ...operands.map((name) => `<${name}>`),
    ...required.map(([name, { value }]) => `--${name} ${value}`),
  ].join(' ')
}
