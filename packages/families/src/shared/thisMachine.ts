import type { JsonRpcClient } from '@causeway/rpc'
import { localProblems } from '@causeway/rpc'

export const localEnvironment = 'local'
export const rehearsalEnvironment = 'rehearsal'

/** True for environments whose chains are nodes on this machine: `local`, and `rehearsal`, else like production. */
export function isOnThisMachine(environment: string): boolean {
  return environment === localEnvironment || environment === rehearsalEnvironment
}

/**
 * Problems of endpoints that are no anvil nodes, in the environments `local` and `rehearsal`: others could forward to a
 * real chain.
 * @throws UpstreamUnavailableError as `localProblems`
 */
export async function checkLocalNodes(
  environment: string,
  client: JsonRpcClient,
): Promise<readonly string[]> {
  if (!isOnThisMachine(environment)) return []
  const { chainId, electorate } = client
  const each = await client.askEach([{ method: 'web3_clientVersion', params: [] }])
  const versions = each.map(({ answers, ...voter }) => ({ ...voter, said: answers?.[0] }))
  return localProblems({ chainId, threshold: electorate.threshold }, versions, (answer) => {
    const isAnvil = answer.ok && String(answer.result).toLowerCase().startsWith('anvil/')
    return isAnvil ? undefined : `is no anvil node, as ENVIRONMENT=${environment} demands`
  })
}
