import { type Answer, memberOf, RefusedError, textOf, timeText } from '../shared/answers.ts'
import type { Chains } from '../shared/chains.ts'
import { copyable, element, facts, foreign } from '../shared/elements.ts'
import { timelineOf } from '../shared/timeline.ts'

type Asking = {
  readonly admin: (path: string) => Promise<Answer>
  readonly headers: Readonly<Record<string, string>>
  readonly chains: Chains
}

/** Each request that was found, with what stops it and its timeline. */
export function requestsOf(found: readonly Answer[], asking: Asking): Promise<readonly HTMLElement[]> {
  return Promise.all(found.map((request) => requestOf(request, asking)))
}

async function requestOf(request: Answer, { admin, headers, chains }: Asking): Promise<HTMLElement> {
  const id = textOf(request, 'requestId')
  const [explained, timeline] = await Promise.all([
    admin(`requests/${encodeURIComponent(id)}`).catch(withoutOrder),
    timelineOf(`/admin/requests/${encodeURIComponent(id)}/timeline`, headers, chains),
  ])
  const parked = memberOf(explained, 'parked')
  const side = (name: string) => foreign(chains.nameOf(textOf(request, name)))
  const account = facts([
    ['Request', copyable(id, `request ${id}`)],
    ['Found as', textOf(request, 'by')],
    ['Status', foreign(textOf(request, 'status'))],
    ['From', side('originChainId')],
    ['To', side('destinationChainId')],
    ['Made', timeText(textOf(request, 'createdAt'))],
    ['Order', copyable(textOf(explained, 'orderId'), `order of ${id}`)],
    ['Stage', foreign(textOf(explained, 'stage') || '—')],
    ['Stopped', foreign(textOf(parked, 'meaning') || 'no')],
    ['Ends by', foreign(textOf(parked, 'endsBy') || '—')],
  ])
  return element('div', {}, account, timeline)
}

/** A request that its user carries out alone has no order to explain. */
function withoutOrder(error: unknown): Answer {
  if (error instanceof RefusedError && error.status === 404) return {}
  throw error
}
