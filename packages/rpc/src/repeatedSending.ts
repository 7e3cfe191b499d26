import { EndpointFailure } from './endpointFailure.ts'
import type { RpcAnswer, RpcCall } from './jsonRpc.ts'

/** Sending these twice could act twice, so they go to one endpoint, once. */
const unrepeatable = /^(eth_send|personal_|miner_|admin_|anvil_|hardhat_|evm_)/

export const isRepeatable = (calls: readonly RpcCall[]) =>
  calls.every(({ method }) => !unrepeatable.test(method))

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

/** Errors of a node that tell of itself, and of none of the calls. */
const passing = /-32603|\btime(d )?-?out\b|header not found|behind by|not ready|overload|\bbusy\b|try again/i

/** Answers, or the words of an endpoint that gave none. A call that ran and failed says so by code 3. */
function passes(outcome: readonly RpcAnswer[] | EndpointFailure): boolean {
  if (outcome instanceof EndpointFailure) return passing.test(outcome.said)
  return outcome.some((one) => !one.ok && one.code !== 3 && passing.test(`${one.code} ${one.message}`))
}

/**
 * Sends once more what a node answers with an error of its own, which the next request may not meet. The whole request
 * goes again: a head that was asked for first is then still no newer than what came with it.
 * @throws EndpointFailure
 * @source F-62
 */
export async function retryPassing(
  calls: readonly RpcCall[],
  send: () => Promise<readonly RpcAnswer[]>,
): Promise<readonly RpcAnswer[]> {
  const outcome = await send().catch((failure: unknown) => {
    if (failure instanceof EndpointFailure) return failure
    throw failure
  })
  if (isRepeatable(calls) && passes(outcome)) return send()
  if (outcome instanceof EndpointFailure) throw outcome
  return outcome
}
