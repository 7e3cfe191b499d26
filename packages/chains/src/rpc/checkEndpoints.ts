import { UpstreamUnavailableError } from '@causeway/core'
import type { EndpointSource, QuorumClient } from './quorumClient.ts'

type Ask<View, Said> = (view: View, signal: AbortSignal) => Promise<Said>
type Said<Value> = { readonly alias: string; readonly said: Value }

/**
 * What every endpoint says that answers; to say `undefined` is no answer.
 * @throws UpstreamUnavailableError when fewer answer than the threshold
 * @source oracle-protocol.md 8, ledger-and-safety.md 4.5
 */
export async function askEnough<View extends EndpointSource, Value>(
  quorum: Pick<QuorumClient<View>, 'chainId' | 'threshold' | 'askEach'>,
  ask: Ask<View, Value | undefined>,
  signal: AbortSignal,
): Promise<readonly Said<Value>[]> {
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

/** An endpoint by the setting that names it, in problems. */
export function endpointOf(chainId: string, alias: string): string {
  return `httpRpcUrl of ${chainId}: ${alias}`
}

/** What endpoints are that should be nodes of this machine: one sentence each that names its setting. */
export type LocalCheck = {
  /** Of another network, or another kind of node. */
  readonly foreign: readonly string[]
  /** Nothing is known of these yet. */
  readonly silent: readonly string[]
}

/** Where what is silent may not be used either. */
export const localProblems = ({ foreign, silent }: LocalCheck): readonly string[] => [...foreign, ...silent]

/** @param problemOf why what an endpoint said is foreign; `undefined` where it is not */
export function sortLocal<Value>(
  each: readonly { readonly alias: string; readonly said: Value | undefined }[],
  nameOf: (alias: string) => string,
  problemOf: (said: Value) => string | undefined,
): LocalCheck {
  const foreign: string[] = []
  const silent: string[] = []
  for (const { alias, said } of each) {
    const problem = said === undefined ? undefined : problemOf(said)
    if (said === undefined) silent.push(`${nameOf(alias)} does not answer`)
    else if (problem !== undefined) foreign.push(`${nameOf(alias)} ${problem}`)
  }
  return { foreign, silent }
}

/**
 * Endpoints that should be local, and are of public networks.
 * @param publicNetwork name of the network that an endpoint shows, `undefined` for none that is public
 */
export async function checkNoPublicNetwork<View extends EndpointSource, Value>(
  quorum: Pick<QuorumClient<View>, 'chainId' | 'askEach'>,
  ask: Ask<View, Value>,
  publicNetwork: (said: Value) => string | undefined,
  signal: AbortSignal,
): Promise<LocalCheck> {
  const each = await quorum.askEach(ask, signal)
  return sortLocal(
    each,
    (alias) => endpointOf(quorum.chainId, alias),
    (said) => {
      const network = publicNetwork(said)
      return network && `is on ${network}`
    },
  )
}
