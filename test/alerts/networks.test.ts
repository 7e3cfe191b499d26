// Goal: an operator hears of a network that changed. Method: quote-api over real nodes under Prometheus with our rules,
// and a chain whose blocks come faster than the file says.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { copyConfigs } from '../../apps/quote-api/test/serviceSupport/configCopy.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { fires, patienceMs } from '../support/firing.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'

const quoteFile = z.looseObject({ chains: z.record(z.string(), z.looseObject({})) })
let configs: Awaited<ReturnType<typeof copyConfigs>>
let oracles: StandInOracles
let bed: SettlementBed
let prometheus: Prometheus

vi.setConfig({ testTimeout: 2 * patienceMs })

beforeAll(async () => {
  oracles = await startStandInOracles()
  configs = await copyConfigs()
  await configs.edit('quote.local.json', (json) => {
    const { chains, ...file } = quoteFile.parse(json)
    const seen = { on: '2026-11-27', source: 'this test' }
    return { ...file, chains: { ...chains, base: { ...chains['base'], blockTimeMs: 2_000, seen } } }
  })
  bed = await startSettlementBed({
    blockTimeSeconds: 2,
    oracles: async () => oracles.setting,
    environment: async () => ({ CONFIG_DIR: configs.directory }),
  })
  prometheus = await startPrometheus([{ name: 'quote-api', opsUrl: bed.opsUrl }])
})
afterAll(async () => {
  await prometheus?.stop()
  await bed?.stop()
  await configs?.remove()
  await oracles?.stop()
})

test('NetworkChanged where blocks come faster than the file says', async () => {
  expect((await prometheus.alerts()).filter(({ name }) => name === 'NetworkChanged')).toEqual([])
  // By its own timestamps a block comes every second from now on.
  await bed.network.chains.base.chain.node.setBlockTimestampInterval({ interval: 1 })
  await bed.network.mine('base', 100)
  await fires(prometheus, 'NetworkChanged', { chain: 'base', what: 'block-time' })
})
