import { type Answer, dollars, listOf, memberOf, microUsdOf, textOf, timeText } from './answers.ts'
import { element, factList, fieldOf, foreign, table } from './elements.ts'

// Views of a key's sponsorship policy, for the pages of operators and sponsors.

const usageHeadings = ['User', 'Day', 'Used', 'Requests']

/** Path and body of the request that tries a key's policy without a quote. @throws FieldError for an invalid amount */
export function policyQuestion(fields: FormData): readonly [string, object] {
  const user = fieldOf(fields, 'user')
  const trial = {
    user,
    // The form has no field for a recipient.
    recipient: user,
    originChainId: Number(fieldOf(fields, 'origin')),
    destinationChainId: Number(fieldOf(fields, 'destination')),
    amountMicroUsd: microUsdOf(fieldOf(fields, 'amount')),
  }
  return [`keys/${encodeURIComponent(fieldOf(fields, 'id'))}/policy/explain`, trial]
}

/** The rules of a key's policy, and the usage that counts against them. */
export function policyView(answer: Answer): HTMLElement {
  const policy = memberOf(answer, 'policy')
  const rules = Object.entries(memberOf(policy, 'rules')).map(
    ([name, value]) => [name, foreign(typeof value === 'string' ? value : JSON.stringify(value))] as const,
  )
  const usageRows = listOf(answer, 'usage').map((line) => [
    foreign(textOf(line, 'user') || 'all users'),
    textOf(line, 'day') === '' ? 'ever' : timeText(textOf(line, 'day')).slice(0, 10),
    dollars(textOf(line, 'usedMicroUsd')),
    textOf(line, 'count'),
  ])
  const noRules = element('p', { class: 'none' }, 'No rule restricts this key.')
  return element(
    'div',
    {},
    rules.length === 0 ? noRules : factList([['Version', textOf(policy, 'version')], ...rules]),
    table('Used', usageHeadings, usageRows, 'Nothing is used yet.'),
  )
}

/** Result of a trial of a policy, one row per rule. */
export function explanationView(explanation: Answer): HTMLElement {
  const checkRows = listOf(explanation, 'checks').map((check) => [
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
    factList([['Outcome', foreign(textOf(explanation, 'outcome'))]]),
    table('Rules, in the unit of each', headings, checkRows, 'No rule was asked.'),
  )
}
