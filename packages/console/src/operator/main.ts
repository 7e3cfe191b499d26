import { type Answer, ask, dollars, listOf, memberOf, textOf, timeText } from '../shared/answers.ts'
import { type Chains, chainsOf } from '../shared/chains.ts'
import {
  announce,
  copyable,
  elementById,
  factList,
  fieldOf,
  foreign,
  moveFocus,
  onSend,
  refreshContent,
  safeText,
  setContent,
  table,
} from '../shared/elements.ts'
import { explanationView, policyQuestion, policyView } from '../shared/policies.ts'
import { refreshing } from '../shared/refresh.ts'
import { auditView } from './audit.ts'
import { healthView } from './health.ts'
import { forgetKeys, listenForKeys, showKeys } from './keys.ts'
import { overviewViews } from './overview.ts'
import { requestViews } from './requests.ts'

// Script of the operator's page, which the admin listener serves. It signs in with `ADMIN_API_KEY`, loads all sections
// from /admin/ and refreshes them. Ids are those of elements in the page's HTML.

/** `ADMIN_API_KEY` as the operator typed it. It is kept only in this variable: not in storage and not in a URL. */
let secret = ''
let chains: Chains = chainsOf({})

const headers = (): Readonly<Record<string, string>> => (secret === '' ? {} : { 'x-api-key': secret })
const admin = (path: string, body?: object): Promise<Answer> => ask(`/admin/${path}`, headers(), body)
const urlPart = encodeURIComponent

const refresher = refreshing(load, (error) => {
  leave()
  announce(error.message)
})

/** Shows or hides the sections, and the links to them. */
function reveal(isSignedIn: boolean): void {
  for (const id of ['main', 'sections', 'skip']) elementById(id, HTMLElement).hidden = !isSignedIn
}

/** Signs out: forgets the secret and empties every section that it opened. */
function leave(): void {
  refresher.end()
  reveal(false)
  secret = ''
  forgetKeys()
  for (const id of ['moving', 'stuck', 'earned', 'holdings']) setContent(id)
  for (const id of ['health', 'policy', 'explanation', 'balance', 'topups']) setContent(id)
  for (const id of ['parked', 'request', 'audit']) setContent(id)
  moveFocus('secret')
}

onSend('enter', async (fields) => {
  // Empties what an earlier sign-in has shown.
  leave()
  secret = fieldOf(fields, 'secret')
  await refresher.start()
  reveal(true)
  return 'Loaded.'
})

/** Fetches everything that the page shows by itself. @returns draws it; see `refreshing` */
async function load(): Promise<() => void> {
  const [overview, status, keys, suspense, parked, audit, health] = await Promise.all([
    admin('overview'),
    admin('status'),
    admin('keys'),
    admin('suspense?limit=100'),
    admin('requests/parked?limit=100'),
    admin('audit?limit=50'),
    admin('health'),
  ])
  return () => {
    chains = chainsOf(health)
    const views = overviewViews(overview, status, memberOf(health, 'readiness'), chains)
    for (const [id, view] of Object.entries(views)) refreshContent(id, view)
    showKeys(keys)
    refreshContent('topups', topUpsView(suspense))
    refreshContent('parked', parkedView(parked))
    refreshContent('audit', auditView(audit))
    refreshContent('health', healthView(health))
  }
}

listenForKeys({ admin, reload: refresher.again })

onSend(
  'policy-form',
  async (fields) => {
    const id = fieldOf(fields, 'id')
    setContent('policy', policyView(await admin(`keys/${urlPart(id)}/policy`)))
    return `Policy of ${safeText(id)}.`
  },
  'policy',
)

onSend(
  'explain-form',
  async (fields) => {
    setContent('explanation', explanationView(await admin(...policyQuestion(fields))))
    return 'Dry run done.'
  },
  'explanation',
)

onSend(
  'balance-form',
  async (fields) => {
    const balance = await admin(`balances/${urlPart(fieldOf(fields, 'wallet'))}`)
    setContent(
      'balance',
      factList([
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
    const named = urlPart(fieldOf(fields, 'named'))
    const requests = listOf(await admin(`requests?named=${named}`), 'requests')
    setContent('request', ...(await requestViews(requests, { admin, headers: headers(), chains })))
    return requests.length === 1 ? 'Request loaded.' : `${requests.length} requests loaded.`
  },
  'request',
)

/** Top-ups in suspense: payments to custody that no sponsor could be credited for. */
function topUpsView(suspense: Answer): HTMLElement {
  const rows = listOf(suspense, 'entries').map((entry) => {
    const id = textOf(entry, 'id')
    const hash = textOf(entry, 'transactionHash')
    return [
      id,
      dollars(textOf(entry, 'amountMicroUsd')),
      copyable(textOf(entry, 'from'), `payer of ${id}`),
      copyable(hash, `transaction of ${id}`, chains.transactionAt(textOf(entry, 'chainId'), hash)),
      foreign(textOf(entry, 'why')),
    ]
  })
  return table('Transfers in suspense', ['Id', 'Amount', 'From', 'Transaction', 'Why'], rows, 'None waits.')
}

/** Requests and other subjects that make no progress and wait for an operator. */
function parkedView(parked: Answer): HTMLElement {
  const rows = listOf(parked, 'requests').map((request) => {
    const id = textOf(request, 'requestId') || textOf(request, 'subject')
    return [
      copyable(id, `request ${id}`),
      foreign(textOf(request, 'reason')),
      foreign(textOf(request, 'status') || '—'),
      timeText(textOf(request, 'since')),
      copyable(textOf(request, 'account'), `account of ${id}`),
      foreign(textOf(request, 'report') || '—'),
      foreign(textOf(request, 'endsBy')),
    ]
  })
  return table(
    'What makes no progress',
    ['Request', 'Reason', 'Status', 'Since', 'Account', 'Report', 'Ends by'],
    rows,
    'Everything moves.',
  )
}
