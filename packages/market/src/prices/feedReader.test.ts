// Goal: one multicall reads all feeds, and asks what they are only until they said so.
// Method: answers encoded by viem, an independent implementation.
import type { ContractAnswer, ContractCall } from '@causeway/families'
import { encodeAbiParameters, parseAbi, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { quoteFile } from '../../test/support/fixtures.ts'
import { planMarket } from '../plan.ts'
import { createFeedReader, type FeedReader } from './feedReader.ts'

const feeds = planMarket(quoteFile()).chains[0]?.feeds ?? []
const abi = parseAbi([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
  'function description() view returns (string)',
  'function decimals() view returns (uint8)',
])
const [latestRoundData, description, decimals] = abi.map((item) => toFunctionSelector(item))

function ok(returnData: `0x${string}`): ContractAnswer {
  return { success: true, returnData }
}
const reverted: ContractAnswer = { success: false, returnData: '0x' }

function round(answer: bigint): ContractAnswer {
  const types = ['uint80', 'int256', 'uint256', 'uint256', 'uint80'].map((type) => ({ type }))
  return ok(encodeAbiParameters(types, [1n, answer, 5n, 6n, 1n]))
}
const text = (value: string) => ok(encodeAbiParameters([{ type: 'string' }], [value]))
const small = (value: number) => ok(encodeAbiParameters([{ type: 'uint8' }], [value]))
const selectorsOf = (calls: readonly ContractCall[]) => calls.map(({ callData }) => callData)

/** In the order of the feeds. */
function readingsOf({ read }: ReturnType<FeedReader>, answers: readonly ContractAnswer[]) {
  const readings = read(answers)
  return feeds.map(({ address }) => readings.get(address))
}

describe('createFeedReader', () => {
  test('asks each feed for its round, its description and its decimals', () => {
    const calls = createFeedReader(feeds)().calls
    expect(selectorsOf(calls)).toEqual([
      latestRoundData,
      latestRoundData,
      description,
      decimals,
      description,
      decimals,
    ])
    expect(calls.map(({ target }) => target)).toEqual(
      [0, 1, 0, 0, 1, 1].map((index) => feeds[index]?.address),
    )
  })

  test('asks only for rounds once every feed said what it is', () => {
    const begin = createFeedReader(feeds)
    const first = readingsOf(begin(), [
      round(1n),
      round(2n),
      text('ETH / USD'),
      small(8),
      text('USDC / USD'),
      small(8),
    ])
    expect(first).toEqual([
      { round: { answer: 1n, updatedAtSeconds: 6n }, identity: { description: 'ETH / USD', decimals: 8 } },
      { round: { answer: 2n, updatedAtSeconds: 6n }, identity: { description: 'USDC / USD', decimals: 8 } },
    ])
    expect(selectorsOf(begin().calls)).toEqual([latestRoundData, latestRoundData])
    expect(readingsOf(begin(), [round(3n), reverted])).toEqual([
      { round: { answer: 3n, updatedAtSeconds: 6n }, identity: first[0]?.identity },
      { round: undefined, identity: first[1]?.identity },
    ])
  })

  test('asks again for what it could not read, feed by feed', () => {
    const begin = createFeedReader(feeds)
    const broken = readingsOf(begin(), [
      round(1n),
      ok('0x'),
      reverted,
      small(8),
      text('USDC / USD'),
      small(8),
    ])
    expect(broken).toEqual([
      { round: { answer: 1n, updatedAtSeconds: 6n }, identity: undefined },
      { round: undefined, identity: { description: 'USDC / USD', decimals: 8 } },
    ])
    expect(selectorsOf(begin().calls)).toEqual([latestRoundData, latestRoundData, description, decimals])
    const mended = readingsOf(begin(), [round(1n), round(2n), text('ETH / USD'), small(8)])
    expect(mended.map((reading) => reading?.identity?.description)).toEqual(['ETH / USD', 'USDC / USD'])
  })

  test('believes nothing that comes with a revert, and one half of an identity is none', () => {
    const spoken = (answer: ContractAnswer) => ({ ...answer, success: false })
    const identity = [text('ETH / USD'), reverted, spoken(text('USDC / USD')), small(8)]
    expect(readingsOf(createFeedReader(feeds)(), [spoken(round(1n)), round(2n), ...identity])).toEqual([
      { round: undefined, identity: undefined },
      { round: { answer: 2n, updatedAtSeconds: 6n }, identity: undefined },
    ])
  })

  test('takes answers that are missing for none', () => {
    expect(readingsOf(createFeedReader(feeds)(), [round(1n)])).toEqual([
      { round: { answer: 1n, updatedAtSeconds: 6n }, identity: undefined },
      { round: undefined, identity: undefined },
    ])
  })

  test('F-49: a reading that outlasts the next one gives each feed what it said of itself', () => {
    const begin = createFeedReader(feeds)
    const [slow, quick] = [begin(), begin()]
    const rounds = [round(1n), round(2n)]
    readingsOf(quick, [...rounds, text('ETH / USD'), small(8), reverted, reverted])
    const late = readingsOf(slow, [...rounds, text('ETH / USD'), small(8), text('USDC / USD'), small(8)])
    expect(late.map((reading) => reading?.identity?.description)).toEqual(['ETH / USD', 'USDC / USD'])
  })
})
