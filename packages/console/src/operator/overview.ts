import { type Answer, countText, dollars, listOf, memberOf, textOf, timeText } from '../shared/answers.ts'
import type { Chains } from '../shared/chains.ts'
import { copyable, element, facts, foreign, table } from '../shared/elements.ts'

/** Does money move, what is stuck, what was earned: a section each, in this order. */
export type OverviewViews = Readonly<Record<'moving' | 'stuck' | 'earned' | 'holdings', HTMLElement>>

/**
 * @param status as `causeway status` tells it
 * @param readiness as GET /ready tells it
 */
export function overviewViews(
  overview: Answer,
  status: Answer,
  readiness: Answer,
  chains: Chains,
): OverviewViews {
  return {
    moving: movingView(overview, status, readiness),
    stuck: stuckView(overview, chains),
    earned: earnedView(overview, chains),
    holdings: holdingsView(overview, chains),
  }
}

const stages: Readonly<Record<string, string>> = {
  filling: 'to be filled',
  filled: 'filled, not attested yet',
  refunding: 'to be given back',
}

const states: Readonly<Record<string, string>> = {
  ...{ moves: 'moves', partly: 'moves in part', stands: 'stands', unknown: 'cannot be told' },
}

function movingView(overview: Answer, status: Answer, readiness: Answer): HTMLElement {
  const parts = listOf(status, 'parts').map((one) => [
    foreign(textOf(one, 'part')),
    states[textOf(one, 'state')] ?? foreign(textOf(one, 'state')),
    timeText(textOf(one, 'since')),
  ])
  const problems = listOf(status, 'problems').map((one) => [
    foreign(textOf(one, 'what')),
    timeText(textOf(one, 'since')),
    textOf(one, 'do'),
  ])
  const flights = listOf(overview, 'inFlight')
  const unattested = flights.find((flight) => textOf(flight, 'stage') === 'filled')
  const rows = flights.map((flight) => [
    stages[textOf(flight, 'stage')] ?? foreign(textOf(flight, 'stage')),
    countText(textOf(flight, 'requests')),
    atLeast(dollars(textOf(flight, 'outMicroUsd')), flight),
    timeText(textOf(flight, 'oldest')),
  ])
  const statuses = listOf(overview, 'statuses').map((one) => [
    foreign(textOf(one, 'status')),
    textOf(one, 'requests'),
  ])
  return element(
    'div',
    {},
    facts([
      ['Ready', textOf(readiness, 'ready') === 'true' ? 'yes' : 'no'],
      [
        'Filled, not attested',
        unattested === undefined
          ? '$0.000000'
          : atLeast(dollars(textOf(unattested, 'outMicroUsd')), unattested),
      ],
    ]),
    table('Does it move', ['Part', 'State', 'Since when not'], parts, 'Nothing is told.'),
    table('To look at', ['What', 'Since', 'What to do'], problems, 'Everything moves.'),
    table(
      'On its way',
      ['Stage', 'Requests', 'Recipients get', 'Oldest since'],
      rows,
      'No order is on its way.',
    ),
    table(
      textOf(overview, 'areStatusesCut') === 'true'
        ? 'Requests by status, of the newest changes of 24 hours'
        : 'Requests by status, of 24 hours',
      ['Status', 'Requests'],
      statuses,
      'No request changed in 24 hours.',
    ),
  )
}

function stuckView(overview: Answer, chains: Chains): HTMLElement {
  const work = listOf(overview, 'oldestWork').map((one, index) => [
    foreign(textOf(one, 'kind')),
    foreign(textOf(one, 'state')),
    copyable(textOf(one, 'requestId'), `request of work ${index + 1}`),
    foreign(chains.nameOf(textOf(one, 'chainId'))),
    timeText(textOf(one, 'createdAt')),
    textOf(one, 'attempts'),
    foreign(textOf(one, 'reason') || '—'),
  ])
  const exposed = listOf(overview, 'unattested').map((one) => {
    const [paid, max] = [textOf(one, 'paidMicroUsd'), textOf(one, 'maxMicroUsd')]
    return [
      foreign(textOf(one, 'chainId') === '' ? 'all' : chains.nameOf(textOf(one, 'chainId'))),
      ...[dollars(paid), dollars(max), partText(paid, max)],
    ]
  })
  const webhooks = listOf(overview, 'failingWebhooks').map((webhook) => [
    element('code', {}, textOf(webhook, 'keyId')),
    foreign(textOf(webhook, 'label')),
    foreign(textOf(webhook, 'host')),
    countText(textOf(webhook, 'waiting')),
    countText(textOf(webhook, 'failed')),
    foreign(textOf(webhook, 'problem') || '—'),
  ])
  return element(
    'div',
    {},
    table(
      'Oldest open work',
      ['Kind', 'State', 'Request', 'Chain', 'Since', 'Tries', 'Said'],
      work,
      'No work is open.',
    ),
    table(
      'Paid and not attested, as solvers tell it',
      ['Chain', 'Paid', 'Cap', 'Part'],
      exposed,
      'No solver told within a minute what it paid.',
    ),
    table(
      'Failing webhooks',
      ['Key', 'Label', 'To', 'Waiting', 'Given up', 'Last problem'],
      webhooks,
      'All webhooks arrive.',
    ),
    oraclesTable(overview, chains),
  )
}

