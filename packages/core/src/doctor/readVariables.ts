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
  readonly findings: Findings
}

/** A value that the operator did not fill in: `configs/*.example.env` write such values as `<description>`. */
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
  const setVariables = Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ''),
  )
  // Variables outside the schema count, too: configuration files refer to them.
  const unfilled = Object.keys(setVariables).filter((name) => placeholder.test(setVariables[name] ?? ''))
  for (const name of unfilled) findings.wrong(name, 'is still the placeholder of its example file')
  const entries = Object.entries(schema.shape).flatMap(([name, member]) => {
    const isSet = Object.hasOwn(setVariables, name)
    const parsed = z.safeParse(member, isSet ? setVariables[name] : undefined)
    if (parsed.success) return parsed.data === undefined ? [] : [[name, parsed.data] as const]
    if (unfilled.includes(name)) return []
    if (!isSet) findings.missing(name)
    else findings.wrong(name, refusalOf(member, setVariables[name] ?? ''))
    return []
  })
  const whole = schema.safeParse(setVariables)
  // CAST: each value is the output of its own member.
  const values = Object.fromEntries(entries) as Partial<z.output<Schema>>
  return { values, whole: whole.success ? whole.data : undefined, findings }
}

const jsonSchemaOf = (member: z.core.$ZodType) =>
  z.toJSONSchema(member, { io: 'input', unrepresentable: 'any' })

type JsonSchema = ReturnType<typeof jsonSchemaOf>

/** Refusal of a value, which is shown only if it must be a number or a listed word: it is no secret then. */
function refusalOf(member: z.core.$ZodType, text: string): string {
  const schema = jsonSchemaOf(member)
  const { error } = z.safeParse(member, text, { error: (issue) => wordedRule(schema) ?? ruleInWords(issue) })
  const rules = [...new Set(error?.issues.map(({ message }) => message))].join(' and ')
  return isNumeric(schema) || schema.enum !== undefined ? `is ${shownText(text)} and ${rules}` : rules
}

const isNumeric = ({ type }: JsonSchema) => type === 'integer' || type === 'number'

/** Rule for a number, a choice of words or a URL; `undefined` for any other value. */
function wordedRule(schema: JsonSchema): string | undefined {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, enum: choices, format } = schema
  if (isNumeric(schema)) {
    const kind = type === 'integer' ? 'a whole number' : 'a number'
    const range =
      maximum < Number.MAX_SAFE_INTEGER ? `from ${minimum} to ${maximum}` : `of at least ${minimum}`
    return `must be ${kind} ${range}`
  }
  const lastComma = /, (?=[^,]*$)/
  if (choices !== undefined) return `must be ${choices.join(', ').replace(lastComma, ' or ')}`
  return format === 'uri' ? 'must be a URL that begins with https:// or http://' : undefined
}

/** Every key that a service takes is longer. */
const shownCharactersMax = 15

/** Text of a value for a refusal. A longer one is not shown: it may be a secret in the wrong variable. */
export function shownText(text: string): string {
  return text.length > shownCharactersMax ? `${text.length} characters long` : JSON.stringify(text)
}

/** Parts of a list, trimmed, empty ones included; a blank text has none. */
export function splitList(text: string | undefined, separator = ';'): readonly string[] {
  return (text ?? '').trim() === '' ? [] : (text ?? '').split(separator).map((part) => part.trim())
}

export type SettingEntry = {
  readonly text: string
  /** For refusals, e.g. `PEERS entry 2`. */
  readonly entryName: string
}

/**
 * Entries of a list setting, with the name that refusals give each.
 * @throws ConfigurationError for an empty entry: the list may lack one that its author meant
 */
export function listEntries(
  setting: string,
  list: string | undefined,
  separator?: string,
): readonly SettingEntry[] {
  return splitList(list, separator).map((text, index) => {
    const entryName = `${setting} entry ${index + 1}`
    if (text !== '') return { text, entryName }
    throw new ConfigurationError(`${entryName} is empty: leave out the separator, or fill it in.`)
  })
}
