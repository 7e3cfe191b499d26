import { EndpointFailure } from './endpointFailure.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'

/** Methods that could take effect twice if they were sent twice, so they go to one endpoint, once. */
const unrepeatable = /^(eth_send|personal_|miner_|admin_|anvil_|hardhat_|evm_)/

export const isRepeatable = (calls: readonly RpcCall[]) =>
  calls.every(({ method }) => !unrepeatable.test(method))

/**
 * Sends, and once more if the connection was lost: the other side may close an idle connection just when it is used
 * again, which says nothing about the endpoint. @throws EndpointFailure
 */
export async function retryLost<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await send()
  } catch (error) {
    if (!(error instanceof EndpointFailure) || error.reason !== 'connection_lost') throw error
    return send()
  }
}

/** Errors of a node about itself, not about the call: the next request may not meet them. */
const temporaryErrors =
  /-32603|\btime(d )?-?out\b|header not found|behind by|not ready|overload|\bbusy\b|try again/i

/** True if an answer, or the words of an endpoint without one, is a temporary error. Code 3 is a call that reverted. */
function isTemporary(outcome: readonly RpcAnswer[] | EndpointFailure): boolean {
  if (outcome instanceof EndpointFailure) return temporaryErrors.test(outcome.said)
  return outcome.some(
    (one) => !one.ok && one.code !== 3 && temporaryErrors.test(`${one.code} ${one.message}`),
  )
}

/**
 * Sends, and once more if the node answers with a temporary error. The whole request is repeated, so that a head that
 * was asked for first is still no newer than the other answers.
 * @throws EndpointFailure
 * @source F-62
 */
export async function retryTemporary(
  calls: readonly RpcCall[],
  send: () => Promise<readonly RpcAnswer[]>,
): Promise<readonly RpcAnswer[]> {
  const outcome = await send().catch((failure: unknown) => {
    if (failure instanceof EndpointFailure) return failure
    throw failure
  })
  if (isRepeatable(calls) && isTemporary(outcome)) return send()
  if (outcome instanceof EndpointFailure) throw outcome
  return outcome
}
