import { ConfigurationError } from '../errors.ts'

/** `stops`: the service refuses to start; `degrades`: it starts and lacks something; `note`: worth knowing. */
export const severities = ['stops', 'degrades', 'note'] as const

export type Severity = (typeof severities)[number]

/** Every kind of finding. `docs/operating/doctor.md` says what each means. */
export const findingCodes = [
  'address-foreign',
  'chain-contradicts',
  'chain-stopped',
  'chain-winding-down',
  'chain-without-endpoint',
  'clock-off',
  'configuration-unfilled',
  'configuration-wrong',
  'database-full',
  'database-rights',
  'database-schema',
  'database-unreachable',
  'database-version',
  'disk-full',
  'disk-unwritable',
  'endpoint-behind',
  'endpoint-narrow',
  'endpoint-silent',
  'endpoints-too-few',
  'environment-unknown',
  'jobs-elsewhere',
  'key-exposed',
  'key-read',
  'key-wrong',
  'network-changed',
  'nothing-quotable',
  'peer-refuses',
  'peer-silent',
  'pepper-wrong',
  'price-unconfirmed',
  'put-aside',
  'service-silent',
  'setting-contradicts',
  'setting-missing',
  'setting-overridden',
  'setting-without-effect',
  'setting-wrong',
  'signer-shared',
  'signer-unlisted',
  'state-empty',
  'solver-differs',
  'solver-unknown',
  'threshold-unreachable',
] as const

export type FindingCode = (typeof findingCodes)[number]

/** One problem with a service's settings, or with what they name, for its operator. It shows no secret values. */
export type Finding = {
  readonly code: FindingCode
  readonly severity: Severity
  /** The variable or the position in a file, e.g. `DATABASE_URL`, `chains[1].id`. */
  readonly setting: string
  /** Observation, without secrets. */
  readonly seen: string
  /** Remedy; where it is empty, `reportOf` fills in the hint on the setting. */
  readonly fix: string
}

/** A larger difference of two clocks is a finding: NTP keeps them closer. */
export const clockLimitMs = 5_000

/**
 * Compares this machine's clock with another one.
 * @param compared.with names the other clock for the operator
 * @param compared.offsetMs ours less theirs
 * @param compared.allowedMs largest offset without a finding
 */
export function clockFindings(compared: {
  readonly setting: string
  readonly with: string
  readonly offsetMs: number
  readonly allowedMs?: number
}): readonly Finding[] {
  const { setting, offsetMs, allowedMs = clockLimitMs } = compared
  if (Math.abs(offsetMs) <= allowedMs) return []
  const seconds = Math.round(Math.abs(offsetMs) / 1_000)
  return [
    {
      code: 'clock-off',
      severity: 'degrades',
      setting,
      seen: `this machine's clock is ${seconds} s ${offsetMs > 0 ? 'ahead of' : 'behind'} ${compared.with}`,
      fix: 'Set the clock by NTP on this machine and on the other: quotes, permits and heads of chains are judged by it.',
    },
  ]
}

/** Refuses a service's start, and lists every setting that must not run. */
export class UnfitSettingsError extends ConfigurationError {
  readonly findings: readonly Finding[]

  constructor(findings: readonly Finding[]) {
    const stopping = findings.filter(({ severity }) => severity === 'stops')
    const problems = stopping.map(({ setting, seen }) =>
      seen.includes(setting) ? seen : `${setting}: ${seen}`,
    )
    super(`Settings that must not run:\n- ${problems.join('\n- ')}`, { problems })
    this.name = 'UnfitSettingsError'
    this.findings = findings
  }
}

/** Collects findings of a start or of doctor, so that one wrong setting does not hide the others. */
export type Findings = {
  readonly list: readonly Finding[]
  add(...findings: readonly Finding[]): void
  missing(setting: string, seen?: string): void
  wrong(setting: string, seen: string): void
  /** Sentences that name settings; each stops the start. */
  problems(sentences: readonly string[], code?: FindingCode): void
  /** Result of `read`, or `undefined` if it throws a `ConfigurationError`, whose problems become findings. */
  attempt<Value>(read: () => Value, code?: FindingCode): Value | undefined
  /** Asynchronous form of `attempt`. */
  attemptLater<Value>(read: () => Promise<Value>, code?: FindingCode): Promise<Value | undefined>
}

export function createFindings(): Findings {
  const list: Finding[] = []
  const stop = (code: FindingCode, setting: string, seen: string) =>
    list.push({ code, severity: 'stops', setting, seen, fix: '' })
  return {
    list,
    add: (...findings) => void list.push(...findings),
    missing: (setting, seen = 'is not set') => void stop('setting-missing', setting, seen),
    wrong: (setting, seen) => void stop('setting-wrong', setting, seen),
    problems(sentences, code = 'configuration-wrong') {
      for (const sentence of sentences) stop(code, settingIn(sentence), sentence)
    },
    attempt(read, code = 'setting-wrong') {
      try {
        return read()
      } catch (error) {
        list.push(...findingsOf(error, code))
        return undefined
      }
    },
    async attemptLater(read, code = 'setting-wrong') {
      try {
        return await read()
      } catch (error) {
        list.push(...findingsOf(error, code))
        return undefined
      }
    },
  }
}

/** Turns the problems of a configuration error into findings; rethrows any other error, which is a bug. */
export function findingsOf(error: unknown, code: FindingCode = 'configuration-wrong'): readonly Finding[] {
  if (error instanceof UnfitSettingsError) return error.findings
  if (!(error instanceof ConfigurationError)) throw error
  return error.problems.map((sentence) => ({
    code,
    severity: 'stops',
    setting: settingIn(sentence),
    seen: sentence,
    fix: '',
  }))
}

/** Name of a variable: words joined by underscores, or one of those of a single word. */
const variablePattern = /\b(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|ENVIRONMENT|ORACLES|PEERS)\b/

/** Part of a position in a file, e.g. `chains[1].id`, `httpRpcUrl of base`. */
const positionPattern = /^\S+( of \S+)?$/

/**
 * The variable that a sentence names, else the position in a file that it begins with, e.g. `quote.local.json: chains`
 * in `quote.local.json: chains: must not be empty`, else its first word if that has a dot, as names of files do.
 */
function settingIn(sentence: string): string {
  const variable = variablePattern.exec(sentence)?.[0]
  if (variable !== undefined) return variable
  const partsBeforeColons = sentence.split(': ').slice(0, -1)
  const firstOther = partsBeforeColons.findIndex((part) => !positionPattern.test(part))
  const position = firstOther < 0 ? partsBeforeColons : partsBeforeColons.slice(0, firstOther)
  if (position.length > 0) return position.join(': ')
  const [firstWord = ''] = sentence.split(' ', 1)
  return firstWord.includes('.') ? firstWord : 'configuration'
}

export function stopsStart(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === 'stops')
}
