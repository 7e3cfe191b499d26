// Goal: no burst of blocks makes a deposit old enough to be filled. Method: the running service over real nodes that mine
// when they are told to, with rules of minutes and of the chain's own word; steps are counted in blocks and in looks of the
// service, never in time, and minutes pass in the database alone.
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { QuoteAnswer } from './serviceSupport/callService.ts'
import { copyConfigs } from './serviceSupport/configCopy.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  type StandInOracles,
  startSettlementBed,
  startStandInOracles,
} from './settlementSupport/settlementBed.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

/** In seconds; a node may be ten of them ahead of the clock. */
const minutes = 120
/** Below and above 1,000 USD. */
const [small, large] = [60_000_000n, 2_000_000_000n]
/** A development node calls a block final two epochs of 32 slots later. */
const finalBlocks = 65
const closers: (() => unknown)[] = []
let bed: SettlementBed
let oracles: StandInOracles
let sponsor: TestSponsor

const quoteFile = z.looseObject({ chains: z.record(z.string(), z.looseObject({})) })

beforeAll(async () => {
  oracles = await startStandInOracles()
  const configs = await copyConfigs()
  closers.push(() => configs.remove())
  await configs.edit('quote.local.json', (json) => {
    const { chains, ...file } = quoteFile.parse(json)
    const pinPolicy = [{ upToMicroUsd: '1000000000', seconds: minutes }, { finalized: true }]
    const changed = Object.entries(chains).map(([key, chain]) => [
      key,
      key === 'base' ? { ...chain, pinPolicy } : chain,
    ])
    return { ...file, chains: Object.fromEntries(changed) }
  })
  bed = await startSettlementBed({
    oracles: async () => oracles.setting,
    environment: async () => ({ CONFIG_DIR: configs.directory }),
  })
})
afterAll(async () => {
  await bed?.stop()
  for (const close of closers) await close()
  await oracles?.stop()
})
beforeEach(async () => {
  oracles.set()
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})

async function deposited(amount: bigint): Promise<QuoteAnswer> {
  await Promise.all([bed.network.mine('base'), bed.network.mine('optimism')])
  let answer: QuoteAnswer | undefined
  await waitUntil('it is quoted', async () => {
    answer = await bed.requests.quoted(sponsor, { amount }).catch(() => undefined)
    return answer !== undefined
  })
  if (answer === undefined) throw new Error('there is no quote')
  await bed.requests.execute(answer)
  await waitUntil('its deposit is seen', async () => (await looksAt(answer)) !== undefined)
  return answer
}

async function looksAt(quote: QuoteAnswer | undefined): Promise<number | undefined> {
  const rows = await bed.database.query<{ looks: number }>(
    'select looks::integer as looks from deposit_seen where request_id = $1',
    [bytesOf(quote?.requestId ?? '0x')],
  )
  return rows[0]?.looks
}

/** The service has looked at its deposit twice more, and left it. */
async function waits(quote: QuoteAnswer): Promise<void> {
  const before = (await looksAt(quote)) ?? 0
  await waitUntil('it is looked at again', async () => ((await looksAt(quote)) ?? 0) >= before + 2)
  expect(await bed.requests.openWork(quote, 'fill')).toBeUndefined()
}

const isSeenFor = (quote: QuoteAnswer, seconds: number) =>
  bed.database.query(
    `update deposit_seen set seen_at = seen_at - $2 * interval '1 second' where request_id = $1`,
    [bytesOf(quote.requestId), seconds],
  )

test('F-102: what waits for the word of its chain is left while that does not come, and then filled', async () => {
  const quote = await deposited(large)
  await bed.network.mine('base', finalBlocks - 5)
  await waits(quote)
  await bed.network.mine('base', 10)
  await bed.requests.workFor(quote, 'fill')
})

test('F-101: the time since it was seen makes no deposit older than its chain says', async () => {
  const quote = await deposited(small)
  await isSeenFor(quote, 2 * minutes)
  await bed.network.mine('base', 20)
  await waits(quote)
  await bed.network.chains.base.chain.node.mine({ blocks: 2, interval: minutes })
  await bed.requests.workFor(quote, 'fill')
})

test('F-101: blocks that come faster than their timestamps make no deposit older than it was seen', async () => {
  const quote = await deposited(small)
  await bed.network.chains.base.chain.node.mine({ blocks: 14, interval: 10 })
  await waits(quote)
  await isSeenFor(quote, minutes)
  await bed.requests.workFor(quote, 'fill')
})
