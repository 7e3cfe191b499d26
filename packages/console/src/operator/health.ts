import { type Answer, ageText, listOf, memberOf, textOf, timeText } from '../shared/answers.ts'
import { element, factList, foreign, table } from '../shared/elements.ts'

/**
 * Section of the operator's page, from GET /admin/health: readiness, stopped chains, networks that changed their
 * parameters, prices with their sources, and chains with their endpoints.
 */
export function healthView(health: Answer): HTMLElement {
  const readiness = memberOf(health, 'readiness')
  const market = memberOf(health, 'market')
  const checks = Object.entries(memberOf(readiness, 'checks')).map(
    ([name, state]) => [foreign(name), foreign(String(state))] as const,
  )
  return element(
    'div',
    {},
    factList([
      ['Ready', textOf(readiness, 'ready') === 'true' ? 'yes' : 'no'],
      ['Market', foreign(textOf(market, 'status'))],
    ]),
    table('Readiness', ['Check', 'State'], checks, 'Nothing is checked.'),
    table(
      'Stopped',
      ['Chain', 'By', 'Since', 'Reason'],
      listOf(health, 'stops').map(stopRow),
      'No chain is stopped.',
    ),
    table(
      'Networks that changed',
      ['Chain', 'What', 'Seen'],
      listOf(health, 'networks').map(networkRow),
      'Networks are as the files say.',
    ),
    table(
      'Prices',
      ['Price', 'USD', 'Confidence', 'Sources'],
      listOf(market, 'prices').map(priceRow),
      'None.',
    ),
    table(
      'Chains',
      ['Chain', 'State', 'Quotable', 'Head', 'Its age', 'Last failure'],
      listOf(market, 'chains').map(chainRow),
      'None.',
    ),
    table(
      'Endpoints that agree',
      ['Chain', 'On', 'Agreed', 'Required', 'Configured', 'Dissenting'],
      listOf(market, 'chains').flatMap(agreementRows),
      'Nothing was agreed on yet.',
    ),
  )
}

function stopRow(stop: Answer) {
  const chainId = textOf(stop, 'chainId')
  return [
    // 0 stands for a stop of all chains.
    chainId === '0' ? 'all' : foreign(chainId),
    foreign(textOf(stop, 'actor')),
    timeText(textOf(stop, 'since')),
    foreign(textOf(stop, 'reason')),
  ]
}

function networkRow(network: Answer) {
  const chainId = textOf(network, 'chainId')
  return [
    // 0 stands for a change that concerns no single chain.
    chainId === '0' ? '—' : foreign(chainId),
    foreign(textOf(network, 'what')),
    foreign(textOf(network, 'text')),
  ]
}

function priceRow(price: Answer) {
  const sources = listOf(price, 'sources').length
  const refusal = textOf(price, 'refusal')
  return [
    foreign(textOf(price, 'key')),
    foreign(textOf(price, 'usd') || '—'),
    foreign(refusal === '' ? textOf(price, 'confidence') : `${textOf(price, 'confidence')}: ${refusal}`),
    String(sources),
  ]
}

function chainRow(chain: Answer) {
  const head = memberOf(chain, 'head')
  return [
    foreign(textOf(chain, 'chain')),
    foreign(textOf(chain, 'state')),
    textOf(chain, 'quotable') === 'true' ? 'yes' : 'no',
    foreign(textOf(head, 'number') || '—'),
    ageText(textOf(head, 'ageMs')),
    foreign(textOf(chain, 'lastError') || '—'),
  ]
}

function agreementRows(chain: Answer) {
  return listOf(chain, 'agreement').map((agreement) => [
    foreign(textOf(chain, 'chain')),
    foreign(textOf(agreement, 'on')),
    textOf(agreement, 'agreed'),
    textOf(agreement, 'required'),
    textOf(agreement, 'configured'),
    textOf(agreement, 'dissenting'),
  ])
}
