// Goal: no burst of blocks makes a deposit old enough to be filled. Method: the running service over real nodes that
// mine when they are told to, with rules of minutes and of the chain's own word. Blocks and looks of the service are
// counted, never time: minutes pass in the timestamps of blocks and in the database alone.
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

/** In seconds; the market takes heads ten minutes ahead of the clock, which is more than all tests mine together. */
const minutes = 120
/** Below and above 1,000 USD. */
const [small, large] = [60_000_000n, 2_000_000_000n]
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
  // The other chain goes on by itself: no price counts where it stands.
  await bed.network.chains.optimism.chain.node.setIntervalMining({ interval: 1 })
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

/** Faster blocks put the chain ahead of its clock, and what is added to that makes later ones less old. */
const aBlockASecond = { pollMs: 1_000 }

async function quoted(amount: bigint): Promise<QuoteAnswer> {
  let answer: QuoteAnswer | undefined
  const isQuoted = async () => {
    await bed.network.mine('base')
    answer = await bed.requests.quoted(sponsor, { amount }).catch(() => undefined)
    return answer !== undefined
  }
  await waitUntil('it is quoted', isQuoted, aBlockASecond)
  if (answer === undefined) throw new Error('there is no quote')
  return answer
}

/** A deposit that was seen, in time however far the chain is ahead of the clock. */
async function deposited(amount: bigint): Promise<QuoteAnswer> {
  const quote = await quoted(amount)
  await bed.database.query(
    `update orders set expires_at = clock_timestamp() + interval '1 hour' where request_id = $1`,
    [bytesOf(quote.requestId)],
  )
  await bed.requests.execute(quote)
  await waitUntil('its deposit is seen', async () => (await storedDeposit(quote)) !== undefined)
  return quote
}

async function storedDeposit({ requestId }: QuoteAnswer) {
  const [row] = await bed.database.query<{ state: string; looks: number }>(
    'select state, looks::integer as looks from deposit_seen where request_id = $1',
    [bytesOf(requestId)],
  )
  return row
}

/** The service looks at its deposit twice more, and leaves it. */
async function waits(quote: QuoteAnswer): Promise<void> {
  const { looks = 0 } = (await storedDeposit(quote)) ?? {}
  await waitUntil('it is looked at again, or taken', async () => {
    const now = await storedDeposit(quote)
    return now?.state !== 'seen' || now.looks >= looks + 2
  })
  expect(await storedDeposit(quote)).toMatchObject({ state: 'seen' })
}

const isSeenFor = (quote: QuoteAnswer, seconds: number) =>
  bed.database.query(
    `update deposit_seen set seen_at = seen_at - $2 * interval '1 second' where request_id = $1`,
    [bytesOf(quote.requestId), seconds],
  )

test('F-102: what waits for the word of its chain is left while that does not come, and then filled', async () => {
  const quote = await deposited(large)
  await isSeenFor(quote, 2 * minutes)
  await bed.network.mine('base')
  await waits(quote)
  // Now two blocks are on top of it, which make it final.
  await bed.network.mine('base')
  await bed.requests.workFor(quote, 'fill')
})

test('F-101: the time since it was seen makes no deposit older than its chain says', async () => {
  const quote = await deposited(small)
  await isSeenFor(quote, 2 * minutes)
  await bed.network.mine('base', 20)
  await waits(quote)
  await bed.network.chains.base.chain.node.mine({ blocks: 1, interval: 2 * minutes })
  await bed.requests.workFor(quote, 'fill')
})

test('F-101: blocks that come faster than their timestamps make no deposit older than it was seen', async () => {
  const quote = await deposited(small)
  await bed.network.chains.base.chain.node.mine({ blocks: 14, interval: 10 })
  await waits(quote)
  await isSeenFor(quote, minutes)
  await bed.requests.workFor(quote, 'fill')
})
