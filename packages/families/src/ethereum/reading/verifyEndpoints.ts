import type { Hex } from '@causeway/core'
import type { EndpointAnswers, JsonRpcClient, RpcCall } from '@causeway/rpc'
import { endpointOf, unreadableChain } from '@causeway/rpc'

/** Facts that a chain must confirm before anything is signed for it. Problems name the settings. */
type ChainExpectation = {
  readonly client: JsonRpcClient
  /** Decimal. */
  readonly chainId: bigint
  /** Must have code on every endpoint. */
  readonly contract: { readonly setting: string; readonly address: Hex }
}

/**
 * Asks every endpoint for its chain id and for the contract's code, since a signature may rest on any of them.
 * @returns problems; empty when all that answered fit
 * @throws UpstreamUnavailableError when fewer endpoints answer than `threshold`
 * @source rule O-32
 */
export async function verifyEvmEndpoints(
  { client, chainId, contract, threshold }: ChainExpectation & { readonly threshold: number },
  options: { readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const answers = await askEach(
    client,
    [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getCode', params: [contract.address, 'latest'] },
    ],
    { threshold, ...options },
  )
  return answers.flatMap(({ alias, answers: [id, code] }) => {
    const endpoint = endpointOf(client.chainId, alias)
    if (id?.ok !== true || toBigint(id.result) !== chainId) return [`${endpoint} is not on chain ${chainId}`]
    const hasCode = code?.ok === true && typeof code.result === 'string' && code.result.length > 2
    return hasCode ? [] : [`${endpoint} shows no contract at ${contract.setting}`]
  })
}

type Answered = { readonly alias: string; readonly answers: NonNullable<EndpointAnswers['answers']> }

async function askEach(
  client: JsonRpcClient,
  calls: readonly RpcCall[],
  { threshold, signal }: { readonly threshold: number; readonly signal: AbortSignal },
): Promise<readonly Answered[]> {
  const each = await client.askEach(calls, { signal })
  const answered = each.flatMap(({ alias, answers }) => (answers === undefined ? [] : [{ alias, answers }]))
  if (answered.length >= threshold) return answered
  throw unreadableChain(client.chainId)
}

function toBigint(result: unknown): bigint | undefined {
  return typeof result === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(result) ? BigInt(result) : undefined
}
