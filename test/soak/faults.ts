// Faults of a soak, one at a time: processes, databases, nodes, endpoints and the chains themselves.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@causeway/core'
import { type FaultMode, type FaultProxy, nodePersonalities, startFaultProxy } from '@causeway/localnet'
import type { Pair } from '../databases/pair.ts'
import type { MortalService, SessionBed, UserChain } from '../support/sessionBed.ts'

export type Fault = {
  readonly name: string
  /** Resolves when what was hurt is itself again: a service ready, an endpoint answering, a node running. */
  inject(): Promise<void>
}

/** So many endpoints of one node does every service ask, of which most must agree. */
const endpointsPerChain = 3
const endpointFaultMs = 15_000
const outageMs = 8_000
const stallMs = 5_000
const standbyMs = 3_000
const behaviourMs = 20_000

/** Endpoints between services and nodes, by the address of the node. */
export type Endpoints = {
  /** The addresses to configure in place of the node's own. */
  urlsOf(nodeUrl: string): Promise<string>
  proxiesOf(nodeUrl: string): readonly FaultProxy[]
  stop(): Promise<void>
}

export function createEndpoints(): Endpoints {
  const byNode = new Map<string, Promise<readonly FaultProxy[]>>()
  const started = new Map<string, readonly FaultProxy[]>()
  return {
    async urlsOf(nodeUrl) {
      const starting =
        byNode.get(nodeUrl) ??
        Promise.all(Array.from({ length: endpointsPerChain }, () => startFaultProxy({ targetUrl: nodeUrl })))
      byNode.set(nodeUrl, starting)
      const proxies = await starting
      started.set(nodeUrl, proxies)
      return proxies.map(({ url }) => url).join(',')
    },
    proxiesOf: (nodeUrl) => started.get(nodeUrl) ?? [],
    async stop() {
      await Promise.all([...started.values()].flat().map((proxy) => proxy.stop()))
    },
  }
}

/**
 * Kills first, so that memory can be watched afterwards in processes that go on living. The failover is the last of them:
 * there is one standby. `behaviours`: nodes that answer as hosted ones do.
 */
export function allFaults(
  bed: SessionBed,
  services: readonly MortalService[],
  { endpoints, pair, directory }: { endpoints: Endpoints; pair: Pair; directory: string },
): Readonly<Record<'kills' | 'others' | 'behaviours', readonly Fault[]>> {
  const kills = [
    ...services.map((service) => ({ name: `kill ${service.name}`, inject: () => service.killAndRestart() })),
    databaseCrash('quote-api', join(directory, 'first')),
    databaseCrash('solver', join(directory, 'solver')),
    failover(pair),
  ]
  const modes: readonly { readonly what: string; readonly mode: FaultMode }[] = [
    { what: 'hangs', mode: { kind: 'hang' } },
    { what: 'is down', mode: { kind: 'refuse' } },
    { what: 'lies', mode: { kind: 'lie', rewrite: (_call, result) => lieAbout(result) } },
    { what: 'answers HTML', mode: { kind: 'html200' } },
    { what: 'cuts answers in half', mode: { kind: 'halfJson' } },
    { what: 'limits (429)', mode: { kind: 'http', status: 429, retryAfter: '2' } },
    { what: 'drips', mode: { kind: 'slowDrip', intervalMs: 50 } },
  ]
  const chains = ['base', 'optimism'] as const
  const other = (index: number) => chains[index % 2] ?? 'base'
  const others = [
    stall(bed, 'base'),
    ...modes.map(({ what, mode }, index) =>
      endpointFault(bed, endpoints, {
        name: `one endpoint of three of ${other(index)} ${what}`,
        key: other(index),
        mode,
        hurt: 1,
        lastsMs: endpointFaultMs,
      }),
    ),
    endpointFault(bed, endpoints, {
      name: 'all endpoints of optimism are down',
      key: 'optimism',
      mode: { kind: 'refuse' },
      hurt: endpointsPerChain,
      lastsMs: outageMs,
    }),
    endpointFault(bed, endpoints, {
      name: 'all endpoints of base answer 300 ms later',
      key: 'base',
      mode: { kind: 'latency', delayMs: 300 },
      hurt: endpointsPerChain,
      lastsMs: endpointFaultMs,
    }),
    stall(bed, 'optimism'),
    ...chains.flatMap((key) => [1, 2].map((depth) => reorganization(bed, key, depth))),
  ]
  const behaviours = Object.entries(nodePersonalities)
    .filter(([, { family }]) => family === 'ethereum')
    .map(([name, personality], index) =>
      endpointFault(bed, endpoints, {
        name: `all endpoints of ${other(index)} are ${name}`,
        key: other(index),
        mode: { kind: 'hosted', personality },
        hurt: endpointsPerChain,
        lastsMs: behaviourMs,
      }),
    )
  return { kills, others, behaviours }
}

