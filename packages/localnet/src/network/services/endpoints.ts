import { type FamilyUrls, familyVariables } from '../../families/familyVariables.ts'
import { type FaultProxy, startFaultProxy } from '../../faultProxy/faultProxy.ts'
import { nodePersonalities, type PersonalityName } from '../../faultProxy/nodePersonalities.ts'
import type { LocalNetwork } from '../startLocalNetwork.ts'

type Variables = Readonly<Record<string, string>>

/** Where services read the chains in place of the nodes themselves. */
export type SessionEndpoints = {
  /** The variables of a service as it is started: those that a chain's nodes are read by are exchanged. */
  replacedIn(variables: Variables): Variables
  stop(): Promise<void>
}

const endpointVariable = /^[A-Z0-9_]+_(RPC_URL|ESPLORA_COMPATIBLE_API_URL|EXPLORER_API_URL)$/

/**
 * Variables of the shell go first, then proxies before the nodes of the personality's family. A chain that is read
 * elsewhere tells of no new blocks, unless the shell says where.
 */
export async function openEndpoints(args: {
  readonly network: LocalNetwork
  readonly families: FamilyUrls | undefined
  readonly personality: PersonalityName | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly report: (line: string) => void
}): Promise<SessionEndpoints> {
  const { network, families, personality, environment, report } = args
  const proxies: FaultProxy[] = []
  const replaced = new Map<string, string>()
  for (const [name, value] of Object.entries(environment)) {
    if (endpointVariable.test(name) && value !== undefined && value !== '') replaced.set(name, value)
  }
  if (replaced.size > 0) report(`Read where these variables say: ${[...replaced.keys()].sort().join(', ')}`)
  for (const [name, url] of Object.entries(urlsOf(personality, network, families))) {
    if (replaced.has(name) || url === '' || personality === undefined) continue
    const { origin, pathname } = new URL(url)
    const proxy = await startFaultProxy({ targetUrl: origin })
    await proxy.set({ kind: 'hosted', personality: nodePersonalities[personality] })
    proxies.push(proxy)
    replaced.set(name, `${proxy.url}${pathname === '/' ? '' : pathname}`)
  }
  return {
    replacedIn: (variables) =>
      Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [name, replacement(name, value, replaced)]),
      ),
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}

function replacement(name: string, value: string, replaced: ReadonlyMap<string, string>): string {
  const pushes = name.endsWith('_WS_RPC_URL') && replaced.has(name.replace('_WS_', '_'))
  return value === '' ? value : (replaced.get(name) ?? (pushes ? '' : value))
}

/** URLs of the nodes of the personality's family, by the variable that services read them from. */
function urlsOf(
  personality: PersonalityName | undefined,
  { chains }: LocalNetwork,
  families: FamilyUrls | undefined,
): Variables {
  if (personality === undefined) return {}
  const { family } = nodePersonalities[personality]
  if (family === 'ethereum') return { BASE_RPC_URL: chains.base.url, OPTIMISM_RPC_URL: chains.optimism.url }
  const own = Object.entries(familyVariables(families))
  const prefix = `${family.toUpperCase()}_`
  return Object.fromEntries(own.filter(([name]) => name.startsWith(prefix) && !name.endsWith('_WS_RPC_URL')))
}
