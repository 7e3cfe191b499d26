import {
  type Answer,
  ask,
  askFile,
  countText,
  dollars,
  listOf,
  microUsdOf,
  RefusedError,
  textOf,
  timeText,
} from '../shared/answers.ts'
import { type Chains, chainsOf } from '../shared/chains.ts'
import {
  announce,
  copyable,
  element,
  elementById,
  factList,
  fieldOf,
  foreign,
  moveFocus,
  onPress,
  onSend,
  refreshContent,
  safeText,
  setChoices,
  setContent,
  table,
} from '../shared/elements.ts'
import { explanationView, policyQuestion, policyView } from '../shared/policies.ts'
import { refreshing } from '../shared/refresh.ts'
import { timelineOf } from '../shared/timeline.ts'
import { account, sendCall, signText } from '../shared/wallet.ts'
import { spendingView } from './spending.ts'

// Script of the sponsors' page. A sponsor signs in with its wallet and sees its balance, holds, keys and requests, and can
// top up its balance. Ids are those of elements in the page's HTML.

/** Session of the current sign-in. The token is kept in this variable only. */
let session: { readonly wallet: string; readonly token: string } | undefined
let chains: Chains = chainsOf({})
/** Top-up that is shown and not sent yet: a transfer of the token `to` to custody. */
let preparedTopUp: { readonly chainId: number; readonly to: string; readonly data: string } | undefined

const urlPart = encodeURIComponent

/** Calls a route below api/ in the session; a 401 signs the user out. */
async function askInSession(path: string, body?: object): Promise<Answer> {
  try {
    return await ask(`api/${path}`, headers(), body)
  } catch (error) {
    throw leaveIfExpired(error)
  }
}

const headers = (): Readonly<Record<string, string>> =>
  session === undefined ? {} : { 'x-sponsor-session': session.token }

/** Signs the user out if the error is a 401. @returns the error, for rethrowing */
function leaveIfExpired(error: unknown): unknown {
  if (error instanceof RefusedError && error.status === 401) leave()
  return error
}

const refresher = refreshing(load, (error) => {
  leave()
  announce(error.message)
})

/** Signs out: forgets the session and empties every section that it opened. */
function leave(): void {
  refresher.end()
  session = undefined
  preparedTopUp = undefined
  for (const id of [
    'balance',
    'holds',
    'spending',
    'keys',
    'webhooks',
    'policy',
    'explanation',
    'topup',
    'topups',
    'requests',
    'request',
  ])
    setContent(id)
  elementById('send', HTMLButtonElement).hidden = true
  reveal(false)
  moveFocus('sign-in')
}

/** Shows or hides the sections, and the links to them. */
function reveal(isSignedIn: boolean): void {
  for (const id of ['main', 'leave', 'sections', 'skip']) elementById(id, HTMLElement).hidden = !isSignedIn
}

onSend('enter', async () => {
  const wallet = await account()
  const challenge = await askInSession('challenge', { wallet })
  announce('Sign the text in your wallet.')
  const signature = await signText(wallet, textOf(challenge, 'message'))
  const opened = await askInSession('session', { wallet, nonce: textOf(challenge, 'nonce'), signature })
  session = { wallet, token: textOf(opened, 'token') }
  await refresher.start()
  reveal(true)
  return `Signed in as ${safeText(wallet)} until ${timeText(textOf(opened, 'expiresAt'))}.`
})

onPress('leave', async () => {
  // A body, though empty, makes the request a POST.
  await askInSession('session/end', {}).finally(leave)
  return 'Signed out.'
})

/** Fetches everything that the page shows by itself. @returns draws it; see `refreshing` */
async function load(): Promise<() => void> {
  // `ask` and not `askInSession`: `refreshing` handles a 401 itself, and ignores it after the user has signed out.
  const [overview, spending, chainsAnswer] = await Promise.all([
    ask('api/overview', headers()),
    ask('api/spending?days=30', headers()),
    ask('/chains', {}),
  ])
  return () => {
    chains = chainsOf(chainsAnswer)
    draw(overview, spending)
  }
}

