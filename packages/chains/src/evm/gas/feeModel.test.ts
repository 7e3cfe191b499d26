import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MalformedAnswerError } from '../malformedAnswer.ts'
import { estimateGasPrice, feeHistoryRequest, parseFeeHistory } from './feeModel.ts'

const model = {
  kind: 'eip1559',
  historyBlocks: 10,
  rewardPercentile: 20,
  minPriorityFeeWei: 1n,
  inclusionBlocks: 6,
  markupBps: 1_000,
} as const

describe('estimateGasPrice', () => {
  test.each([
    ['the middle of an odd number of tips', [5n, 1n, 3n], 3n],
    ['the mean of the middle two, rounded up', [1n, 2n, 5n, 9n], 4n],
    ['a single tip', [7n], 7n],
    ['tips that were paid, not the zeros of empty blocks', [0n, 0n, 0n, 0n, 8n, 6n], 7n],
    ['the minimum when nothing was paid', [0n, 0n], 1n],
    ['the minimum when there are no blocks', [], 1n],
  ])('takes %s', (_name, rewardsWei, tip) => {
    const price = estimateGasPrice({ nextBaseFeeWei: 100n, rewardsWei }, model)
    expect(price).toMatchObject({ expectedWei: 100n + tip, maxPriorityFeePerGasWei: tip })
  })

  test('never tips less than the chain demands', () => {
    const price = estimateGasPrice(
      { nextBaseFeeWei: 10n, rewardsWei: [2n] },
      { ...model, minPriorityFeeWei: 30n },
    )
    expect(price.maxPriorityFeePerGasWei).toBe(30n)
  })

  // 1 gwei through six full blocks: 1 000 000 000 · 9⁶ / 8⁶ = 2 027 286 529.54…
  test('covers full blocks of 12.5 % rise, rounded up', () => {
    const price = estimateGasPrice({ nextBaseFeeWei: 1_000_000_000n, rewardsWei: [5n] }, model)
    expect(price.maxFeePerGasWei).toBe(2_027_286_530n + 5n)
  })

  test('always covers what the protocol can raise the base fee to, and never less than expected', () => {
    const wei = fc.bigInt({ min: 0n, max: 10n ** 15n })
    const blocks = fc.integer({ min: 1, max: 20 })
    fc.assert(
      fc.property(
        wei,
        fc.array(wei, { maxLength: 20 }),
        blocks,
        (nextBaseFeeWei, rewardsWei, inclusionBlocks) => {
          const price = estimateGasPrice({ nextBaseFeeWei, rewardsWei }, { ...model, inclusionBlocks })
          let baseFee = nextBaseFeeWei
          for (let block = 0; block < inclusionBlocks; block += 1) baseFee += baseFee / 8n
          expect(price.maxFeePerGasWei).toBeGreaterThanOrEqual(baseFee + price.maxPriorityFeePerGasWei)
          expect(price.maxFeePerGasWei).toBeGreaterThanOrEqual(price.expectedWei)
        },
      ),
    )
  })
})

describe('parseFeeHistory', () => {
  const answer = { oldestBlock: '0x1', baseFeePerGas: ['0xa', '0xb', '0xc'], gasUsedRatio: [0.5, 1] }

  test('takes the last base fee as that of the next block', () => {
    const rewards = [['0x1'], ['0x2']]
    expect(parseFeeHistory({ ...answer, reward: rewards })).toEqual({
      nextBaseFeeWei: 12n,
      rewardsWei: [1n, 2n],
    })
    expect(parseFeeHistory(answer)).toEqual({ nextBaseFeeWei: 12n, rewardsWei: [] })
  })

  test.each([
    ['null', null],
    ['no base fees', { ...answer, baseFeePerGas: [] }],
    ['a next block left out', { ...answer, baseFeePerGas: ['0xa', '0xb'] }],
    ['a number for a quantity', { ...answer, baseFeePerGas: ['0xa', '0xb', 12] }],
    ['odd hex', { ...answer, baseFeePerGas: ['0xa', '0xb', '0x'] }],
    ['an empty reward', { ...answer, reward: [[]] }],
    ['a list', []],
  ])('refuses %s', (_name, result) => {
    expect(() => parseFeeHistory(result)).toThrow(MalformedAnswerError)
  })

  test('is asked for the depth and percentile of the model', () => {
    expect(feeHistoryRequest(model)).toEqual({ method: 'eth_feeHistory', params: ['0xa', 'latest', [20]] })
  })
})
