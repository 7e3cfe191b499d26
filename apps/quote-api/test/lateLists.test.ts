// Goal: a deposit whose logs, or whose receipt's logs, endpoints show seconds after its block is filled all the same, and
// none is lost. Method: the service over a real node behind three proxies that hold back what is younger than they say.
import {
  type FaultProxy,
  nodePersonalities,
  type PersonalityName,
  startFaultProxy,
  waitUntil,
} from '@causeway/localnet'
import { afterAll, afterEach, beforeAll, test } from 'vitest'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor } from './sponsorSupport/sponsors.ts'

let oracles: StandInOracles
let proxies: readonly FaultProxy[]
let bed: SettlementBed
beforeAll(async () => {
  oracles = await startStandInOracles()
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    async environment(network) {
      const targetUrl = network.chains.base.url
      proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl })))
      return { BASE_RPC_URL: proxies.map(({ url }) => url).join(',') }
    },
  })
}, 300_000)
afterAll(async () => {
  await bed?.stop()
  await oracles?.stop()
  await Promise.all((proxies ?? []).map((proxy) => proxy.stop()))
})
afterEach(() => Promise.all(proxies.map((proxy) => proxy.set({ kind: 'pass' }))))

test.each<[string, number, PersonalityName]>([
  ['logs at every endpoint', 3, 'late-logs'],
  ['logs at a quorum', 2, 'late-logs'],
  ['logs of receipts at every endpoint', 3, 'late-receipts'],
])(
  'F-70: %s that come three seconds late lose no deposit',
  async (_what, count, name) => {
    const sponsor = await createSponsor(bed.database, 1_000_000_000n)
    let quote: QuoteAnswer | undefined
    await waitUntil('it is quoted', async () => {
      quote = await bed.requests.quoted(sponsor, { amount: 60_000_000n, more: {} }).catch(() => undefined)
      return quote !== undefined
    })
    if (quote === undefined) throw new Error('there is no quote')
    const { requestId } = quote
    for (const proxy of proxies.slice(0, count))
      await proxy.set({ kind: 'hosted', personality: nodePersonalities[name] })
    await bed.requests.execute(quote)
    await waitUntil('its deposit is seen', async () => {
      const states = await bed.database.query('select state from deposit_seen where request_id = $1', [
        bytesOf(requestId),
      ])
      return states.length > 0
    })
  },
  240_000,
)