function draw(overview: Answer, spending: Answer): void {
  refreshContent(
    'balance',
    factList([
      ['Available', dollars(textOf(overview, 'availableMicroUsd'))],
      ['Held', dollars(textOf(overview, 'heldMicroUsd'))],
      ['Pending', dollars(textOf(overview, 'pendingMicroUsd'))],
      ['Wallet', copyable(textOf(overview, 'wallet'), 'wallet')],
    ]),
  )
  refreshContent('holds', holdsView(overview))
  refreshContent('spending', spendingView(spending))
  refreshContent('keys', keysView(overview))
  refreshContent('webhooks', webhooksView(overview))
  refreshContent('topups', topUpsView(overview))
  refreshContent('requests', requestsView(overview))
  setChoices(
    'statement-month',
    monthsUntil(new Date()).map((month) => [month, month]),
  )
  const keyChoices = listOf(overview, 'keys').map((key) => {
    const id = textOf(key, 'id')
    return [id, `${id} ${safeText(textOf(key, 'label'))}`] as const
  })
  for (const id of ['policy-key', 'explain-key']) setChoices(id, keyChoices)
  const requestIds = listOf(overview, 'requests').map((request) => textOf(request, 'requestId'))
  setChoices(
    'request-id',
    requestIds.map((id) => [id, safeText(id)]),
  )
}

onSend('statement-form', async (fields) => {
  const { file, name } = await askFile(
    `api/statement?month=${urlPart(fieldOf(fields, 'month'))}`,
    headers(),
  ).catch((error: unknown) => Promise.reject(leaveIfExpired(error)))
  // Browsers save a file with a given name only through a link.
  const address = URL.createObjectURL(file)
  element('a', { href: address, download: name }).click()
  URL.revokeObjectURL(address)
  return `Downloaded ${name}.`
})

/** This month and the twelve before in UTC, newest first, as `2026-11`. */
function monthsUntil(now: Date): readonly string[] {
  return Array.from({ length: 13 }, (_none, monthsAgo) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1)).toISOString().slice(0, 7),
  )
}

onSend(
  'policy-form',
  async (fields) => {
    const id = fieldOf(fields, 'id')
    setContent('policy', policyView(await askInSession(`keys/${urlPart(id)}/policy`)))
    return `Policy of ${safeText(id)}.`
  },
  'policy',
)

onSend(
  'explain-form',
  async (fields) => {
    setContent('explanation', explanationView(await askInSession(...policyQuestion(fields))))
    return 'Dry run done.'
  },
  'explanation',
)

onSend(
  'topup-form',
  async (fields) => {
    preparedTopUp = undefined
    elementById('send', HTMLButtonElement).hidden = true
    const amountMicroUsd = microUsdOf(fieldOf(fields, 'amount'))
    const call = await askInSession(`top-up?amountMicroUsd=${urlPart(amountMicroUsd)}`)
    preparedTopUp = {
      chainId: Number(textOf(call, 'chainId')),
      to: textOf(call, 'to'),
      data: textOf(call, 'data'),
    }
    setContent(
      'topup',
      factList([
        ['Amount', dollars(amountMicroUsd)],
        ['Chain', foreign(chains.nameOf(textOf(call, 'chainId')))],
        ['Token', copyable(textOf(call, 'to'), 'token')],
        ['Custody', copyable(textOf(call, 'custody'), 'custody')],
        ['Credited to', copyable(textOf(call, 'wallet'), 'credited to')],
      ]),
      element('pre', { tabindex: '0', 'aria-label': 'Calldata' }, textOf(call, 'data')),
    )
    elementById('send', HTMLButtonElement).hidden = false
    return 'Nothing is sent yet: look at it, then send it.'
  },
  'topup',
)

