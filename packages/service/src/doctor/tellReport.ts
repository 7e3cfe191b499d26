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

/** Standard output or error: text where somebody reads it, one line of JSON where something does. */
export type ReportOutput = { readonly isTTY?: boolean | undefined; write(text: string): unknown }

/** One service as its doctor and its start describe it. */
export type ExaminedService = {
  /** e.g. `quote-api`; its variables stand in `configs/<name>.example.env`. */
  readonly name: string
  readonly repositoryRoot: string
  readonly launch: Launch
}

function tellReport(report: DoctorReport, output: ReportOutput, isJson = output.isTTY !== true): void {
  output.write(`${isJson ? JSON.stringify(report) : reportText(report)}\n`)
}

/** With what the example of the service's variables says to do about each. */
function describeFindings(
  { name, repositoryRoot }: ExaminedService,
  findings: readonly Finding[],
): DoctorReport {
  return reportOf(
    name,
    findings,
    hintsOf(readExample(join(repositoryRoot, 'configs', `${name}.example.env`))),
  )
}

/** Without the file findings name the page instead. */
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
   * `settings`: variables, keys and files alone, for a start in `local`, whose chains and database were made for it a
   * moment ago. `all`: what they name as well.
   */
  readonly scope: 'settings' | 'all'
}

/** Everything that is missing, wrong or contradictory in one pass. Rejects for bugs alone. */
export type Examine = (variables: Variables, examination: Examination) => Promise<readonly Finding[]>

const nowMs = () => Date.now()

/**
 * The command `doctor`: tells all findings, as JSON where that is asked for or nobody looks.
 * @param look.variables with secrets merged in; what it throws is found as well
 * @returns the exit code: 0, 1 where a start would be refused, 2 for words that are not understood
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
 * Runs the doctor's examination before a start and reports all findings that matter at once.
 * @throws UnfitSettingsError when one of them stops it; `endStart` reports it
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

/** Before a command other than `doctor`: which variables it takes from elsewhere than from its file, a line for each. */
export async function tellOverridden({ launch }: Pick<ExaminedService, 'launch'>): Promise<void> {
  for (const { seen } of await findOverridden(launch)) process.stderr.write(`${seen}.\n`)
}

/** Has a command answer alone: warnings of libraries are for those who develop, and a service that runs shows them. */
export function silenceWarnings(): void {
  process.removeAllListeners('warning')
}

/** Ends a process whose start or command failed: what an operator can mend is told without a stack. */
export function endStart(service: ExaminedService, error: unknown): never {
  if (error instanceof ConfigurationError) {
    tellReport(describeFindings(service, findingsOf(error)), process.stderr)
  } else {
    console.error(error)
  }
  process.exit(1)
}

/** Permission bits of a file that a setting names; `undefined` where there is none. */
export function modeOfFile(path: string): number | undefined {
  return path === '' ? undefined : statSync(path, { throwIfNoEntry: false })?.mode
}
