import { type Answer, memberOf, RefusedError, textOf, timeText } from '../shared/answers.ts'
import type { Chains } from '../shared/chains.ts'
import { copyable, element, factList, foreign } from '../shared/elements.ts'
import { timelineOf } from '../shared/timeline.ts'

type PageAccess = {
  readonly admin: (path: string) => Promise<Answer>
  readonly headers: Readonly<Record<string, string>>
  readonly chains: Chains
}

/** Views of the requests that the operator's search found, each with what stops it and its timeline. */
export function requestViews(
  requests: readonly Answer[],
  access: PageAccess,
): Promise<readonly HTMLElement[]> {
  return Promise.all(requests.map((request) => requestView(request, access)))
}

async function requestView(request: Answer, { admin, headers, chains }: PageAccess): Promise<HTMLElement> {
  const id = textOf(request, 'requestId')
  const [explanation, timeline] = await Promise.all([
    admin(`requests/${encodeURIComponent(id)}`).catch(withoutOrder),
    timelineOf(`/admin/requests/${encodeURIComponent(id)}/timeline`, headers, chains),
  ])
  const parked = memberOf(explanation, 'parked')
  const chainName = (member: string) => foreign(chains.nameOf(textOf(request, member)))
  const summary = factList([
    ['Request', copyable(id, `request ${id}`)],
    ['Found as', textOf(request, 'by')],
    ['Status', foreign(textOf(request, 'status'))],
    ['From', chainName('originChainId')],
    ['To', chainName('destinationChainId')],
    ['Made', timeText(textOf(request, 'createdAt'))],
    ['Order', copyable(textOf(explanation, 'orderId'), `order of ${id}`)],
    ['Stage', foreign(textOf(explanation, 'stage') || '—')],
    ['Stopped', foreign(textOf(parked, 'meaning') || 'no')],
    ['Ends by', foreign(textOf(parked, 'endsBy') || '—')],
  ])
  return element('div', {}, summary, timeline)
}

/** Takes 404 for an empty explanation: a request that its user executes alone has no order to explain. */
function withoutOrder(error: unknown): Answer {
  if (error instanceof RefusedError && error.status === 404) return {}
  throw error
}