function oraclesTable(overview: Answer, chains: Chains): HTMLElement {
  const rows = listOf(overview, 'oracles').map((oracle) => {
    const halted = oracle['haltedChainIds']
    const answers = memberOf(oracle, 'answers')
    return [
      foreign(textOf(oracle, 'name')),
      copyable(textOf(oracle, 'signer'), `signer of ${textOf(oracle, 'name')}`),
      ...['signed', 'denied', 'nothing'].map((said) => textOf(answers, said) || '0'),
      foreign(
        (Array.isArray(halted) ? halted : []).map((id) => chains.nameOf(String(id))).join(', ') || 'none',
      ),
    ]
  })
  return table(
    'Oracles, as this process was answered since its start',
    ['Oracle', 'Signer', 'Signed', 'Denied', 'Silent', 'Halted chains'],
    rows,
    'No oracle is configured.',
  )
}

function earnedView(overview: Answer, chains: Chains): HTMLElement {
  const days = listOf(overview, 'days').map((day) => [
    textOf(day, 'day'),
    atLeast(textOf(day, 'requests'), day),
    atLeast(dollars(textOf(day, 'volumeMicroUsd')), day),
    atLeast(dollars(textOf(day, 'serviceMicroUsd')), day),
    atLeast(dollars(textOf(day, 'gasMicroUsd')), day),
  ])
  const ledger = listOf(overview, 'ledger').map((one) => [
    foreign(textOf(one, 'account')),
    foreign(textOf(one, 'chainId') === '' ? 'any' : chains.nameOf(textOf(one, 'chainId'))),
    foreign(`${textOf(one, 'amount')} ${textOf(one, 'currency')}`),
  ])
  return element(
    'div',
    {},
    table(
      'Settled per day of UTC, at the prices that were quoted',
      ['Day', 'Requests', 'Volume', 'Service fees', 'Gas fees'],
      days,
      'Nothing was settled in seven days.',
    ),
    table('The books', ['Account', 'Chain', 'Balance'], ledger, 'The books are empty.'),
  )
}

function holdingsView(overview: Answer, chains: Chains): HTMLElement {
  const inventory = listOf(overview, 'inventory').flatMap((chain) => {
    const name = foreign(chains.nameOf(textOf(chain, 'chainId')))
    const holdings = listOf(chain, 'holdings')
    if (holdings.length === 0) return [[name, '—', foreign(textOf(chain, 'problem') || 'not read'), '—', '—']]
    return holdings.map((held) => [
      foreign(chains.nameOf(textOf(chain, 'chainId'))),
      foreign(textOf(held, 'symbol')),
      foreign(textOf(held, 'amount')),
      foreign(textOf(held, 'usd') === '' ? '—' : `$${textOf(held, 'usd')}`),
      textOf(held, 'isGas') === 'true' ? 'gas' : 'inventory',
    ])
  })
  const sponsors = listOf(overview, 'sponsors').map((sponsor, index) => [
    copyable(textOf(sponsor, 'wallet'), `sponsor ${index + 1}`),
    textOf(sponsor, 'keys'),
    dollars(textOf(sponsor, 'availableMicroUsd')),
    dollars(textOf(sponsor, 'heldMicroUsd')),
    textOf(sponsor, 'isFrozen') === 'true' ? 'frozen' : 'moves',
  ])
  return element(
    'div',
    {},
    table('Fill wallets', ['Chain', 'Currency', 'Amount', 'Worth', 'For'], inventory, 'No chain is quoted.'),
    table(
      'Sponsors, least money first',
      ['Wallet', 'Keys', 'Available', 'Held', 'State'],
      sponsors,
      'No wallet pays for a key.',
    ),
  )
}

/** Rounded up: what is full never looks less. */
function partText(paid: string, max: string): string {
  const [part, whole] = [BigInt(paid), BigInt(max)]
  return whole === 0n ? '—' : `${(part * 100n + whole - 1n) / whole} %`
}

/** A sum whose oldest part was left out. */
function atLeast(text: string, sum: Answer): string {
  return textOf(sum, 'isCut') === 'true' ? `at least ${text}` : text
}
