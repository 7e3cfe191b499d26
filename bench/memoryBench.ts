// P10: what each service holds after 10,000 and after 100,000 requests, garbage collected.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestNetwork } from '@causeway/localnet'
import { serviceEnvironment } from '../apps/quote-api/test/fixtures/service.ts'
import { load } from './load.ts'
import { depositsPath, keyed, startOracle, startOracleNetwork } from './oracleNetwork.ts'
import { startQuoteServer } from './process.ts'
import { bodies } from './quoteBench.ts'
import type { BenchRow } from './row.ts'

const few = 10_000
const many = 100_000
const goals = { growth: 1.15, residentMiB: 250 }

type Asked = {
  readonly url: string
  readonly path: string
  readonly texts: readonly string[]
  readonly headers: Readonly<Record<string, string>>
}

/** @throws Error when a request fails */
export async function benchMemory(): Promise<readonly BenchRow[]> {
  return [...(await benchOracleMemory()), ...(await benchPriceMemory())]
}

async function benchOracleMemory(): Promise<readonly BenchRow[]> {
  const { network, deposits } = await startOracleNetwork({ deposits: 500, orders: 0 })
  const oracle = await startOracle(network, { FINAL_RESULTS_KEPT_MAX: '0' })
  try {
    const asked = { url: oracle.url, path: depositsPath, texts: deposits, headers: keyed }
    return rows('P10-oracle', 'oracle, cold deposits', await measure(asked))
  } finally {
    await oracle.stop()
    await network.stop()
  }
}

async function benchPriceMemory(): Promise<readonly BenchRow[]> {
  const network = await startTestNetwork({ blockTimeSeconds: 2 })
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  const sizes = { BENCH_PRICE_BYTES: '100', BENCH_QUOTE_BYTES: '100' }
  const environment = await serviceEnvironment(network, directory, sizes)
  const service = await startQuoteServer({ ...process.env, ...environment })
  try {
    const asked = { url: service.url, path: '/price', texts: bodies(network), headers: {} }
    return rows('P10-price', 'quote-api, POST /price', await measure(asked))
  } finally {
    await service.stop()
    await network.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function measure(asked: Asked): Promise<{ readonly fewMiB: number; readonly manyMiB: number }> {
  await send(asked, few)
  const fewMiB = await resident(asked.url)
  await send(asked, many - few)
  return { fewMiB, manyMiB: await resident(asked.url) }
}

async function send({ url, path, texts, headers }: Asked, requests: number): Promise<void> {
  const result = await load({ url, path, bodies: texts, connections: 32, requests, headers })
  if (result.failed > 0) throw new Error(`${path}: ${result.failed} requests failed`)
}

async function resident(url: string): Promise<number> {
  const { rss } = JSON.parse(await (await fetch(`${url}/bench/memory`)).text())
  return Number(rss) / 1024 / 1024
}

function rows(id: string, what: string, measured: { fewMiB: number; manyMiB: number }): readonly BenchRow[] {
  const { fewMiB, manyMiB } = measured
  const value = `${manyMiB.toFixed(0)} MiB against ${fewMiB.toFixed(0)} MiB`
  const name = `${what}: resident memory after ${many} requests against ${few}, garbage collected`
  return [
    {
      id,
      name,
      value,
      limit: `<= ${goals.growth}`,
      ratio: manyMiB / fewMiB,
      goal: goals.growth,
      atLeast: false,
    },
    {
      id: `${id}-size`,
      name: `${what}: resident memory after ${many} requests, MiB`,
      value,
      limit: `< ${goals.residentMiB}`,
      ratio: manyMiB,
      goal: goals.residentMiB,
      atLeast: false,
    },
  ]
}
