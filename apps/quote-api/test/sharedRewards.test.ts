// Goal: two services on one database promise together what one may, and what was deposited for at one lowers the rewards
// of the other. Who gains by breaking it: whoever asks each of them for the same reward. Method: both with jobs, over real
// nodes and a real database; a market that is out of balance; orders that are filled and given back.
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestService, type TestService } from './fixtures/service.ts'
import { price, type QuoteAnswer, quote } from './serviceSupport/callService.ts'
import { type ConfigCopy, copyConfigs } from './serviceSupport/configCopy.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  serviceSettings,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'

const usd6 = 10n ** 6n
const flatMicroUsd = 20_000n
const perDayMicroUsd = 5n * usd6

let oracles: StandInOracles
let configs: ConfigCopy
let bed: SettlementBed
let second: TestService
let urls: readonly [string, string]

beforeAll(async () => {
  oracles = await startStandInOracles()
  configs = await copyConfigs()
  const openRewards = { processes: 2, keylessBps: 10_000, perDayMicroUsd: perDayMicroUsd.toString() }
  await configs.edit('quote.local.json', (file) => withTargets(Object.assign({}, file, { openRewards })))
  const settings = { CONFIG_DIR: configs.directory, RATE_LIMIT_PER_IP: '0' }
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    oracles: async () => oracles.setting,
    environment: async () => settings,
  })
  second = await startTestService(bed.network, {
    ...serviceSettings(bed.connectionString, oracles.setting),
    ...settings,
  })
  urls = [bed.url, (await second.listen()).publicUrl]
})
afterAll(async () => {
  await second?.stop()
  await bed?.stop()
  await oracles?.stop()
  await configs?.remove()
})

/** USDC is wanted on Base: what comes in there earns. */
function withTargets(file: object): unknown {
  const text = JSON.stringify(file)
  const wanted = { 8453: 5_500, 10: 4_500 }
  return JSON.parse(text, (_name, value: unknown) => {
    const [chainId, currencies] = [memberOf(value, 'chainId'), memberOf(value, 'currencies')]
    const share = chainId === 8_453 ? wanted[8_453] : chainId === 10 ? wanted[10] : undefined
    if (share === undefined || !Array.isArray(currencies)) return value
    const changed = currencies.map((one: unknown) =>
      memberOf(one, 'asset') === 'usdc' && memberOf(one, 'solver') === true
        ? Object.assign({}, one, { targetShareBps: share })
        : one,
    )
    return Object.assign({}, value, { currencies: changed })
  })
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined
}

/** In micro-USD; USDC is at par here. */
const rewardIn = ({ fees }: { readonly fees: { readonly relayerService: { readonly amount: string } } }) =>
  flatMicroUsd - BigInt(fees.relayerService.amount)

const usdc = (dollars: bigint) => localRequest(bed.network, { amount: dollars * usd6 })
const offered = async (url: string) => rewardIn(await price(url, usdc(1_000n)))

async function booked({ requestId }: QuoteAnswer): Promise<bigint | undefined> {
  const [row] = await bed.database.query<{ micro_usd: bigint }>(
    'select micro_usd from skew_booking where request_id = $1',
    [bytesOf(requestId)],
  )
  return row?.micro_usd
}

/** All that were asked for, with and without a reward. */
const quotes: QuoteAnswer[] = []

test('Q-42: a deposit for a quote of one service lowers the reward at the other', async () => {
  const { requests } = bed
  await waitUntil(
    'both give rewards',
    async () => (await offered(urls[0])) > 0n && (await offered(urls[1])) > 0n,
  )

  const first = await quote(urls[0], usdc(50_000n))
  quotes.push(first)
  expect(rewardIn(first)).toBeGreaterThan(usd6)
  const before = await offered(urls[1])
  await requests.execute(first)
  await requests.reachesStage(first, 'filling')
  expect(await booked(first)).toBe(-rewardIn(first))
  await expect.poll(() => offered(urls[1])).toBeLessThan((before * 9n) / 10n)
}, 60_000)

test('Q-46: two services that are asked at once give together the stated sum, and no more', async () => {
  const { requests, solver } = bed
  for (let wave = 0; wave < 3; wave += 1) {
    const asked = urls.flatMap((url) => Array.from({ length: 15 }, () => quote(url, usdc(1_000n))))
    quotes.push(...(await Promise.all(asked)))
    await new Promise((resolve) => setTimeout(resolve, 1_200))
  }
  const promised = quotes.reduce((sum, one) => sum + rewardIn(one), 0n)
  expect(promised).toBeGreaterThan((perDayMicroUsd * 8n) / 10n)
  expect(promised).toBeLessThanOrEqual(perDayMicroUsd)

  const earning = quotes[1]
  if (earning === undefined) throw new Error('it was quoted')
  expect(rewardIn(earning)).toBeGreaterThan(0n)
  await requests.execute(earning)
  const work = await requests.workFor(earning, 'fill')
  expect(await booked(earning)).toBe(-rewardIn(earning))
  await bed.database.query('update work_item set attempts = 3 where id = $1', [work.id])
  await solver.fail(work.id, 'no inventory')
  await requests.reachesStage(earning, 'refunding')
  expect(await booked(earning)).toBeUndefined()
}, 60_000)

test('Q-46: a cost counts once its order is filled, and is told to operators', async () => {
  const { requests, solver } = bed
  const costly = await quote(urls[1], localRequest(bed.network, { pay: 'native', amount: 10n ** 19n }))
  await requests.execute(costly)
  const work = await requests.workFor(costly, 'fill')
  expect(await booked(costly)).toBeUndefined()
  await solver.carryOut(work)
  await requests.reaches(costly, 'success')
  expect(await booked(costly)).toBeGreaterThan(usd6 / 2n)
  const [{ sum } = { sum: 0n }] = await bed.database.query<{ sum: bigint }>(
    'select sum(micro_usd) from skew_booking',
  )
  const metrics = await (await fetch(`${bed.opsUrl}/metrics`)).text()
  expect(metrics).toContain(`rewards_left_micro_usd{service="quote-api"} ${perDayMicroUsd + sum}`)
}, 60_000)
