import type { HttpView } from '@causeway/rpc'
import { EndpointFailure } from '@causeway/rpc'
import type { TronRequest } from './requests.ts'

/** Connection to one node. */
export type TronView = Pick<HttpView, 'alias' | 'ask'>

/** The JSON that one node answers with. @throws EndpointFailure */
export async function askNode(
  view: TronView,
  { path, body }: TronRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const { text } = await view.ask({ method: 'POST', path, body }, signal)
  try {
    return JSON.parse(text)
  } catch {
    throw new EndpointFailure({ alias: view.alias, reason: 'not_json' })
  }
}

/** A view that answers every request from the newest blocks instead of solidified (irreversible) ones. */
export const newestView = (view: TronView): TronView => ({
  alias: view.alias,
  ask: (request, signal) =>
    view.ask({ ...request, path: request.path.replace(/^\/walletsolidity\//, '/wallet/') }, signal),
})
