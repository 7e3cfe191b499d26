import { EndpointFailure } from '../rpc/endpointFailure.ts'
import type { HttpView } from '../rpc/httpView.ts'
import type { TronRequest } from './requests.ts'

/** The JSON that one node answers with. @throws EndpointFailure */
export async function askNode(
  view: HttpView,
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
