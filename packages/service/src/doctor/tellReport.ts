import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import {
  type DoctorReport,
  type Finding,
  findingsOf,
  hintsOf,
  reportOf,
  reportText,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core/config'
import { findOverridden, type Launch } from './overridden.ts'

/** Stream for a report: a terminal (`isTTY`) gets text, anything else one line of JSON. `process.stdout` fits. */
export type ReportOutput = { readonly isTTY?: boolean | undefined; write(text: string): unknown }

/** The service that the command `doctor` or a start examines. */
export type ExaminedService = {
  /** e.g. `quote-api`; its variables stand in `configs/<name>.example.env`. */
  readonly name: string
  readonly repositoryRoot: string
  readonly launch: Launch
}

function tellReport(report: DoctorReport, output: ReportOutput, isJson = output.isTTY !== true): void {
  output.write(`${isJson ? JSON.stringify(report) : reportText(report)}\n`)
}

/** Makes the report, with hints from the comments of the service's example of variables. */
function describeFindings(
  { name, repositoryRoot }: ExaminedService,
  findings: readonly Finding[],
): DoctorReport {
  const example = readExample(join(repositoryRoot, 'configs', `${name}.example.env`))
  return reportOf(name, findings, hintsOf(example))
}

/** Without the file the report refers to the documentation instead of giving hints. */
function readExample(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

type Variables = Readonly<Record<string, string | undefined>>

export type Examination = {
  readonly repositoryRoot: string
  readonly nowMs: () => number
  /**
   * `settings`: only variables, keys and files; for a start in `local`, where chains and database may be just starting.
   * `all`: also the databases, chains and services that they name.
   */
  readonly scope: 'settings' | 'all'
}

/** A service's own examination: finds everything missing, wrong or contradictory in one pass. Rejects only for bugs. */
export type Examine = (variables: Variables, examination: Examination) => Promise<readonly Finding[]>

const nowMs = () => Date.now()

/**
 * The command `doctor` of a service: prints all findings, as JSON with `--json` or where the output is no terminal.
 * @param words arguments of the command
 * @param look.variables reads the environment with secrets merged in; an error that it throws becomes a finding
 * @returns the exit code: 0, 1 where a start would be refused, 2 for unknown arguments
 */
export async function runDoctor(
  service: ExaminedService,
  words: readonly string[],
  look: { readonly variables: () => Promise<Variables>; readonly examine: Examine },
  output: ReportOutput = process.stdout,
): Promise<0 | 1 | 2> {
  const unknown = words.find((word) => word !== '--json')
  if (unknown !== undefined) {
    process.stderr.write(`doctor does not know ${JSON.stringify(unknown)}; it takes --json alone.\n`)
    return 2
  }
  const report = describeFindings(service, await findAll(service, look))
  tellReport(report, output, words.includes('--json') || output.isTTY !== true)
  return report.startable ? 0 : 1
}

async function findAll(
  { repositoryRoot, launch }: ExaminedService,
  { variables, examine }: Parameters<typeof runDoctor>[2],
): Promise<readonly Finding[]> {
  const overridden = await findOverridden(launch)
  try {
    return [...(await examine(await variables(), { repositoryRoot, nowMs, scope: 'all' })), ...overridden]
  } catch (error) {
    return [...findingsOf(error), ...overridden]
  }
}

/**
 * Runs the doctor's examination before a start, and prints the findings to standard error. If all are mere notes, only
 * those about overridden variables are printed.
 * @throws UnfitSettingsError with all findings when one of them stops the start; `exitAfterFailedStart` prints it
 */
export async function admitStart(
  service: ExaminedService,
  variables: Variables,
  examine: Examine,
): Promise<void> {
  const { repositoryRoot } = service
  const scope = variables['ENVIRONMENT'] === 'local' ? 'settings' : 'all'
  const overridden = await findOverridden(service.launch)
  const findings = [...(await examine(variables, { repositoryRoot, nowMs, scope })), ...overridden]
  if (stopsStart(findings)) throw new UnfitSettingsError(findings)
  const reportedFindings = findings.every(({ severity }) => severity === 'note') ? overridden : findings
  if (reportedFindings.length > 0) tellReport(describeFindings(service, reportedFindings), process.stderr)
}

/** Before a command other than `doctor`: prints a line for each variable of a file that the environment overrides. */
export async function printOverridden({ launch }: Pick<ExaminedService, 'launch'>): Promise<void> {
  for (const { seen } of await findOverridden(launch)) process.stderr.write(`${seen}.\n`)
}

/** Keeps Node's and libraries' warnings out of a command's output. A running service shows them. */
export function silenceWarnings(): void {
  process.removeAllListeners('warning')
}

/** Ends a process with 1 after its start or command failed. A configuration error is printed as a report, without stack. */
export function exitAfterFailedStart(service: ExaminedService, error: unknown): never {
  if (error instanceof ConfigurationError) {
    tellReport(describeFindings(service, findingsOf(error)), process.stderr)
  } else {
    console.error(error)
  }
  process.exit(1)
}

/** Mode of a file that a setting names, with its permission bits; `undefined` where there is none. */
export function readFileMode(path: string): number | undefined {
  return path === '' ? undefined : statSync(path, { throwIfNoEntry: false })?.mode
}
