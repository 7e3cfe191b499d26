import { type FaultProxy, startFaultProxy } from '../../faultProxy/faultProxy.ts'
import { nodePersonalities, type PersonalityName } from '../../faultProxy/nodePersonalities.ts'

type Variables = Readonly<Record<string, string>>

/** Places in which services read the chains, in place of the nodes themselves. */
export type SessionEndpoints = {
  /** The variables of one service: those that a chain's nodes are read by are exchanged. */
  replacedIn(variables: Variables): Promise<Variables>
  /** Nodes of that family answer so from now on, where the session began with one of it. */
  be(personality: PersonalityName): Promise<void>
  stop(): Promise<void>
}

const endpointVariable = /^[A-Z0-9_]+_(RPC_URL|ESPLORA_COMPATIBLE_API_URL|EXPLORER_API_URL)$/

/**
 * Variables of the shell go first, then nodes of the personality, of which each service has its own. A chain that is read
 * elsewhere tells of no new blocks, unless the shell says where.
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
  const named = Object.keys(environment).filter((name) => fromShell(name) !== undefined)
  if (named.length > 0) report(`Services read these chains where the shell says: ${named.sort().join(', ')}`)

  const before = async (url: string): Promise<string> => {
    const { origin, pathname } = new URL(url)
    const proxy = await startFaultProxy({ targetUrl: origin })
    proxies.push(proxy)
    if (personality !== undefined) await become(proxy, personality)
    return `${proxy.url}${pathname === '/' ? '' : pathname}`
  }
  const beforeEach = async (urls: string) => (await Promise.all(urls.split(',').map(before))).join(',')
  return {
    async replacedIn(variables) {
      const replaced: Record<string, string> = {}
      for (const [name, value] of Object.entries(variables)) {
        const readBy = name.replace('_WS_', '_')
        if (value === '') continue
        const isElsewhere = fromShell(readBy) !== undefined || isOf(readBy, personality)
        if (readBy !== name) replaced[name] = fromShell(name) ?? (isElsewhere ? '' : value)
        else if (isElsewhere) replaced[name] = fromShell(name) ?? (await beforeEach(value))
      }
      return { ...variables, ...replaced }
    },
    async be(next) {
      personality = next
      await Promise.all(proxies.map((proxy) => become(proxy, next)))
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}

const become = (proxy: FaultProxy, name: PersonalityName) =>
  proxy.set({ kind: 'hosted', personality: nodePersonalities[name] })

const evmVariables: ReadonlySet<string> = new Set(['BASE_RPC_URL', 'OPTIMISM_RPC_URL'])

/** True for a variable that nodes of the personality's family are read by. */
function isOf(variable: string, personality: PersonalityName | undefined): boolean {
  if (personality === undefined || !endpointVariable.test(variable)) return false
  const { family } = nodePersonalities[personality]
  return family === 'ethereum' ? evmVariables.has(variable) : variable.startsWith(`${family.toUpperCase()}_`)
}
