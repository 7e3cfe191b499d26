import type { Endpoint, SendOptions } from './endpoint.ts'
import { EndpointFailure } from './endpointFailure.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'

/**
 * A kept connection can be closed by the other side in the moment it is used again. That says nothing
 * about the endpoint, so a read is sent once more. @throws EndpointFailure
 */
export async function sendAndRetryOnce(
  endpoint: Endpoint,
  calls: readonly RpcCall[],
  options: SendOptions & { readonly repeatable: boolean },
): Promise<readonly RpcAnswer[]> {
  try {
    return await endpoint.send(calls, options)
  } catch (error) {
    const lost = error instanceof EndpointFailure && error.reason === 'connection_lost'
    if (!lost || !options.repeatable) throw error
    return endpoint.send(calls, options)
  }
}
