import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FaultProxy, startFaultProxy, startTestNetwork } from '@causeway/localnet'
import { serviceEnvironment } from '../apps/quote-api/test/fixtures/service.ts'
import type { LoadResult } from './load.ts'
import { type BenchProcess, startQuoteServer } from './process.ts'
import { alternate, bodies, describe, ratioOf } from './quoteBench.ts'
import type { BenchRow } from './row.ts'

const blockTimeSeconds = 2

type Counted = { readonly requestsPerBlock: number; readonly callsPerBlock: number }
type Measured = { readonly results: Map<string, LoadResult[]>; readonly counted: Counted }

/** P1 and P2 with three endpoints per chain that must agree, against one endpoint in the same run. */
export async function benchEndpoints(): Promise<readonly BenchRow[]> {
  const { results, counted } = await measure()
  const { requestsPerBlock, callsPerBlock } = counted
  const reads = `${requestsPerBlock.toFixed(1)} requests and ${callsPerBlock.toFixed(1)} calls per endpoint, chain and block`
  return (['/price', '/quote'] as const).map((path, index) => ({
    id: `P${index + 1}-endpoints`,
    name: `P${index + 1} with three endpoints per chain behind proxies (${reads})`,
    value: `${describe(results, `${path} of three`)}; one ${describe(results, `${path} of one`)}`,
    limit: '>= 1.0 of one endpoint',
    ratio: ratioOf(results, `${path} of three`, `${path} of one`),
    goal: 1,
    atLeast: true,
  }))
}

async function measure(): Promise<Measured> {
  const network = await startTestNetwork({ blockTimeSeconds })
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  const proxies: FaultProxy[] = []
  const servers: BenchProcess[] = []
  const urls = async (targetUrl: string, count: number): Promise<string> => {
    const started = await Promise.all(Array.from({ length: count }, () => startFaultProxy({ targetUrl })))
    proxies.push(...started)
    return started.map(({ url }) => url).join(',')
  }
  const start = async (count: number): Promise<BenchProcess> => {
    const { base, optimism } = network.chains
    const environment = await serviceEnvironment(network, join(directory), {
      CAUSEWAY_LOCAL_DIR: join(directory, `of-${count}`),
      BASE_RPC_URL: await urls(base.url, count),
      OPTIMISM_RPC_URL: await urls(optimism.url, count),
    })
    const server = await startQuoteServer({ ...process.env, ...environment })
    servers.push(server)
    return server
  }
  try {
    const one = await start(1)
    const three = await start(3)
    const counted = await countIdle(proxies.slice(2))
    const results = await alternate(
      [
        { name: '/price of one', url: one.url, path: '/price' },
        { name: '/price of three', url: three.url, path: '/price' },
        { name: '/quote of one', url: one.url, path: '/quote' },
        { name: '/quote of three', url: three.url, path: '/quote' },
      ],
      bodies(network),
    )
    return { results, counted }
  } finally {
    for (const server of servers) await server.stop()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await network.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** Counts the market's own requests: a quote adds at most one read of users per block and chain. */
async function countIdle(proxies: readonly FaultProxy[]): Promise<Counted> {
  const blocks = 10
  for (const proxy of proxies) proxy.resetCounters()
  await new Promise((resolve) => setTimeout(resolve, blocks * blockTimeSeconds * 1_000))
  const counters = proxies.map((proxy) => proxy.counters())
  const perBlock = (of: 'requests' | 'calls') =>
    counters.reduce((total, counter) => total + counter[of], 0) / (blocks * proxies.length)
  return { requestsPerBlock: perBlock('requests'), callsPerBlock: perBlock('calls') }
}
