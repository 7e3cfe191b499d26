import type { $ZodIssue, $ZodRawIssue } from 'zod/v4/core'

const namedCharactersMax = 64

/** Dotted path of the field that an issue is about. Names are cut: a caller may have chosen one of any length. */
export const pathOf = ({ path }: $ZodIssue): string =>
  path.map((key) => String(key).slice(0, namedCharactersMax)).join('.')

/**
 * Tells callers which rule a field breaks: the end of a sentence that starts with the field's path.
 * @param data the parsed body or query
 */
export function brokenRule(data: unknown, { path, message }: $ZodIssue): string {
  // The value comes from `data`, not from the issue: the issue holds a query's numbers after their conversion.
  const value = path.reduce<unknown>(
    (holder, key) => (typeof holder === 'object' && holder !== null ? Reflect.get(holder, key) : undefined),
    data,
  )
  return value === undefined ? `is required and ${message}` : message
}

/** Words a schema's rule for the `error` option of a zod parse: `must …` or `is not valid`. They repeat no value. */
export function ruleInWords(issue: $ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(issue.expected)}`
    case 'invalid_format':
      return issue.format === 'regex' ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`
    case 'too_small':
      return describeBound(issue, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
    case 'too_big':
      return describeBound(issue, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
    case 'invalid_value':
      return `must be ${listed(issue.values.map(quoted), 'or')}`
    case 'unrecognized_keys': {
      const names = listed(issue.keys.slice(0, 3).map(quoted), 'and')
      return `must not have the ${issue.keys.length === 1 ? 'member' : 'members'} ${names}`
    }
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_union':
      return describeForms(issue)
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues[0]?.message ?? 'is not valid'
    default:
      return 'is not valid'
  }
}

type UnionIssue = {
  readonly input: unknown
  readonly errors: readonly (readonly $ZodIssue[])[]
  /** Allowed values of the member that tells the union's forms apart, where there is one. */
  readonly options?: readonly unknown[]
}

/** Tells for each form of a union what the value lacks. */
function describeForms({ input, errors, options }: UnionIssue): string {
  if (options !== undefined) return `must be ${listed(options.map(quoted), 'or')}`
  const rules = errors.flatMap(([issue]) => {
    if (issue === undefined) return []
    return [
      issue.path.length === 0 ? issue.message : `its member ${pathOf(issue)} ${brokenRule(input, issue)}`,
    ]
  })
  const wanted = [...new Set(rules)]
  const must = 'must be '
  return wanted.every((rule) => rule.startsWith(must))
    ? `${must}${listed(
        wanted.map((rule) => rule.slice(must.length)),
        'or',
      )}`
    : wanted.join(', or ')
}

function quoted(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, namedCharactersMax) : value)
}

/** `a, b, or c`: an item may hold an `and` of its own. */
function listed(items: readonly string[], last: 'and' | 'or'): string {
  if (items.length < 3) return items.join(` ${last} `)
  return `${items.slice(0, -1).join(', ')}, ${last} ${items.at(-1)}`
}

type BoundIssue = { readonly origin: string }

function describeBound({ origin }: BoundIssue, relation: string, bound: number | bigint): string {
  if (origin === 'string') return `must have ${relation} ${counted(bound, 'character')}`
  if (origin === 'array' || origin === 'set') return `must have ${relation} ${counted(bound, 'item')}`
  return `must be ${relation} ${bound}`
}

const counted = (count: number | bigint, noun: string): string =>
  `${count} ${noun}${Number(count) === 1 ? '' : 's'}`

function withArticle(expected: string): string {
  const noun = nouns.get(expected) ?? expected
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** JSON's own names of types. */
const nouns: ReadonlyMap<string, string> = new Map([
  ['int', 'integer'],
  ['record', 'object'],
])
