import { describe, expect, it } from 'vitest'
import { staleFeeds } from './refreshFeeds.ts'

describe('staleFeeds', () => {
  const rounds = [
    { key: 'ETH/USD', answer: 1n, updatedAtUnixSeconds: 1_000n },
    { key: 'USDC/USD', answer: 1n, updatedAtUnixSeconds: 1_001n },
  ] as const

  it('are those that reached the age, to the second', () => {
    expect(staleFeeds(rounds, { nowUnixSeconds: 1_600n, refreshSeconds: 600 })).toEqual(['ETH/USD'])
    expect(staleFeeds(rounds, { nowUnixSeconds: 1_599n, refreshSeconds: 600 })).toEqual([])
    expect(staleFeeds(rounds, { nowUnixSeconds: 1_601n, refreshSeconds: 600 })).toEqual([
      'ETH/USD',
      'USDC/USD',
    ])
  })
})
