import { type Finding, severities, stopsStart } from './finding.ts'

/** Doctor's report on one service. */
export type DoctorReport = {
  readonly service: string
  /** False when a finding stops its start. */
  readonly startable: boolean
  readonly findings: readonly Finding[]
}

/**
 * Completes findings with remedies and sorts them, the gravest first.
 * @param hints what to do about a variable, by its name; see `hintsOf`
 */
export function reportOf(
  service: string,
  findings: readonly Finding[],
  hints: ReadonlyMap<string, string>,
): DoctorReport {
  const findingsWithFix = unique(findings).map((finding) => {
    return { ...finding, fix: finding.fix || hintFor(finding.setting, hints) || `See ${configurationPage}.` }
  })
  const sorted = severities.flatMap((severity) =>
    findingsWithFix.filter((finding) => finding.severity === severity),
  )
  return { service, startable: !stopsStart(sorted), findings: sorted }
}

const configurationPage = 'docs/operating/configuration.md'

/** Endings of variables that exist once per chain: the chain's key stands before them. */
const chainVariableEndings = ['_RPC_URL', '_SIGNING_CAPS', '_FILL_WALLET_ADDRESS'] as const

/** The setting's own hint, or that of the same variable for the one chain that the example file shows. */
function hintFor(setting: string, hints: ReadonlyMap<string, string>): string | undefined {
  const ending = chainVariableEndings.find((one) => setting.endsWith(one))
  const example = ending === undefined ? undefined : [...hints.keys()].find((name) => name.endsWith(ending))
  return hints.get(setting) ?? (example && hints.get(example))
}

/** Drops repeated findings: two readers of one setting may report the same. */
function unique(findings: readonly Finding[]): readonly Finding[] {
  const keys = new Set<string>()
  return findings.filter((finding) => {
    const key = JSON.stringify([finding.setting, finding.seen])
    return keys.has(key) ? false : keys.add(key)
  })
}

/** A number before its noun: `1 chain`, `2 chains`. */
export function counted(count: number | bigint, noun: string, nouns = `${noun}s`): string {
  return `${count} ${Number(count) === 1 ? noun : nouns}`
}

const severityNouns: Readonly<Record<Finding['severity'], readonly [one: string, many: string]>> = {
  stops: ['finding stops it', 'findings stop it'],
  degrades: ['finding degrades it', 'findings degrade it'],
  note: ['note', 'notes'],
}

/** Text of a report for a terminal: a line with counts, then three lines per finding. */
export function reportText({ service, startable, findings }: DoctorReport): string {
  const counts = severities.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    const [one, many] = severityNouns[severity]
    return count === 0 ? [] : [counted(count, one, many)]
  })
  const outcome = startable ? 'may start' : 'does not start'
  return [
    `${service} ${outcome}: ${counts.join(', ') || 'nothing is to be mended'}.`,
    ...findings.flatMap(({ code, severity, setting, seen, fix }) => [
      '',
      `${severity.padEnd(8)} ${setting} (${code})`,
      `  seen: ${seen}`,
      `  fix:  ${fix}`,
    ]),
  ].join('\n')
}

/**
 * Remedy for each variable, from an example environment file: the comment above its line.
 * @param text lines of `# comment`, followed by `NAME=value` or `#NAME=value`
 */
export function hintsOf(text: string): ReadonlyMap<string, string> {
  return new Map(exampleVariables(text).map(({ name, comment }) => [name, comment]))
}

export type ExampleVariable = {
  readonly name: string
  /** As written: a default, or a placeholder in angle brackets. */
  readonly value: string
  /** True where its line has no `#`: the service does not start without it. */
  readonly isRequired: boolean
  readonly comment: string
}

/** Every variable of an example file, in its order. */
export function exampleVariables(text: string): readonly ExampleVariable[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const [, off = '', name = '', value = ''] = /^(#?)([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
    if (name === '') return []
    const comment = /^# (.+)$/.exec(lines[index - 1] ?? '')?.[1] ?? ''
    return [{ name, value, isRequired: off === '', comment }]
  })
}
