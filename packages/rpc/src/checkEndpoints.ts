import { UpstreamUnavailableError } from '@causeway/core'
import type { EndpointSource, QuorumClient } from './quorumClient.ts'

type Ask<View, Said> = (view: View, signal: AbortSignal) => Promise<Said>
type EndpointAnswer<Value> = { readonly alias: string; readonly said: Value }

/**
 * Answers of all endpoints that give one; `undefined` is no answer.
 * @throws UpstreamUnavailableError when fewer answer than the threshold
 * @source oracle-protocol.md 8, ledger-and-safety.md 4.5
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
 * Endpoints that are no part of a local network. Silent endpoints may turn out to belong to a real chain, and enough of
 * them for the threshold could agree on it: while so many are silent, the chain is not read.
 * @param strangeness what is wrong with an endpoint that gives this answer, `undefined` where it may be local
 * @throws UpstreamUnavailableError when as many as the threshold are silent and no other is strange
 */
export function localProblems<Value>(
  { chainId, threshold }: { readonly chainId: string; readonly threshold: number },
  each: readonly { readonly alias: string; readonly said: Value | undefined }[],
  strangeness: (answer: Value) => string | undefined,
): readonly string[] {
  const problems = each.flatMap(({ alias, said }) => {
    const strange = said === undefined ? undefined : strangeness(said)
    return strange === undefined ? [] : [`${endpointOf(chainId, alias)} ${strange}`]
  })
  const silent = each.filter(({ said }) => said === undefined).length
  if (problems.length === 0 && silent >= threshold) throw unreadableChain(chainId)
  return problems
}

/** Asks every endpoint, then judges the answers as `localProblems` does. */
export async function verifyLocalEndpoints<View extends EndpointSource, Value>(
  quorum: Pick<QuorumClient<View>, 'chainId' | 'threshold' | 'askEach'>,
  ask: Ask<View, Value | undefined>,
  strangeness: (answer: Value) => string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return localProblems(quorum, await quorum.askEach(ask, signal), strangeness)
}
