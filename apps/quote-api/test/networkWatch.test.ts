// Goal: the service says within a minute that a network is not as the files say, and sells nothing there where money
// depends on it. Attacks: blocks that come faster, so that a depth is worth less; a final block that stands; storage that
// takes more gas than prices may follow; signers of prices that nobody listed. Method: the running service over real
// nodes that change under it, and a price service that shows what a later guardian set signed.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { examineQuoteApi } from '../src/compose/examine.ts'
import { repositoryRoot, serviceEnvironment } from './fixtures/service.ts'
import { post, send } from './serviceSupport/callService.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'

const quoteFile = z.looseObject({
  chains: z.record(z.string(), z.looseObject({})),
  prices: z.array(z.looseObject({ key: z.string() })),
})
const seen = { on: '2026-11-27', source: 'this test' }
/** An update of prices that names set 9, which nobody lists, and that nobody signed. */
const laterUpdate = ['504e4155', '01', '00', '00', '00', '0006', '010000000900', '00'].join('')

// The next look at a chain may be most of a minute away.
vi.setConfig({ testTimeout: 240_000 })

let directory: string
let configs: ConfigCopy
let oracles: StandInOracles
let priceService: Server
let bed: SettlementBed

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-networks-'))
  oracles = await startStandInOracles()
  priceService = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ binary: { encoding: 'hex', data: [laterUpdate] } }))
  })
  await new Promise<void>((resolve) => priceService.listen(0, '127.0.0.1', resolve))
  configs = await copyConfigs()
  await configs.edit('quote.local.json', (json) => {
    const { chains, prices, ...file } = quoteFile.parse(json)
    const { base, optimism, ...others } = chains
    return {
      ...file,
      guardianSets: [{ index: 1, addresses: [`0x${'41'.repeat(20)}`], source: 'this test' }],
      chains: {
        ...others,
        base: { ...base, blockTimeMs: 2_000, seen },
        optimism: { ...optimism, blockTimeMs: 2_000, seen: { ...seen, finalitySeconds: 8 } },
      },
      prices: prices.map((price) =>
        price.key === 'TIDE/USD'
          ? { ...price, http: [{ adapter: 'hermes', id: `0x${'7e'.repeat(32)}` }] }
          : price,
      ),
    }
  })
  bed = await startSettlementBed({
    blockTimeSeconds: 2,
    oracles: async () => oracles.setting,
    environment: async () => ({ CONFIG_DIR: configs.directory, HERMES_URL: hermesUrl() }),
  })
}, 120_000)
afterAll(async () => {
  await bed?.stop()
  await configs?.remove()
  await oracles?.stop()
  priceService?.close()
  await rm(directory, { recursive: true, force: true })
})

// CAST: a server that listens on a port has the address of one.
const hermesUrl = () => `http://127.0.0.1:${(priceService.address() as AddressInfo).port}/`

const priced = (from: 'base' | 'optimism', to: 'base' | 'optimism') =>
  post(`${bed.url}/price`, localRequest(bed.network, { amount: 60_000_000n, from, to }))

const broken = async () =>
  [...(await send(`${bed.opsUrl}/metrics`)).text.matchAll(/^chain_assumption_broken\{([^}]*)\} 1$/gm)].map(
    ([, labels = '']) => labels,
  )

const isBroken = (chain: string, what: string, meanwhile: () => Promise<void> = async () => {}) =>
  waitUntil(
    `${what} of ${chain} is broken`,
    async () => {
      await meanwhile()
      return (await broken()).some(
        (labels) => labels.includes(`chain="${chain}"`) && labels.includes(`what="${what}"`),
      )
    },
    { pollMs: 1_000 },
  )

const readiness = async () => JSON.parse((await send(`${bed.opsUrl}/ready`)).text)

test('F-111, O-107: a guardian set that is not listed is told, and stops nothing', async () => {
  await isBroken('all', 'guardian-set')
  await waitUntil('it is sold', async () => (await priced('base', 'optimism')).status === 200)
  await expect.poll(readiness).toMatchObject({
    ready: true,
    checks: { networks: 'failed' },
    reasons: { networks: 'GUARDIAN_SET_UNKNOWN' },
  })
})

test('F-108, O-107: blocks that come faster than the file says stop the chain, and everybody is told', async () => {
  const { node } = bed.network.chains.base.chain
  expect((await broken()).filter((labels) => labels.includes('chain="base"'))).toEqual([])
  // More of them at each question: a service that looks late measures over the chain's usual blocks too.
  await isBroken('base', 'block-time', () => node.mine({ blocks: 100, interval: 1 }))
  await waitUntil('it is refused', async () => (await priced('base', 'optimism')).status === 503)
  for (const answer of [await priced('base', 'optimism'), await priced('optimism', 'base')]) {
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([503, { errorCode: 'CHAIN_STOPPED' }])
    // Callers are not told what changed.
    expect(answer.text).not.toContain('ms')
  }
  expect(await readiness()).toMatchObject({ ready: true, reasons: { networks: 'BLOCK_TIME_CHANGED' } })
  const metrics = (await send(`${bed.opsUrl}/metrics`)).text
  expect(metrics).toMatch(/^chain_stopped\{chain="base",by="network".*\} 1$/m)
  const health = JSON.parse((await send(`${bed.adminUrl}/admin/health`)).text)
  expect(health.networks).toContainEqual(
    expect.objectContaining({ what: 'block-time', text: expect.stringContaining('2000 ms') }),
  )
  expect(health.stops).toContainEqual(expect.objectContaining({ by: 'network', actor: 'quote-api' }))
  const status = (await send(`${bed.adminUrl}/admin/status`)).text
  expect(status).toContain('docs/operating/networks.md')
})

test('F-109, F-110, O-107: a final block that trails and gas that is dearer are seen by the next look, and by the doctor', async () => {
  const { optimism } = bed.network.chains
  const { wrappedNative } = bed.network.deployment.optimism
  // So many slots are filled that no price follows, and a word is answered.
  const slots = Array.from({ length: 40 }, (_, slot) => `600160${slot.toString(16).padStart(2, '0')}55`)
  await optimism.chain.node.setCode({ address: wrappedNative, bytecode: `0x${slots.join('')}60206000f3` })
  await optimism.chain.node.setBlockTimestampInterval({ interval: 12 })
  await isBroken('optimism', 'finality-lag')
  await isBroken('optimism', 'gas')
  // The metric is read at once, the stop when stops are next refreshed.
  const stops = async () => JSON.parse((await send(`${bed.adminUrl}/admin/health`)).text).stops
  await expect.poll(stops, { timeout: 30_000 }).toContainEqual(
    expect.objectContaining({
      by: 'network',
      chainId: optimism.chainId,
      reason: expect.stringContaining('gas:'),
    }),
  )

  const environment = await serviceEnvironment(bed.network, directory, {
    ...serviceSettings(bed.connectionString, ''),
    CONFIG_DIR: configs.directory,
    HERMES_URL: hermesUrl(),
    ORACLES: '',
    ORACLES_THRESHOLD: '',
  })
  const found = await examineQuoteApi(environment, { repositoryRoot, nowMs: () => Date.now(), scope: 'all' })
  const named = found.filter(({ code }) => code === 'network-changed')
  expect(named.map(({ setting, severity }) => [setting, severity])).toEqual(
    expect.arrayContaining([
      ['quote: chains.optimism', 'degrades'],
      ['quote: guardianSets', 'degrades'],
    ]),
  )
  expect(named.map((one) => one.seen).join()).toMatch(
    /final block is \d+ s behind.*approve takes \d+ of 65000/s,
  )
})
