import { UpstreamUnavailableError } from '@causeway/core'
import type { EndpointSource, QuorumClient } from './quorumClient.ts'

type Ask<View, Said> = (view: View, signal: AbortSignal) => Promise<Said>
type EndpointAnswer<Value> = { readonly alias: string; readonly said: Value }

/**
 * Answers of all endpoints that give one; `undefined` is no answer.
 * @throws UpstreamUnavailableError when fewer answer than the threshold
 * @source rule O-32
 */
export async function askEnough<View extends EndpointSource, Value>(
  quorum: Pick<QuorumClient<View>, 'chainId' | 'threshold' | 'askEach'>,
  ask: Ask<View, Value | undefined>,
  signal: AbortSignal,
): Promise<readonly EndpointAnswer<Value>[]> {
  const each = await quorum.askEach(ask, signal)
  const answered = each.flatMap(({ alias, said }) => (said === undefined ? [] : [{ alias, said }]))
  if (answered.length >= quorum.threshold) return answered
  throw unreadableChain(quorum.chainId)
}

/** Error for a chain of which too few endpoints answer. */
export function unreadableChain(chainId: string): UpstreamUnavailableError {
  return new UpstreamUnavailableError(`Chain ${chainId} cannot be read at the moment.`, {
    code: 'RPC_HTTP_ERROR',
    data: { chainId },
  })
}

/** Name of an endpoint in problems: its setting and its alias. */
export function endpointOf(chainId: string, alias: string): string {
  return `httpRpcUrl of ${chainId}: ${alias}`
}

/**
 * Problems of endpoints that do not belong to a local network. A silent endpoint may turn out to belong to a real
 * chain; as many as the threshold could agree on false facts, so with so many silent ones the chain is not used.
 * @param problemOf what is wrong with an endpoint that gives this answer; `undefined` if it may be local
 * @throws UpstreamUnavailableError if at least `threshold` endpoints are silent and no problem was found
 */
export function localProblems<Value>(
  { chainId, threshold }: { readonly chainId: string; readonly threshold: number },
  each: readonly { readonly alias: string; readonly said: Value | undefined }[],
  problemOf: (answer: Value) => string | undefined,
): readonly string[] {
  const problems = each.flatMap(({ alias, said }) => {
    const problem = said === undefined ? undefined : problemOf(said)
    return problem === undefined ? [] : [`${endpointOf(chainId, alias)} ${problem}`]
  })
  const silent = each.filter(({ said }) => said === undefined).length
  if (problems.length === 0 && silent >= threshold) throw unreadableChain(chainId)
  return problems
}

/** Asks every endpoint, and returns `localProblems` of the answers. */
export async function verifyLocalEndpoints<View extends EndpointSource, Value>(
  quorum: Pick<QuorumClient<View>, 'chainId' | 'threshold' | 'askEach'>,
  ask: Ask<View, Value | undefined>,
  problemOf: (answer: Value) => string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return localProblems(quorum, await quorum.askEach(ask, signal), problemOf)
}
