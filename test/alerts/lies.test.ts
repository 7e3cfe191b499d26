// Goal: who lies, is gone or is slow is named while nothing is lost yet, and a debit that nothing proves is seen to the unit.
// Method: quote-api over three endpoints of a chain, two of which misbehave in turn, with a request that settles.
import { type FaultProxy, startFaultProxy, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { bytesOf } from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { createSponsor } from '../../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'

const patience = { patienceMs: 180_000 }
const proxies: FaultProxy[] = []
let oracles: StandInOracles
let bed: SettlementBed
let prometheus: Prometheus

vi.setConfig({ testTimeout: 240_000 })

beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    async environment({ chains }) {
      for (let each = 0; each < 3; each += 1)
        proxies.push(await startFaultProxy({ targetUrl: chains.base.url }))
      return { BASE_RPC_URL: proxies.map(({ url }) => url).join(',') }
    },
  })
  prometheus = await startPrometheus([{ name: 'quote-api', opsUrl: bed.opsUrl }])
})
afterAll(async () => {
  await prometheus?.stop()
  await bed?.stop()
  await Promise.all(proxies.map((proxy) => proxy.stop()))
  await oracles?.stop()
})

const hostOf = (proxy: FaultProxy | undefined) => new URL(proxy?.url ?? 'http://none').host
const proxyAt = (index: number): FaultProxy => {
  const proxy = proxies[index]
  if (proxy === undefined) throw new Error('three endpoints are configured')
  return proxy
}

async function fires(
  name: string,
  holds: (labels: Readonly<Record<string, string>>) => boolean = () => true,
) {
  await waitUntil(
    `${name} fires`,
    async () => (await prometheus.alerts()).some((alert) => alert.name === name && holds(alert.labels)),
    patience,
  )
}

test('the endpoint that lies is named, and no other one', async () => {
  const liar = proxyAt(0)
  const flipped = (text: string) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`
  await liar.set({
    kind: 'lie',
    rewrite: ({ method }, result) =>
      method === 'eth_call' && typeof result === 'string' && result.length > 66 ? flipped(result) : result,
  })
  await fires('EndpointOutvoted', ({ endpoint = '' }) => endpoint.startsWith(hostOf(liar)))
  const named = (await prometheus.alerts()).filter(({ name }) => name === 'EndpointOutvoted')
  expect(named.every(({ labels }) => labels['endpoint']?.startsWith(hostOf(liar)))).toBe(true)
  await liar.set({ kind: 'pass' })
})

test('the endpoint that is gone is named, while quotes go on', async () => {
  const gone = proxyAt(1)
  await gone.set({ kind: 'refuse' })
  await fires('EndpointFailing', ({ endpoint = '' }) => endpoint.startsWith(hostOf(gone)))
  expect((await prometheus.alerts()).filter(({ name }) => name === 'AgreementLost')).toEqual([])
  await gone.set({ kind: 'pass' })
})

test('the endpoint that is slow is named, and no other one', async () => {
  const slow = proxyAt(2)
  await slow.set({ kind: 'latency', delayMs: 1_500 })
  await fires('EndpointSlow', ({ endpoint = '' }) => endpoint.startsWith(hostOf(slow)))
  const named = (await prometheus.alerts()).filter(({ name }) => name === 'EndpointSlow')
  expect(named.every(({ labels }) => labels['endpoint']?.startsWith(hostOf(slow)))).toBe(true)
  await slow.set({ kind: 'pass' })
})

test('AgreementLost where two of three are gone', async () => {
  for (const proxy of [proxyAt(1), proxyAt(2)]) await proxy.set({ kind: 'refuse' })
  await fires('AgreementLost', ({ chain }) => chain === 'base')
  for (const proxy of [proxyAt(1), proxyAt(2)]) await proxy.set({ kind: 'pass' })
  await waitUntil(
    'they are heard again',
    async () => (await prometheus.query('market_chain_state{chain="base",state="ok"} == 1')) === 1,
    patience,
  )
})

test('a debit that is what oracles attested is no difference, and one unit is', async () => {
  const { database, requests, solver } = bed
  const sponsor = await createSponsor(database, 1_000_000_000n)
  const settled = async () => {
    const quote = await requests.quoted(sponsor, { amount: 60_000_000n })
    await requests.execute(quote)
    await solver.carryOut(await requests.workFor(quote, 'fill'))
    await requests.reachesStage(quote, 'settled')
    return quote
  }
  const debited = 'settlement_debited_micro_usd_total{chain="base"} > 0'
  const looked = 'time() - job_last_success_timestamp_seconds{name="attested-debits"} < 10'
  await settled()
  await waitUntil('its debit is counted', async () => (await prometheus.query(debited)) === 1, patience)
  await waitUntil('the job has looked', async () => (await prometheus.query(looked)) === 1, patience)
  expect(await prometheus.query('ledger_unproven_micro_usd == 0')).toBe(1)
  expect((await prometheus.alerts()).filter(({ name }) => name === 'DebitUnproven')).toEqual([])
  // The next look is most of a minute away.
  const { requestId } = await settled()
  await database.query(
    'update request_sponsorship set debit_micro_usd = debit_micro_usd + 1 where request_id = $1',
    [bytesOf(requestId)],
  )
  await fires('DebitUnproven')
  expect(await prometheus.query('ledger_unproven_micro_usd == 1')).toBe(1)
})
