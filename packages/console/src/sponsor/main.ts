import {
  type Answer,
  ask,
  dollars,
  listOf,
  microUsdOf,
  RefusedError,
  textOf,
  timeText,
} from '../shared/answers.ts'
import {
  announce,
  element,
  facts,
  fieldOf,
  foreign,
  found,
  moveFocus,
  onPress,
  onSend,
  show,
  table,
  visible,
} from '../shared/elements.ts'
import { explanationView, policyQuestion, policyView } from '../shared/policies.ts'
import { timelineOf } from '../shared/timeline.ts'
import { spendingView } from './spending.ts'
import { account, sendCall, signText } from './wallet.ts'

/** Of this sign-in. The token stands in this variable and nowhere else. */
let session: { readonly wallet: string; readonly token: string } | undefined
let prepared: { readonly chainId: number; readonly to: string; readonly data: string } | undefined

const part = encodeURIComponent

/** Asks with the token; a session that is over ends on the page too. */
async function read(path: string, body?: object): Promise<Answer> {
  try {
    return await ask(`api/${path}`, session === undefined ? {} : { 'x-sponsor-session': session.token }, body)
  } catch (error) {
    if (error instanceof RefusedError && error.status === 401) leave()
    throw error
  }
}

function leave(): void {
  session = undefined
  prepared = undefined
  for (const id of [
    'balance',
    'holds',
    'spending',
    'keys',
    'policy',
    'explanation',
    'topup',
    'requests',
    'request',
  ])
    show(id)
  found('send', HTMLButtonElement).hidden = true
  reveal(false)
  moveFocus('sign-in')
}

/** Links lead nowhere while the sections are hidden. */
function reveal(isSignedIn: boolean): void {
  for (const id of ['main', 'leave', 'sections', 'skip']) found(id, HTMLElement).hidden = !isSignedIn
}

onSend('enter', async () => {
  const wallet = await account()
  const challenge = await read('challenge', { wallet })
  announce('Sign the text in your wallet.')
  const signature = await signText(wallet, textOf(challenge, 'message'))
  const opened = await read('session', { wallet, nonce: textOf(challenge, 'nonce'), signature })
  session = { wallet, token: textOf(opened, 'token') }
  await load()
  reveal(true)
  announce(`Signed in as ${visible(wallet)} until ${timeText(textOf(opened, 'expiresAt'))}.`)
})

onPress('leave', async () => {
  await read('session/end', {}).finally(leave)
  announce('Signed out.')
})

async function load(): Promise<void> {
  const [overview, spending] = await Promise.all([read('overview'), read('spending?days=30')])
  show(
    'balance',
    facts([
      ['Available', dollars(textOf(overview, 'availableMicroUsd'))],
      ['Held', dollars(textOf(overview, 'heldMicroUsd'))],
      ['Pending', dollars(textOf(overview, 'pendingMicroUsd'))],
      ['Wallet', element('code', {}, foreign(textOf(overview, 'wallet')))],
    ]),
  )
  show('holds', holdsView(overview))
  show('spending', spendingView(spending))
  show('keys', keysView(overview))
  show('requests', requestsView(overview))
  const keys = listOf(overview, 'keys')
  for (const id of ['policy-key', 'explain-key'])
    show(
      id,
      ...keys.map((key) =>
        option(textOf(key, 'id'), `${textOf(key, 'id')} ${visible(textOf(key, 'label'))}`),
      ),
    )
  const requests = listOf(overview, 'requests').map((request) => textOf(request, 'requestId'))
  show('request-id', ...requests.map((id) => option(id, visible(id))))
}

function option(value: string, text: string): HTMLOptionElement {
  return element('option', { value }, text)
}

onSend(
  'policy-form',
  async (fields) => {
    show('policy', policyView(await read(`keys/${part(fieldOf(fields, 'id'))}/policy`)))
  },
  'policy',
)

onSend(
  'explain-form',
  async (fields) => {
    show('explanation', explanationView(await read(...policyQuestion(fields))))
  },
  'explanation',
)

onSend(
  'topup-form',
  async (fields) => {
    prepared = undefined
    found('send', HTMLButtonElement).hidden = true
    const amount = microUsdOf(fieldOf(fields, 'amount'))
    const call = await read(`top-up?amountMicroUsd=${part(amount)}`)
    prepared = {
      chainId: Number(textOf(call, 'chainId')),
      to: textOf(call, 'to'),
      data: textOf(call, 'data'),
    }
    show(
      'topup',
      facts([
        ['Amount', dollars(amount)],
        ['Chain', textOf(call, 'chainId')],
        ['Token', element('code', {}, foreign(textOf(call, 'to')))],
        ['Custody', element('code', {}, foreign(textOf(call, 'custody')))],
        ['Credited to', element('code', {}, foreign(textOf(call, 'wallet')))],
      ]),
      element('pre', { tabindex: '0', 'aria-label': 'Calldata' }, textOf(call, 'data')),
    )
    found('send', HTMLButtonElement).hidden = false
  },
  'topup',
)

onPress('send', async () => {
  if (session === undefined || prepared === undefined) throw new Error('Prepare a top-up first.')
  const hash = await sendCall(session.wallet, prepared)
  // Sent once: the next one is prepared anew.
  prepared = undefined
  found('send', HTMLButtonElement).hidden = true
  moveFocus('topup-title')
  announce(`Sent: ${visible(hash)}. It is credited once it is final.`)
})

onSend(
  'request-form',
  async (fields) => {
    show('request', await timelineOf(`/requests/${part(fieldOf(fields, 'id'))}/timeline`, {}))
  },
  'request',
)

function holdsView(overview: Answer): HTMLElement {
  const rows = listOf(overview, 'holds').map((hold) => [
    element('code', {}, foreign(textOf(hold, 'requestId'))),
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

function requestsView(overview: Answer): HTMLElement {
  const rows = listOf(overview, 'requests').map((request) => [
    element('code', {}, foreign(textOf(request, 'requestId'))),
    textOf(request, 'keyId'),
    foreign(
      textOf(request, 'reason') === ''
        ? textOf(request, 'status')
        : `${textOf(request, 'status')}: ${textOf(request, 'reason')}`,
    ),
    `${textOf(request, 'originChainId')} → ${textOf(request, 'destinationChainId')}`,
    dollars(textOf(request, 'debitMicroUsd')),
    timeText(textOf(request, 'createdAt')),
  ])
  const headings = ['Request', 'Key', 'Status', 'Chains', 'Debit', 'Made']
  return table('The 50 newest requests', headings, rows, 'No request yet.')
}
