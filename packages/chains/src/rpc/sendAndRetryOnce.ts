import type { Endpoint, SendOptions } from './endpoint.ts'
import { EndpointFailure } from './endpointFailure.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'

/** Sends calls, once more where `retryLost` would. @throws EndpointFailure */
export function sendAndRetryOnce(
  endpoint: Endpoint,
  calls: readonly RpcCall[],
  options: SendOptions & { readonly repeatable: boolean },
): Promise<readonly RpcAnswer[]> {
  const send = () => endpoint.send(calls, options)
  return options.repeatable ? retryLost(send) : send()
}

/**
 * A kept connection can be closed by the other side in the moment it is used again. That says nothing
 * about the endpoint, so a read is sent once more. @throws EndpointFailure
 */
export async function retryLost<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof EndpointFailure) || error.reason !== 'connection_lost') throw error
    return send()
  }
}
