import type { Hex } from '@causeway/core'
import type { JsonRpcClient } from '@causeway/rpc'
import { answersOfEnough, endpointOf } from '@causeway/rpc'

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
 * @throws UpstreamUnavailableError when fewer hosts answer than `threshold`
 * @source rule O-32
 */
export async function verifyEvmEndpoints(
  { client, chainId, contract, threshold }: ChainExpectation & { readonly threshold: number },
  options: { readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const each = await client.askEach(
    [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_getCode', params: [contract.address, 'latest'] },
    ],
    options,
  )
  const said = each.map(({ answers, ...voter }) => ({ ...voter, said: answers }))
  const answered = answersOfEnough({ chainId: client.chainId, threshold }, said)
  return answered.flatMap(({ alias, said: [id, code] }) => {
    const endpoint = endpointOf(client.chainId, alias)
    if (id?.ok !== true || toBigint(id.result) !== chainId) return [`${endpoint} is not on chain ${chainId}`]
    const hasCode = code?.ok === true && typeof code.result === 'string' && code.result.length > 2
    return hasCode ? [] : [`${endpoint} shows no contract at ${contract.setting}`]
  })
}

function toBigint(result: unknown): bigint | undefined {
  return typeof result === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(result) ? BigInt(result) : undefined
}
