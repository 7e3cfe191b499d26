import type { $ZodRawIssue } from 'zod/v4/core'

/** A broken rule as the rest of a sentence that starts with a field's path; repeats no value. For `error` of a parse. */
export function ruleInWords(issue: $ZodRawIssue): string {
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