/** The primary dies under load; its standby takes writes a moment later, under the same address. */
function failover(pair: Pair): Fault {
  return {
    name: 'a failover of the database of quote-api',
    async inject() {
      pair.killPrimary()
      await sleep(standbyMs)
      await pair.promote()
    },
  }
}

/** One process of the server dies; the server ends all sessions and recovers from its log, as after a crash. */
function databaseCrash(owner: string, folder: string): Fault {
  return {
    name: `crash of the database of ${owner}`,
    async inject() {
      const text = await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8')
      const [server = ''] = text.split('\n')
      const children = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', server]).toString().split('\n')
      const session = children.find((line) => /postgres: \S+ \S+ 127\.0\.0\.1/.test(line))
      if (session === undefined)
        throw new Error(`${owner} has no session in its database: ${children.join('; ')}`)
      process.kill(Number.parseInt(session, 10), 'SIGKILL')
    },
  }
}

function stall(bed: SessionBed, key: UserChain): Fault {
  return {
    name: `the node of ${key} stands still for ${stallMs / 1_000} s`,
    async inject() {
      const { pid } = bed.session.network.chains[key]
      process.kill(pid, 'SIGSTOP')
      await sleep(stallMs).finally(() => process.kill(pid, 'SIGCONT'))
    },
  }
}

function endpointFault(
  bed: SessionBed,
  endpoints: Endpoints,
  fault: { name: string; key: UserChain; mode: FaultMode; hurt: number; lastsMs: number },
): Fault {
  const { name, key, mode, hurt, lastsMs } = fault
  return {
    name,
    async inject() {
      const proxies = endpoints.proxiesOf(bed.session.network.chains[key].url).slice(0, hurt)
      if (proxies.length < hurt) throw new Error(`${key} has ${proxies.length} endpoints`)
      await Promise.all(proxies.map((proxy) => proxy.set(mode)))
      await sleep(lastsMs)
      await Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' })))
    },
  }
}

/** A word of 32 bytes becomes the next one, a list becomes empty: balances, prices and events that never were. */
function lieAbout(result: unknown): unknown {
  if (Array.isArray(result)) return []
  if (typeof result !== 'string' || !/^0x[0-9a-f]{64,}$/.test(result)) return result
  const last = Number.parseInt(result.slice(-1), 16)
  return `${result.slice(0, -1)}${((last + 1) % 16).toString(16)}`
}

/** The newest blocks are replaced by empty ones, and the node hears their transactions again, as real nodes do. */
function reorganization(bed: SessionBed, key: UserChain, depth: number): Fault {
  return {
    name: `a reorganization of ${depth} ${depth === 1 ? 'block' : 'blocks'} of ${key}`,
    async inject() {
      const { client } = bed.session.network.chains[key].chain
      const raws = new Map<Hex, Hex>()
      const keep = async (count: bigint) => {
        const head = await client.getBlockNumber({ cacheTime: 0 })
        for (let back = count - 1n; back >= 0n; back -= 1n) {
          const { transactions } = await client.getBlock({ blockNumber: head - back })
          for (const hash of transactions) if (!raws.has(hash)) raws.set(hash, await rawOf(hash))
        }
      }
      const rawOf = (hash: Hex) =>
        client.request<{ Method: string; Parameters: unknown; ReturnType: Hex }>({
          method: 'eth_getRawTransactionByHash',
          params: [hash],
        })
      // Twice: a block may have come while the first ones were read.
      await keep(6n)
      await keep(2n)
      await client.request<{ Method: string; Parameters: unknown; ReturnType: unknown }>({
        method: 'anvil_reorg',
        params: [depth, []],
      })
      // The node goes on in the time of the blocks that are gone.
      await client.request<{ Method: string; Parameters: unknown; ReturnType: unknown }>({
        method: 'evm_setTime',
        params: [Math.floor(Date.now() / 1_000)],
      })
      for (const raw of raws.values()) {
        // Refused where it stands in a block that was not replaced.
        await client.sendRawTransaction({ serializedTransaction: raw }).catch(() => undefined)
      }
    },
  }
}
