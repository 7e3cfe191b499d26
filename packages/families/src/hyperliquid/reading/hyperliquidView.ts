import type { Secret } from '@causeway/core'
import type { HttpView } from '@causeway/rpc'
import { EndpointFailure } from '@causeway/rpc'
import type { ExplorerRequest, InfoRequest } from './requests.ts'

/** One endpoint of the exchange. Its explorer and its API may be on two hosts. */
export type HyperliquidView = {
  readonly alias: string
  /** @throws EndpointFailure */
  explore(request: ExplorerRequest, signal: AbortSignal): Promise<unknown>
  /** @throws EndpointFailure */
  ask(request: InfoRequest, signal: AbortSignal): Promise<unknown>
  /** Submits a signed action. @throws EndpointFailure */
  act(action: object, signal: AbortSignal): Promise<unknown>
}

/** Answers in place of the explorer when that refuses further questions. */
export type ExplorerProxy = {
  readonly view: HttpView
  /** Path and query of the proxy's URL. */
  readonly path: Secret
}

type PostAnswer = { readonly kind: 'answer'; readonly body: unknown } | { readonly kind: 'too_many' }

/** Message of the explorer after too many questions about old blocks. */
const archiveLimit = 'More than 100 archived blocks queried in one day'

export function createHyperliquidView(args: {
  readonly explorer: HttpView
  readonly info: HttpView
  readonly proxy: ExplorerProxy | undefined
}): HyperliquidView {
  const { explorer, info, proxy } = args
  const { alias } = explorer
  const bodyOf = (answer: PostAnswer): unknown => {
    if (answer.kind === 'answer') return answer.body
    throw new EndpointFailure({ alias, reason: 'rate_limited' })
  }
  const askInfo = async (path: string, body: object, signal: AbortSignal) =>
    bodyOf(await post(info, path, body, signal))
  return {
    alias,
    ask: (request, signal) => askInfo('/info', request, signal),
    act: (action, signal) => askInfo('/exchange', action, signal),
    async explore(request, signal) {
      const path = '/explorer'
      // The proxy is asked for single transactions only.
      if (proxy === undefined || request.type !== 'txDetails')
        return bodyOf(await post(explorer, path, request, signal))
      const direct = await post(explorer, path, request, signal).catch(whenRateLimited)
      if (direct.kind === 'answer') return direct.body
      return bodyOf(await post(proxy.view, proxy.path.reveal(), request, signal))
    },
  }
}

/** An explorer that limits requests, or is paused because it did, counts as refusing: then the proxy is asked. */
function whenRateLimited(error: unknown): PostAnswer {
  const isPaused = error instanceof EndpointFailure && ['rate_limited', 'excluded'].includes(error.reason)
  if (!isPaused) throw error
  return { kind: 'too_many' }
}

/** `too_many`: the explorer answered with its limit's message instead of JSON. */
async function post(view: HttpView, path: string, request: object, signal: AbortSignal): Promise<PostAnswer> {
  const { text } = await view.ask({ method: 'POST', path, body: request }, signal)
  // In a long answer the message would be the content of some transaction.
  const isShort = text.length < 1_024
  if (isShort && text.includes(archiveLimit)) return { kind: 'too_many' }
  try {
    return { kind: 'answer', body: JSON.parse(text) }
  } catch {
    throw new EndpointFailure({ alias: view.alias, reason: 'not_json' })
  }
}
