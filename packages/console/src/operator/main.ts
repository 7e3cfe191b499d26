import { type Answer, ask, dollars, listOf, memberOf, textOf, timeText } from '../shared/answers.ts'
import { type Chains, chainsOf } from '../shared/chains.ts'
import {
  announce,
  copyable,
  facts,
  fieldOf,
  foreign,
  found,
  moveFocus,
  onSend,
  renew,
  show,
  table,
  visible,
} from '../shared/elements.ts'
import { explanationView, policyQuestion, policyView } from '../shared/policies.ts'
import { refreshing } from '../shared/refresh.ts'
import { auditView } from './audit.ts'
import { healthView } from './health.ts'
import { forgetKeys, listenForKeys, showKeys } from './keys.ts'
import { overviewViews } from './overview.ts'
import { requestsOf } from './requests.ts'

/** Stands in this variable and nowhere else: neither in storage, nor in an address. */
let secret = ''
let chains: Chains = chainsOf({})

const headers = (): Readonly<Record<string, string>> => (secret === '' ? {} : { 'x-api-key': secret })
const admin = (path: string, body?: object): Promise<Answer> => ask(`/admin/${path}`, headers(), body)
const part = encodeURIComponent

const refreshed = refreshing(load, (error) => {
  leave()
  announce(error.message)
})

/** Links lead nowhere while the sections are empty. */
function reveal(isSignedIn: boolean): void {
  for (const id of ['main', 'sections', 'skip']) found(id, HTMLElement).hidden = !isSignedIn
}

/** Nothing of what the secret opened stays on the page. */
function leave(): void {
  refreshed.end()
  reveal(false)
  secret = ''
  forgetKeys()
  for (const id of ['moving', 'stuck', 'earned', 'holdings']) show(id)
  for (const id of ['health', 'policy', 'explanation', 'balance', 'topups']) show(id)
  for (const id of ['parked', 'request', 'audit']) show(id)
  moveFocus('secret')
}

onSend('enter', async (fields) => {
  leave()
  secret = fieldOf(fields, 'secret')
  await refreshed.start()
  reveal(true)
  return 'Loaded.'
})

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
    for (const [id, view] of Object.entries(views)) renew(id, view)
    showKeys(keys)
    renew('topups', topUpsView(suspense))
    renew('parked', parkedView(parked))
    renew('audit', auditView(audit))
    renew('health', healthView(health))
  }
}

listenForKeys({ admin, reload: refreshed.again })

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
    const found = listOf(await admin(`requests?named=${part(fieldOf(fields, 'named'))}`), 'requests')
    show('request', ...(await requestsOf(found, { admin, headers: headers(), chains })))
    return found.length === 1 ? 'Request loaded.' : `${found.length} requests loaded.`
  },
  'request',
)

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
