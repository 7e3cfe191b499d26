import { UpstreamUnavailableError } from '@causeway/core'
import type { EndpointSource, QuorumClient } from './quorumClient.ts'
import { countVoices, type Voter } from './tally.ts'

type Ask<View, Said> = (view: View, signal: AbortSignal) => Promise<Said>
type EndpointAnswer<Value> = Voter & { readonly said: Value }

/** A chain, and how many of its voices must say something. */
type Enough = { readonly chainId: string; readonly threshold: number }

/**
 * Answers of all endpoints that give one; `undefined` is no answer.
 * @throws UpstreamUnavailableError when fewer voices answer than the threshold
 * @source rule O-32
 */
export async function askEnough<View extends EndpointSource, Value>(
  quorum: Pick<QuorumClient<View>, 'chainId' | 'threshold' | 'askEach'>,
  ask: Ask<View, Value | undefined>,
  signal: AbortSignal,
): Promise<readonly EndpointAnswer<Value>[]> {
  return answersOfEnough(quorum, await quorum.askEach(ask, signal))
}

/** As `askEnough`, of answers that are there already. */
export function answersOfEnough<Value>(
  { chainId, threshold }: Enough,
  each: readonly EndpointAnswer<Value | undefined>[],
): readonly EndpointAnswer<Value>[] {
  const answered = each.flatMap(({ said, ...voter }) => (said === undefined ? [] : [{ ...voter, said }]))
  if (countVoices(answered) >= threshold) return answered
  throw unreadableChain(chainId)
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
 * chain; as many voices as the threshold could agree on false facts, so with so many silent ones it is not used.
 * @param problemOf what is wrong with an endpoint that gives this answer; `undefined` if it may be local
 * @throws UpstreamUnavailableError if at least `threshold` voices are silent and no problem was found
 */
export function localProblems<Value>(
  { chainId, threshold }: Enough,
  each: readonly EndpointAnswer<Value | undefined>[],
  problemOf: (answer: Value) => string | undefined,
): readonly string[] {
  const problems = each.flatMap(({ alias, said }) => {
    const problem = said === undefined ? undefined : problemOf(said)
    return problem === undefined ? [] : [`${endpointOf(chainId, alias)} ${problem}`]
  })
  const silent = countVoices(each.filter(({ said }) => said === undefined))
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
