import { type FaultProxy, startFaultProxy } from '../../faultProxy/faultProxy.ts'
import { nodePersonalities, type PersonalityName } from '../../faultProxy/nodePersonalities.ts'

type Variables = Readonly<Record<string, string>>

/** Endpoints by which the services of a session read the chains where they do not read the nodes themselves. */
export type SessionEndpoints = {
  /** Replaces, in the environment of one service, the variables that name endpoints. */
  replaceEndpoints(variables: Variables): Promise<Variables>
  /** Changes the personality of the open proxies, which are those of the family that the session began with. */
  changePersonality(personality: PersonalityName): Promise<void>
  stop(): Promise<void>
}

const endpointVariable = /^[A-Z0-9_]+_(RPC_URL|ESPLORA_COMPATIBLE_API_URL|EXPLORER_API_URL)$/

/**
 * An endpoint of the shell comes first. Else, for chains of the personality's family, each service gets fault proxies of
 * its own. The WebSocket endpoint of a chain whose endpoint was replaced becomes empty, unless the shell names one:
 * the node's own would tell of blocks that the replaced endpoint may not show.
 */
export function openEndpoints(args: {
  readonly personality: PersonalityName | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly report: (line: string) => void
}): SessionEndpoints {
  const { environment, report } = args
  let { personality } = args
  const proxies: FaultProxy[] = []
  const fromShell = (name: string) =>
    endpointVariable.test(name) ? environment[name] || undefined : undefined
  const shellNames = Object.keys(environment).filter((name) => fromShell(name) !== undefined)
  if (shellNames.length > 0)
    report(`Services read these chains where the shell says: ${shellNames.sort().join(', ')}`)

  const openProxy = async (url: string): Promise<string> => {
    const { origin, pathname } = new URL(url)
    const proxy = await startFaultProxy({ targetUrl: origin })
    proxies.push(proxy)
    if (personality !== undefined) await setPersonality(proxy, personality)
    return `${proxy.url}${pathname === '/' ? '' : pathname}`
  }
  const openProxies = async (urls: string) => (await Promise.all(urls.split(',').map(openProxy))).join(',')
  return {
    async replaceEndpoints(variables) {
      const replaced: Record<string, string> = {}
      for (const [name, value] of Object.entries(variables)) {
        // A chain that does not run has no endpoint.
        if (value === '') continue
        // A WebSocket variable goes by the HTTP variable of its chain.
        const httpName = name.replace('_WS_', '_')
        const isReplaced = fromShell(httpName) !== undefined || isFamilyEndpoint(httpName, personality)
        if (httpName !== name) replaced[name] = fromShell(name) ?? (isReplaced ? '' : value)
        else if (isReplaced) replaced[name] = fromShell(name) ?? (await openProxies(value))
      }
      return { ...variables, ...replaced }
    },
    async changePersonality(next) {
      personality = next
      await Promise.all(proxies.map((proxy) => setPersonality(proxy, next)))
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}

const setPersonality = (proxy: FaultProxy, name: PersonalityName) =>
  proxy.set({ kind: 'hosted', personality: nodePersonalities[name] })

const evmVariables: ReadonlySet<string> = new Set(['BASE_RPC_URL', 'OPTIMISM_RPC_URL'])

/** True for a variable that names an endpoint of the personality's family. */
function isFamilyEndpoint(variable: string, personality: PersonalityName | undefined): boolean {
  if (personality === undefined || !endpointVariable.test(variable)) return false
  const { family } = nodePersonalities[personality]
  return family === 'ethereum' ? evmVariables.has(variable) : variable.startsWith(`${family.toUpperCase()}_`)
}
