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

/**
 * Problems of endpoints that should be local: public networks, and silence.
 * @param publicNetwork name of the network that an endpoint shows, `undefined` for none that is public
 */
export async function checkNoPublicNetwork<View extends EndpointSource, Value>(
  quorum: Pick<QuorumClient<View>, 'chainId' | 'askEach'>,
  ask: Ask<View, Value>,
  publicNetwork: (said: Value) => string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const each = await quorum.askEach(ask, signal)
  return each.flatMap(({ alias, said }) => {
    const here = endpointOf(quorum.chainId, alias)
    if (said === undefined) return [`${here} does not answer`]
    const network = publicNetwork(said)
    return network === undefined ? [] : [`${here} is on ${network}`]
  })
}
