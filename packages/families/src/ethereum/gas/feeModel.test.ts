import { MalformedAnswerError } from '@causeway/rpc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateGasPrice, feeHistoryRequest, gasCeilingWei, parseFeeHistory } from './feeModel.ts'

const model = {
  kind: 'eip1559',
  historyBlocks: 10,
  rewardPercentile: 20,
  minPriorityFeeWei: 1n,
  ceilingBlocks: 20,
  ceilingFactor: 4,
  ceilingFromWei: 0n,
  inclusionBlocks: 6,
  markupBps: 1_000,
} as const

describe('estimateGasPrice', () => {
  test.each([
    ['the middle of an odd number of tips', [5n, 1n, 3n], 3n],
    ['the mean of the middle two, rounded up', [1n, 2n, 5n, 9n], 4n],
    ['a single tip', [7n], 7n],
    ['empty blocks for what they are: they would have taken any tip', [0n, 0n, 0n, 0n, 8n, 6n], 1n],
    ['one high tip on a quiet chain for what it is', [0n, 0n, 100_000_000_000n, 0n], 1n],
    [
      'the last blocks of the history only',
      [...Array<bigint>(10).fill(90n), ...Array<bigint>(10).fill(5n)],
      5n,
    ],
    ['the minimum when nothing was paid', [0n, 0n], 1n],
    ['the minimum when there are no blocks', [], 1n],
  ])('Q-162: takes %s', (_name, rewardsWei, tip) => {
    const price = estimateGasPrice({ baseFeesWei: [], nextBaseFeeWei: 100n, rewardsWei }, model)
    expect(price).toMatchObject({ expectedWei: 100n + tip, maxPriorityFeePerGasWei: tip })
  })

  test('never tips less than the chain demands', () => {
    const price = estimateGasPrice(
      { baseFeesWei: [], nextBaseFeeWei: 10n, rewardsWei: [2n] },
      { ...model, minPriorityFeeWei: 30n },
    )
    expect(price.maxPriorityFeePerGasWei).toBe(30n)
  })

  // 1 gwei through six full blocks: 1 000 000 000 · 9⁶ / 8⁶ = 2 027 286 529.54…
  test('covers full blocks of 12.5 % rise, rounded up', () => {
    const price = estimateGasPrice(
      { baseFeesWei: [], nextBaseFeeWei: 1_000_000_000n, rewardsWei: [5n] },
      model,
    )
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
          const price = estimateGasPrice(
            { baseFeesWei: [], nextBaseFeeWei, rewardsWei },
            { ...model, inclusionBlocks },
          )
          let baseFee = nextBaseFeeWei
          for (let block = 0; block < inclusionBlocks; block += 1) baseFee += baseFee / 8n
          expect(price.maxFeePerGasWei).toBeGreaterThanOrEqual(baseFee + price.maxPriorityFeePerGasWei)
          expect(price.maxFeePerGasWei).toBeGreaterThanOrEqual(price.expectedWei)
        },
      ),
    )
  })
})

describe('gasCeilingWei', () => {
  const history = (baseFeesWei: readonly bigint[], rewardsWei: readonly bigint[] = []) => ({
    baseFeesWei,
    nextBaseFeeWei: 0n,
    rewardsWei,
  })

  test.each([
    ['four times the middle of base fee and tip', history([10n, 20n, 30n], [2n, 2n, 2n]), 88n],
    ['the least tip for blocks without one', history([10n, 20n, 30n], [0n, 0n, 9n]), 84n],
    ['only the window', history([...Array<bigint>(30).fill(1_000n), ...Array<bigint>(20).fill(9n)]), 40n],
    [
      'nothing from one block of many',
      history([9n, 9n, 9n, 9n, 1_000_000n], [0n, 0n, 0n, 0n, 10n ** 18n]),
      40n,
    ],
  ])('takes %s', (_name, blocks, ceiling) => {
    expect(gasCeilingWei(blocks, model)).toBe(ceiling)
  })

  test('is never below what is too little to matter', () => {
    expect(gasCeilingWei(history([1n]), { ...model, ceilingFromWei: 500n })).toBe(500n)
  })
})

describe('parseFeeHistory', () => {
  const answer = { oldestBlock: '0x1', baseFeePerGas: ['0xa', '0xb', '0xc'], gasUsedRatio: [0.5, 1] }

  test('takes the last base fee as that of the next block', () => {
    const rewards = [['0x1'], ['0x2']]
    expect(parseFeeHistory({ ...answer, reward: rewards })).toEqual({
      baseFeesWei: [10n, 11n],
      nextBaseFeeWei: 12n,
      rewardsWei: [1n, 2n],
    })
    expect(parseFeeHistory(answer)).toEqual({ baseFeesWei: [10n, 11n], nextBaseFeeWei: 12n, rewardsWei: [] })
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

  test('is asked for by number, as deep as the ceiling looks back', () => {
    expect(feeHistoryRequest(model, 18n)).toEqual({
      method: 'eth_feeHistory',
      params: ['0x14', '0x12', [20]],
    })
  })
})
