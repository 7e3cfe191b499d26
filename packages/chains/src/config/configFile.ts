import { brokenRule, ConfigurationError, ruleInWords } from '@causeway/core'
import type { Findings } from '@causeway/core/config'
import { z } from 'zod'
import { type Placeholder, resolvePlaceholders, type Variables } from './placeholders.ts'

export type ConfigSource = {
  /** For messages, e.g. `chains.local.json`. */
  readonly name: string
  /** The file's parsed JSON. */
  readonly json: unknown
  /** The running environment, which the file must carry. */
  readonly environment: string
  readonly variables: Variables
}

/** A configuration file as read, with the placeholders whose variables were set and those whose were not. */
export type ConfigReading<Value> = {
  /** `undefined` when the file does not fit its schema. */
  readonly value: Value | undefined
  /** Problems by setting name, never with values. */
  readonly problems: readonly string[]
  readonly set: readonly Placeholder[]
  readonly unset: readonly Placeholder[]
}

/** Resolves placeholders, checks the schema and that the file is of the running environment. */
export function readConfigFile<Value>(schema: z.ZodType<Value>, source: ConfigSource): ConfigReading<Value> {
  const { name, environment } = source
  const { value, set, unset, malformed } = resolvePlaceholders(source.json, source.variables)
  const parsed = schema.safeParse(value, { error: ruleOfFile })
  const environmentProblems = z.object({ environment: z.literal(environment) }).safeParse(value).success
    ? []
    : [
        `${name}: environment: must be "${environment}", the environment that runs: write "environment": "${environment}" into this file`,
      ]
  const issues = parsed.success ? [] : describeIssues(name, { value, error: parsed.error }, unset)
  const malformedProblems = malformed.map(
    (path) => `${name}: ${path}: not a placeholder; write "$" and the name of a variable, nothing else`,
  )
  const schemaProblems = nameVariables(name, issues, set)
  return {
    value: parsed.data,
    problems: [...environmentProblems, ...malformedProblems, ...schemaProblems],
    set,
    unset,
  }
}

/**
 * Reads one configuration file.
 * @throws ConfigurationError that names every bad setting and no value
 */
export function loadConfigFile<Value>(schema: z.ZodType<Value>, source: ConfigSource): Value {
  const { value, problems } = readConfigFile(schema, source)
  if (value === undefined || problems.length > 0) throw badConfiguration(problems)
  return value
}

/**
 * As `loadConfigFile`, but problems become findings. A file that only lacks variables is read as if they were set, so
 * that its other problems are found in the same pass.
 * @param findings takes the problems, each of which stops a start
 */
export function examineConfigFile<Value>(
  schema: z.ZodType<Value>,
  source: ConfigSource,
  findings: Findings,
): Value | undefined {
  const { value, problems, unset } = readConfigFile(schema, source)
  findings.problems(problems)
  if (value !== undefined) return value
  const needed = unset.filter(({ variable }) =>
    problems.some((problem) => problem.endsWith(settingHint(variable))),
  )
  // A URL, which fits settings that are URLs and those that are any text.
  const standIns = Object.fromEntries(needed.map(({ variable }) => [variable, 'http://unset.invalid']))
  return readConfigFile(schema, { ...source, variables: { ...source.variables, ...standIns } }).value
}

/** As `ruleInWords`, but it names unknown members: files of the operator may be quoted, callers' bodies may not. */
export function ruleOfFile(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'unrecognized_keys'
    ? `has what nothing reads: ${issue.keys.join(', ')}`
    : ruleInWords(issue)
}

const settingHint = (variable: string) => ` (set ${variable})`

export function badConfiguration(problems: readonly string[]): ConfigurationError {
  return ConfigurationError.listing('Bad configuration:', problems)
}

/** One line per issue: where, what is expected, and which variable would supply it. */
export function describeIssues(
  name: string,
  { value, error }: { readonly value: unknown; readonly error: z.ZodError },
  unset: readonly Placeholder[],
  prefix = '',
): readonly string[] {
  return error.issues.map((issue) => {
    const path = joinPath(prefix, issue.path)
    const variable = unset.find((placeholder) => placeholder.path === path)?.variable
    const hint = variable === undefined ? '' : settingHint(variable)
    return `${name}: ${path === '' ? 'the file' : path}: ${brokenRule(value, issue)}${hint}`
  })
}

/** Appends to each problem the variables from which the value at its place came; the place follows the file's name. */
export function nameVariables(
  name: string,
  problems: readonly string[],
  set: readonly Placeholder[],
): readonly string[] {
  return problems.map((problem) => {
    // A problem reads `<file>: <place>: <text>` or `<file>: <place> <text>`.
    const [place = ''] = problem.slice(`${name}: `.length).split(/:? /, 1)
    // A variable may stand at the place itself, in an element of its list, or in a member of its object.
    const sources = set.filter(
      ({ path }) => path === place || path.startsWith(`${place}[`) || place.startsWith(`${path}.`),
    )
    return sources.length === 0
      ? problem
      : `${problem} (${sources.map(({ variable }) => variable).join(', ')})`
  })
}

function joinPath(prefix: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    return text === '' ? String(part) : `${text}.${String(part)}`
  }, prefix)
}
