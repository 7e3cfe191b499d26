import type { Endpoint, SendOptions } from './endpoint.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'
import { retryLost } from './repeatedSending.ts'

/** Sends calls to an endpoint, by `retryLost` if they are repeatable. @throws EndpointFailure */
export function sendAndRetryOnce(
  endpoint: Endpoint,
  calls: readonly RpcCall[],
  options: SendOptions & { readonly repeatable: boolean },
): Promise<readonly RpcAnswer[]> {
  const send = () => endpoint.send(calls, options)
  return options.repeatable ? retryLost(send) : send()
}
