// Goal: no feed of a rollup is a price while its sequencer is down, unknown, or back for less than an hour.
// Method: answers encoded by viem, and prices made of readings of a chain whose file names an uptime feed.
import { encodeAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { baseReading, ethFeed, quoteFile } from '../../test/support/fixtures.ts'
import { planContractReads } from '../chain/contractReads.ts'
import { createSourceReader } from '../evaluation/readSources.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import { createSequencerReader, type SequencerStatus } from './sequencer.ts'

const uptimeFeed = '0xbcf85224fc0756b9fa45aa7892530b47e10b6433'
const plan = planMarket(
  quoteFile((input) => ({
    ...input,
    chains: { ...input.chains, base: { ...input.chains.base, sequencerUptimeFeed: uptimeFeed } },
  })),
)
const types = ['uint80', 'int256', 'uint256', 'uint256', 'uint80'].map((type) => ({ type }))
const answerOf = (answer: bigint, startedAt: bigint) => ({
  success: true,
  returnData: encodeAbiParameters(types, [1n, answer, startedAt, 9n, 1n]),
})

/** The result of the feed of ETH, beside pools and HTTP sources, for a reading with this status. */
function ethFeedSays(sequencer: SequencerStatus | undefined, plannedBy = plan) {
  const nowMs = 1_800_000_000_000
  const value = { reading: { ...baseReading({ nowMs }), sequencer }, readAtMs: nowMs }
  const facts = {
    plan: plannedBy,
    chains: new Map([['base', value]]),
    http: new Map(),
    limits: defaultLimits,
    nowMs,
  }
  const price = plannedBy.priceByKey.get('ETH/USD')
  if (price === undefined) throw new Error('no price of ETH')
  return createSourceReader(facts)(price).find(({ source }) => source === `feed base ${ethFeed}`)?.result
}

describe('F-50: the sequencer of a rollup', () => {
  const blockSeconds = 1_799_999_999n

  test.each<readonly [string, SequencerStatus | undefined]>([
    ['sequencer_unknown', undefined],
    ['sequencer_down', { isUp: false, sinceSeconds: 1n }],
    ['sequencer_recovering', { isUp: true, sinceSeconds: blockSeconds - 3_599n }],
    ['sequencer_recovering', { isUp: true, sinceSeconds: blockSeconds + 60n }],
  ])('makes a young round of a feed count for nothing: %s', (fault, status) => {
    expect(ethFeedSays(status)).toEqual({ fault })
  })

  test('lets feeds count again an hour after it came back', () => {
    expect(ethFeedSays({ isUp: true, sinceSeconds: blockSeconds - 3_600n })).toMatchObject({
      usdX18: 2_000n * 10n ** 18n,
    })
  })

  test('is not asked for where the file names no uptime feed', () => {
    expect(ethFeedSays(undefined, planMarket(quoteFile()))).toMatchObject({ usdX18: 2_000n * 10n ** 18n })
    expect(createSequencerReader(undefined).calls).toEqual([])
  })

  test.each([
    ['up', [answerOf(0n, 7n)], { isUp: true, sinceSeconds: 7n }],
    ['down', [answerOf(1n, 7n)], { isUp: false, sinceSeconds: 7n }],
    ['a price, which is no status', [answerOf(200_000_000_000n, 7n)], { isUp: false, sinceSeconds: 7n }],
    ['before its first round', [answerOf(0n, 0n)], undefined],
    ['of another shape', [{ success: true, returnData: '0x' as const }], undefined],
    ['refused', [{ ...answerOf(0n, 7n), success: false }], undefined],
    ['missing', [], undefined],
  ])('is read from its feed: %s', (_name, answers, status) => {
    expect(createSequencerReader(uptimeFeed).read(answers)).toEqual(status)
  })

  test('is read in the one multicall, behind the feeds, where feeds are read', () => {
    const [base, optimism] = plan.chains
    if (base === undefined || optimism === undefined) throw new Error('no chains')
    const { calls, read } = planContractReads(base, undefined).reading({ withDataFees: false })
    expect(calls.at(-1)).toMatchObject({ target: uptimeFeed })
    const silent = { success: false, returnData: '0x' as const }
    const answers = [...calls.slice(1).map(() => silent), answerOf(0n, 7n)]
    expect(read(answers)).toMatchObject({ sequencer: { isUp: true, sinceSeconds: 7n } })
    const idle = { ...base, feeds: [] }
    const targets = planContractReads(idle, undefined).reading({ withDataFees: false }).calls
    expect(targets.map(({ target }) => target)).not.toContain(uptimeFeed)
  })
})