onPress('send', async () => {
  if (session === undefined || preparedTopUp === undefined) throw new Error('Prepare a top-up first.')
  const hash = await sendCall(session.wallet, preparedTopUp)
  // Forgotten, so that a second press cannot pay twice.
  preparedTopUp = undefined
  elementById('send', HTMLButtonElement).hidden = true
  moveFocus('topup-title')
  return `Sent: ${safeText(hash)}. It is credited once it is final.`
})

onSend(
  'request-form',
  async (fields) => {
    setContent(
      'request',
      await timelineOf(`/requests/${urlPart(fieldOf(fields, 'id'))}/timeline`, {}, chains),
    )
    return 'Timeline loaded.'
  },
  'request',
)

function holdsView(overview: Answer): HTMLElement {
  const rows = listOf(overview, 'holds').map((hold) => [
    copyable(textOf(hold, 'requestId'), textOf(hold, 'requestId')),
    textOf(hold, 'keyId'),
    dollars(textOf(hold, 'amountMicroUsd')),
    textOf(hold, 'isPinned') === 'true' ? 'deposited' : 'quoted',
    timeText(textOf(hold, 'expiresAt')),
  ])
  return table('Open holds', ['Request', 'Key', 'Amount', 'State', 'Until'], rows, 'Nothing is held.')
}

function keysView(overview: Answer): HTMLElement {
  const rows = listOf(overview, 'keys').map((key) => [
    element('code', {}, textOf(key, 'id')),
    foreign(textOf(key, 'label')),
    timeText(textOf(key, 'linkedAt')),
  ])
  return table('Keys that this wallet pays for', ['Id', 'Label', 'Linked'], rows, 'None.')
}

function webhooksView(overview: Answer): HTMLElement {
  const rows = listOf(overview, 'webhooks').map((webhook) => [
    element('code', {}, textOf(webhook, 'keyId')),
    foreign(textOf(webhook, 'host')),
    countText(textOf(webhook, 'waiting')),
    countText(textOf(webhook, 'failed')),
    foreign(textOf(webhook, 'problem') || '—'),
  ])
  const headings = ['Key', 'To', 'Waiting', 'Given up', 'Last problem']
  return table('Webhooks', headings, rows, 'No key has a webhook: the operator sets one.')
}

const topUpStates: Readonly<Record<string, string>> = {
  seen: 'seen, not final yet',
  final: 'credited',
  reversed: 'taken back: its chain dropped it',
}

function topUpsView(overview: Answer): HTMLElement {
  const rows = listOf(overview, 'topUps').map((topUp) => {
    const [hash, chainId] = [textOf(topUp, 'transactionHash'), textOf(topUp, 'chainId')]
    return [
      copyable(hash, hash, chains.transactionAt(chainId, hash)),
      dollars(textOf(topUp, 'amountMicroUsd')),
      foreign(topUpStates[textOf(topUp, 'state')] ?? textOf(topUp, 'state')),
      foreign(`${chains.nameOf(chainId)}, block ${textOf(topUp, 'blockNumber')}`),
      timeText(textOf(topUp, 'seenAt')),
    ]
  })
  const headings = ['Transaction', 'Amount', 'State', 'Chain', 'Seen']
  return table('The newest top-ups', headings, rows, 'No top-up yet.')
}

function requestsView(overview: Answer): HTMLElement {
  const rows = listOf(overview, 'requests').map((request) => [
    copyable(textOf(request, 'requestId'), textOf(request, 'requestId')),
    textOf(request, 'keyId'),
    foreign(
      textOf(request, 'reason') === ''
        ? textOf(request, 'status')
        : `${textOf(request, 'status')}: ${textOf(request, 'reason')}`,
    ),
    foreign(
      `${chains.nameOf(textOf(request, 'originChainId'))} → ${chains.nameOf(textOf(request, 'destinationChainId'))}`,
    ),
    dollars(textOf(request, 'debitMicroUsd')),
    timeText(textOf(request, 'createdAt')),
  ])
  const headings = ['Request', 'Key', 'Status', 'Chains', 'Debit', 'Made']
  return table('The 50 newest requests', headings, rows, 'No request yet.')
}
