import { safeParse } from 'zod'
import type { $ZodIssue, $ZodRawIssue, $ZodType } from 'zod/v4/core'
import { RequestFailure } from './failure.ts'

type Checked = { value: unknown } | { error: RequestFailure }

/**
 * Fastify validator compiler over zod. A refusal names the first broken rule as one plain sentence
 * that never repeats the value. A schema's own `error` text wins over the sentence made here.
 */
export function compileValidator({ schema }: { schema: $ZodType }): (data: unknown) => Checked {
  return (data) => {
    const result = safeParse(schema, data)
    if (result.success) return { value: result.data }
    // Wording costs zod its compiled path (1 µs against 3), so only refusals pay for it.
    const worded = safeParse(schema, data, { error: describeRule })
    return { error: toRequestFailure(worded.success ? result.error.issues : worded.error.issues) }
  }
}

/** Exported for routes that parse by hand: the same failure as a schema on the route. */
export function toRequestFailure(issues: readonly $ZodIssue[]): RequestFailure {
  const [first] = issues
  if (first === undefined) throw new Error('a failed parse has an issue')
  const field = first.path.map(String).join('.')
  const others = issues.length === 1 ? '' : ` (and ${issues.length - 1} more)`
  const detail = `${field === '' ? 'The request' : field} ${first.message}${others}.`
  return new RequestFailure('invalid_request', 'Invalid request.', {
    detail,
    ...(field !== '' && { field }),
  })
}

/** The broken rule as the rest of a sentence that starts with the field's path. */
function describeRule(issue: $ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is required and must be ${withArticle(issue.expected)}`
        : `must be ${withArticle(issue.expected)}`
    case 'invalid_format':
      return issue.pattern === undefined ? `must be a valid ${issue.format}` : `must match ${issue.pattern}`
    case 'too_small':
      return describeBound(issue, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
    case 'too_big':
      return describeBound(issue, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'unrecognized_keys':
      return `has ${issue.keys.length === 1 ? 'a member' : 'members'} that this request does not know`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_union':
      return 'matches none of the accepted forms'
    default:
      return 'is not valid'
  }
}

type BoundIssue = { readonly origin: string }

function describeBound({ origin }: BoundIssue, relation: string, bound: number | bigint): string {
  if (origin === 'string') return `must have ${relation} ${bound} characters`
  if (origin === 'array' || origin === 'set') return `must have ${relation} ${bound} items`
  return `must be ${relation} ${bound}`
}

function withArticle(expected: string): string {
  const noun = expected === 'int' ? 'integer' : expected
  return `${/^[aeio]/.test(noun) ? 'an' : 'a'} ${noun}`
}
