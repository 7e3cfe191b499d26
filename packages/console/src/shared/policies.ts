import { type Answer, dollars, listOf, memberOf, microUsdOf, textOf, timeText } from './answers.ts'
import { element, facts, fieldOf, foreign, table } from './elements.ts'

const perUsage = ['User', 'Day', 'Used', 'Requests']

/** Path and body of a dry run of a key's policy. @throws Error for an invalid amount */
export function policyQuestion(fields: FormData): readonly [string, object] {
  const user = fieldOf(fields, 'user')
  const question = {
    ...{ user, recipient: user },
    originChainId: Number(fieldOf(fields, 'origin')),
    destinationChainId: Number(fieldOf(fields, 'destination')),
    amountMicroUsd: microUsdOf(fieldOf(fields, 'amount')),
  }
  return [`keys/${encodeURIComponent(fieldOf(fields, 'id'))}/policy/explain`, question]
}

/** The rules of a key as they are written, and what of them is used up. */
export function policyView(shown: Answer): HTMLElement {
  const policy = memberOf(shown, 'policy')
  const rules = Object.entries(memberOf(policy, 'rules')).map(
    ([name, value]) => [name, foreign(typeof value === 'string' ? value : JSON.stringify(value))] as const,
  )
  const usage = listOf(shown, 'usage').map((line) => [
    foreign(textOf(line, 'user') || 'all users'),
    textOf(line, 'day') === '' ? 'ever' : timeText(textOf(line, 'day')).slice(0, 10),
    dollars(textOf(line, 'usedMicroUsd')),
    textOf(line, 'count'),
  ])
  const none = element('p', { class: 'none' }, 'No rule restricts this key.')
  return element(
    'div',
    {},
    rules.length === 0 ? none : facts([['Version', textOf(policy, 'version')], ...rules]),
    table('Used', perUsage, usage, 'Nothing is used yet.'),
  )
}

/** Table of a dry run's result, one line per rule. */
export function explanationView(explained: Answer): HTMLElement {
  const checks = listOf(explained, 'checks').map((check) => [
    foreign(textOf(check, 'rule')),
    textOf(check, 'passed') === 'true' ? 'passed' : 'failed',
    foreign(textOf(check, 'limit') || '—'),
    foreign(textOf(check, 'used') || '—'),
    foreign(textOf(check, 'requested') || '—'),
  ])
  const headings = ['Rule', 'Result', 'Limit', 'Used', 'Asked for']
  return element(
    'div',
    {},
    facts([['Outcome', foreign(textOf(explained, 'outcome'))]]),
    table('Rules, in the unit of each', headings, checks, 'No rule was asked.'),
  )
}
