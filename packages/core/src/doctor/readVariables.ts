import { z } from 'zod'
import { ConfigurationError } from '../errors.ts'
import { ruleInWords } from '../ruleInWords.ts'
import { createFindings, type Findings } from './finding.ts'

type Source = Readonly<Record<string, string | undefined>>

export type ReadVariables<Schema extends z.ZodObject> = {
  /** Readable values; invalid variables, and required ones that are not set, are absent. */
  readonly values: Partial<z.output<Schema>>
  /** All of them, where none is wrong. */
  readonly whole: z.output<Schema> | undefined
  readonly found: Findings
}

/** As `configs/*.example.env` write what an operator fills in; variables of the configuration files are among them. */
const placeholder = /^<[a-z ]+>$/

/**
 * Reads every variable of a schema by itself, so that a bad one hides no other. An empty variable counts as unset.
 * @returns findings that name variables, and a value only where it can be no secret
 */
export function readVariables<Schema extends z.ZodObject>(
  schema: Schema,
  source: Source,
): ReadVariables<Schema> {
  const findings = createFindings()
  const set = Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ''),
  )
  const unfilled = Object.keys(set).filter((name) => placeholder.test(set[name] ?? ''))
  for (const name of unfilled) findings.wrong(name, 'is still the placeholder of its example file')
  const entries = Object.entries(schema.shape).flatMap(([name, member]) => {
    const parsed = z.safeParse(member, Object.hasOwn(set, name) ? set[name] : undefined)
    if (parsed.success) return parsed.data === undefined ? [] : [[name, parsed.data] as const]
    if (unfilled.includes(name)) return []
    if (!Object.hasOwn(set, name)) findings.missing(name)
    else findings.wrong(name, refusalOf(member, set[name] ?? ''))
    return []
  })
  const whole = schema.safeParse(set)
  // CAST: each value is the output of its own member.
  const values = Object.fromEntries(entries) as Partial<z.output<Schema>>
  return { values, whole: whole.success ? whole.data : undefined, found: findings }
}

/** Says what a value must be, and what it is where its setting is a number or one of a few words. */
function refusalOf(member: z.core.$ZodType, text: string): string {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, enum: words, format } = jsonSchemaOf(member)
  const isNumber = type === 'integer' || type === 'number'
  const kind = type === 'integer' ? 'a whole number' : 'a number'
  const range = maximum < Number.MAX_SAFE_INTEGER ? `from ${minimum} to ${maximum}` : `of at least ${minimum}`
  const wanted = () => {
    if (isNumber) return `must be ${kind} ${range}`
    if (words !== undefined) return `must be ${words.join(', ').replace(/, (?=[^,]*$)/, ' or ')}`
    return format === 'uri' ? 'must be a URL that begins with https:// or http://' : undefined
  }
  const { error } = z.safeParse(member, text, { error: (issue) => wanted() ?? ruleInWords(issue) })
  const rules = [...new Set(error?.issues.map(({ message }) => message))].join(' and ')
  return isNumber || words !== undefined ? `is ${heldText(text)} and ${rules}` : rules
}

const jsonSchemaOf = (member: z.core.$ZodType) =>
  z.toJSONSchema(member, { io: 'input', unrepresentable: 'any' })

/** No key that a service takes is so short. */
const shownCharactersMax = 15

/** A value as a refusal may show it: a secret that was put into the wrong variable is not. */
export function heldText(text: string): string {
  return text.length > shownCharactersMax ? `${text.length} characters long` : JSON.stringify(text)
}

/** Parts of a list, without the blanks around each; none of a blank text. An empty part is one, too. */
export function splitList(text: string | undefined, separator = ';'): readonly string[] {
  return (text ?? '').trim() === '' ? [] : (text ?? '').split(separator).map((part) => part.trim())
}

export type ListEntry = {
  readonly text: string
  /** For refusals, e.g. `PEERS entry 2`. */
  readonly place: string
}

/**
 * Entries of a list setting.
 * @throws ConfigurationError for an empty one: a list that was put together wrongly may lack what it was for
 */
export function listEntries(
  setting: string,
  list: string | undefined,
  separator?: string,
): readonly ListEntry[] {
  return splitList(list, separator).map((text, index) => {
    const place = `${setting} entry ${index + 1}`
    if (text !== '') return { text, place }
    throw new ConfigurationError(`${place} is empty: leave out the separator, or fill it in.`)
  })
}
