import { type Answer, countText, dollars, listOf, memberOf, textOf, timeText } from '../shared/answers.ts'
import type { Chains } from '../shared/chains.ts'
import { copyable, element, factList, foreign, table } from '../shared/elements.ts'

/** Sections of the operator's page by element id: does money move, what is stuck, earnings, holdings of wallets. */
export type OverviewViews = Readonly<Record<'moving' | 'stuck' | 'earned' | 'holdings', HTMLElement>>

/**
 * Makes the sections from the answers of the admin routes.
 * @param overview of GET /admin/overview
 * @param status of GET /admin/status, the same as `causeway status` prints
 * @param readiness report of GET /ready
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

const partStates: Readonly<Record<string, string>> = {
  moves: 'moves',
  partly: 'moves in part',
  stands: 'stands',
  unknown: 'cannot be told',
}

function movingView(overview: Answer, status: Answer, readiness: Answer): HTMLElement {
  const partRows = listOf(status, 'parts').map((part) => [
    foreign(textOf(part, 'part')),
    partStates[textOf(part, 'state')] ?? foreign(textOf(part, 'state')),
    timeText(textOf(part, 'since')),
  ])
  const problemRows = listOf(status, 'problems').map((problem) => [
    foreign(textOf(problem, 'what')),
    timeText(textOf(problem, 'since')),
    textOf(problem, 'do'),
  ])
  const inFlight = listOf(overview, 'inFlight')
  const unattested = inFlight.find((sum) => textOf(sum, 'stage') === 'filled')
  const inFlightRows = inFlight.map((sum) => [
    stages[textOf(sum, 'stage')] ?? foreign(textOf(sum, 'stage')),
    countText(textOf(sum, 'requests')),
    atLeast(dollars(textOf(sum, 'outMicroUsd')), sum),
    timeText(textOf(sum, 'oldest')),
  ])
  const statusRows = listOf(overview, 'statuses').map((sum) => [
    foreign(textOf(sum, 'status')),
    textOf(sum, 'requests'),
  ])
  return element(
    'div',
    {},
    factList([
      ['Ready', textOf(readiness, 'ready') === 'true' ? 'yes' : 'no'],
      [
        'Filled, not attested',
        unattested === undefined
          ? '$0.000000'
          : atLeast(dollars(textOf(unattested, 'outMicroUsd')), unattested),
      ],
    ]),
    table('Does it move', ['Part', 'State', 'Since when not'], partRows, 'Nothing is told.'),
    table('To look at', ['What', 'Since', 'What to do'], problemRows, 'Everything moves.'),
    table(
      'On its way',
      ['Stage', 'Requests', 'Recipients get', 'Oldest since'],
      inFlightRows,
      'No order is on its way.',
    ),
    table(
      textOf(overview, 'areStatusesCut') === 'true'
        ? 'Requests by status, of the newest changes of 24 hours'
        : 'Requests by status, of 24 hours',
      ['Status', 'Requests'],
      statusRows,
      'No request changed in 24 hours.',
    ),
  )
}

function stuckView(overview: Answer, chains: Chains): HTMLElement {
  const workRows = listOf(overview, 'oldestWork').map((item, index) => [
    foreign(textOf(item, 'kind')),
    foreign(textOf(item, 'state')),
    copyable(textOf(item, 'requestId'), `request of work ${index + 1}`),
    foreign(chains.nameOf(textOf(item, 'chainId'))),
    timeText(textOf(item, 'createdAt')),
    textOf(item, 'attempts'),
    foreign(textOf(item, 'reason') || '—'),
  ])
  const exposureRows = listOf(overview, 'unattested').map((exposure) => {
    const [paid, cap] = [textOf(exposure, 'paidMicroUsd'), textOf(exposure, 'maxMicroUsd')]
    return [
      foreign(textOf(exposure, 'chainId') === '' ? 'all' : chains.nameOf(textOf(exposure, 'chainId'))),
      ...[dollars(paid), dollars(cap), percentText(paid, cap)],
    ]
  })
  const webhookRows = listOf(overview, 'failingWebhooks').map((webhook) => [
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
      workRows,
      'No work is open.',
    ),
    table(
      'Paid and not attested, as solvers tell it',
      ['Chain', 'Paid', 'Cap', 'Part'],
      exposureRows,
      'No solver told within a minute what it paid.',
    ),
    table(
      'Failing webhooks',
      ['Key', 'Label', 'To', 'Waiting', 'Given up', 'Last problem'],
      webhookRows,
      'All webhooks arrive.',
    ),
    oraclesTable(overview, chains),
  )
}

function oraclesTable(overview: Answer, chains: Chains): HTMLElement {
  const rows = listOf(overview, 'oracles').map((oracle) => {
    const haltedIds: unknown = oracle['haltedChainIds']
    const haltedNames = (Array.isArray(haltedIds) ? haltedIds : []).map((id) => chains.nameOf(String(id)))
    const answerCounts = memberOf(oracle, 'answers')
    return [
      foreign(textOf(oracle, 'name')),
      copyable(textOf(oracle, 'signer'), `signer of ${textOf(oracle, 'name')}`),
      ...['signed', 'denied', 'nothing'].map((kind) => textOf(answerCounts, kind) || '0'),
      foreign(haltedNames.join(', ') || 'none'),
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
  const dayRows = listOf(overview, 'days').map((day) => [
    textOf(day, 'day'),
    atLeast(textOf(day, 'requests'), day),
    atLeast(dollars(textOf(day, 'volumeMicroUsd')), day),
    atLeast(dollars(textOf(day, 'serviceMicroUsd')), day),
    atLeast(dollars(textOf(day, 'gasMicroUsd')), day),
  ])
  const accountRows = listOf(overview, 'ledger').map((account) => [
    foreign(textOf(account, 'account')),
    foreign(textOf(account, 'chainId') === '' ? 'any' : chains.nameOf(textOf(account, 'chainId'))),
    foreign(`${textOf(account, 'amount')} ${textOf(account, 'currency')}`),
  ])
  return element(
    'div',
    {},
    table(
      'Settled per day of UTC, at the prices that were quoted',
      ['Day', 'Requests', 'Volume', 'Service fees', 'Gas fees'],
      dayRows,
      'Nothing was settled in seven days.',
    ),
    table('The books', ['Account', 'Chain', 'Balance'], accountRows, 'The books are empty.'),
  )
}

function holdingsView(overview: Answer, chains: Chains): HTMLElement {
  const inventoryRows = listOf(overview, 'inventory').flatMap((chain) => {
    const chainName = chains.nameOf(textOf(chain, 'chainId'))
    const holdings = listOf(chain, 'holdings')
    if (holdings.length === 0)
      return [[foreign(chainName), '—', foreign(textOf(chain, 'problem') || 'not read'), '—', '—']]
    return holdings.map((holding) => [
      foreign(chainName),
      foreign(textOf(holding, 'symbol')),
      foreign(textOf(holding, 'amount')),
      foreign(textOf(holding, 'usd') === '' ? '—' : `$${textOf(holding, 'usd')}`),
      textOf(holding, 'isGas') === 'true' ? 'gas' : 'inventory',
    ])
  })
  const sponsorRows = listOf(overview, 'sponsors').map((sponsor, index) => [
    copyable(textOf(sponsor, 'wallet'), `sponsor ${index + 1}`),
    textOf(sponsor, 'keys'),
    dollars(textOf(sponsor, 'availableMicroUsd')),
    dollars(textOf(sponsor, 'heldMicroUsd')),
    textOf(sponsor, 'isFrozen') === 'true' ? 'frozen' : 'moves',
  ])
  return element(
    'div',
    {},
    table(
      'Fill wallets',
      ['Chain', 'Currency', 'Amount', 'Worth', 'For'],
      inventoryRows,
      'No chain is quoted.',
    ),
    table(
      'Sponsors, least money first',
      ['Wallet', 'Keys', 'Available', 'Held', 'State'],
      sponsorRows,
      'No wallet pays for a key.',
    ),
  )
}

/** Rounded up, so that a full cap never shows as less than 100 %. */
function percentText(paidMicroUsd: string, capMicroUsd: string): string {
  const [paid, cap] = [BigInt(paidMicroUsd), BigInt(capMicroUsd)]
  return cap === 0n ? '—' : `${(paid * 100n + cap - 1n) / cap} %`
}

/** Marks a sum as a lower bound if the service left out its oldest entries (`isCut`). */
function atLeast(text: string, sum: Answer): string {
  return textOf(sum, 'isCut') === 'true' ? `at least ${text}` : text
}
