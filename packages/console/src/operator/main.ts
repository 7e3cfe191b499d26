import { type Answer, ask, dollars, listOf, memberOf, textOf, timeText } from '../shared/answers.ts'
import { element, facts, fieldOf, foreign, onSend, show, table, visible } from '../shared/elements.ts'
import { explanationView, policyQuestion, policyView } from '../shared/policies.ts'
import { timelineOf } from '../shared/timeline.ts'
import { healthView } from './health.ts'

/** Stands in this variable and nowhere else: neither in storage, nor in an address. */
let secret = ''

const headers = (): Readonly<Record<string, string>> => (secret === '' ? {} : { 'x-api-key': secret })
const admin = (path: string, body?: object): Promise<Answer> => ask(`/admin/${path}`, headers(), body)
const part = encodeURIComponent

onSend('enter', async (fields) => {
  secret = fieldOf(fields, 'secret')
  const [keys, suspense, parked, audit, health] = await Promise.all([
    admin('keys'),
    admin('suspense?limit=100'),
    admin('requests/parked?limit=100'),
    admin('audit?limit=50'),
    admin('health'),
  ])
  show('keys', keysView(keys))
  show('topups', topUpsView(suspense))
  show('parked', parkedView(parked))
  show('audit', auditView(audit))
  show('health', healthView(health))
  return `Loaded: ${listOf(keys, 'keys').length} keys, ${listOf(parked, 'requests').length} that make no progress.`
})

onSend(
  'policy-form',
  async (fields) => {
    const id = fieldOf(fields, 'id')
    show('policy', policyView(await admin(`keys/${part(id)}/policy`)))
    return `Policy of ${visible(id)}.`
  },
  'policy',
)

onSend(
  'explain-form',
  async (fields) => {
    show('explanation', explanationView(await admin(...policyQuestion(fields))))
    return 'Dry run done.'
  },
  'explanation',
)

onSend(
  'balance-form',
  async (fields) => {
    const balance = await admin(`balances/${part(fieldOf(fields, 'wallet'))}`)
    show(
      'balance',
      facts([
        ['Available', dollars(textOf(balance, 'availableMicroUsd'))],
        ['Held', dollars(textOf(balance, 'heldMicroUsd'))],
        ['Pending', dollars(textOf(balance, 'pendingMicroUsd'))],
      ]),
    )
    return 'Balance loaded.'
  },
  'balance',
)

onSend(
  'request-form',
  async (fields) => {
    const id = part(fieldOf(fields, 'id'))
    const [explained, timeline] = await Promise.all([
      admin(`requests/${id}`),
      timelineOf(`/admin/requests/${id}/timeline`, headers()),
    ])
    const parked = memberOf(explained, 'parked')
    show(
      'request',
      facts([
        ['Status', foreign(textOf(explained, 'status'))],
        ['Order', element('code', {}, foreign(textOf(explained, 'orderId')))],
        ['Stage', foreign(textOf(explained, 'stage') || '—')],
        ['Parked', foreign(textOf(parked, 'meaning') || 'no')],
      ]),
      timeline,
    )
    return 'Request loaded.'
  },
  'request',
)

function keysView(keys: Answer): HTMLElement {
  const rows = listOf(keys, 'keys').map((key) => [
    element('code', {}, textOf(key, 'id')),
    foreign(textOf(key, 'label')),
    textOf(key, 'status'),
    element('code', {}, foreign(textOf(key, 'wallet') || '—')),
    timeText(textOf(key, 'createdAt')),
  ])
  return table('API keys', ['Id', 'Label', 'Status', 'Wallet', 'Created'], rows, 'There are no keys.')
}

function topUpsView(suspense: Answer): HTMLElement {
  const rows = listOf(suspense, 'entries').map((entry) => [
    textOf(entry, 'id'),
    dollars(textOf(entry, 'amountMicroUsd')),
    element('code', {}, foreign(textOf(entry, 'from'))),
    element('code', {}, foreign(textOf(entry, 'transactionHash'))),
    foreign(textOf(entry, 'why')),
  ])
  return table('Transfers in suspense', ['Id', 'Amount', 'From', 'Transaction', 'Why'], rows, 'None waits.')
}

function parkedView(parked: Answer): HTMLElement {
  const rows = listOf(parked, 'requests').map((request) => [
    element('code', {}, foreign(textOf(request, 'requestId') || textOf(request, 'subject'))),
    foreign(textOf(request, 'reason')),
    foreign(textOf(request, 'status') || '—'),
    timeText(textOf(request, 'since')),
    element('code', {}, foreign(textOf(request, 'account') || '—')),
    foreign(textOf(request, 'report') || '—'),
    foreign(textOf(request, 'endsBy')),
  ])
  return table(
    'What makes no progress',
    ['Request', 'Reason', 'Status', 'Since', 'Account', 'Report', 'Ends by'],
    rows,
    'Everything moves.',
  )
}

function auditView(audit: Answer): HTMLElement {
  const rows = listOf(audit, 'lines').map((line) => [
    timeText(textOf(line, 'at')),
    foreign(textOf(line, 'actor')),
    foreign(textOf(line, 'action')),
    foreign(textOf(line, 'subject')),
    foreign(textOf(line, 'outcome')),
    foreign(JSON.stringify(memberOf(line, 'details'))),
  ])
  return table(
    'Last 50 lines',
    ['At', 'Who', 'Action', 'Subject', 'Outcome', 'Details'],
    rows,
    'No line yet.',
  )
}
