import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultThreshold, type Electorate, tally, type Vote } from './tally.ts'

const says = (alias: string, value: unknown): Vote<unknown> => ({ alias, voice: alias, value })
const silent = (alias: string): Vote<unknown> => says(alias, undefined)
const electorate = (aliases: readonly string[], threshold: number): Electorate => ({
  voters: aliases.map((alias) => ({ alias, voice: alias })),
  threshold,
})
const of3 = electorate(['a', 'b', 'c'], 2)

test.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [5, 4],
  [6, 4],
  [7, 5],
])('of %i endpoints %i must agree', (n, q) => {
  expect(defaultThreshold(n)).toBe(q)
})

describe('tally', () => {
  test('agrees as soon as the threshold is met, whatever the order of members', () => {
    const verdict = tally([says('a', { x: 1, y: 2 }), says('b', { y: 2, x: 1 })], of3)
    expect(verdict).toMatchObject({ status: 'agreed', aliases: ['a', 'b'] })
  })

  test.each([
    ['two different answers of three', [says('a', 1), says('b', 2)], 'open'],
    ['three different answers', [says('a', 1), says('b', 2), says('c', 3)], 'disagreed'],
    ['two different answers and silence', [says('a', 1), says('b', 2), silent('c')], 'disagreed'],
    ['one answer and silence', [says('a', 1), silent('b'), silent('c')], 'silent'],
    ['silence that already decides', [silent('a'), silent('b')], 'silent'],
    ['one answer so far', [says('a', 1)], 'open'],
  ])('%s', (_name, votes, status) => {
    expect(tally(votes, of3).status).toBe(status)
  })

  test('compares by the key that the caller names', () => {
    const first = (value: unknown) => String(value).slice(0, 1)
    expect(tally([says('a', 'x1'), says('b', 'x2')], of3, first).status).toBe('agreed')
  })

  test('Q-178: counts a host once, through however many URLs it speaks', () => {
    const voters = [
      { alias: 'a1', voice: 'a' },
      { alias: 'a2', voice: 'a' },
      { alias: 'b', voice: 'b' },
    ]
    const lies = voters.slice(0, 2).map((voter): Vote<unknown> => ({ ...voter, value: 'lie' }))
    expect(tally(lies, { voters, threshold: 2 }).status).toBe('open')
    expect(
      tally([...lies, { alias: 'b', voice: 'b', value: 'truth' }], { voters, threshold: 2 }).status,
    ).toBe('disagreed')
    expect(tally(lies.slice(0, 1), { voters: voters.slice(0, 2), threshold: 2 }).status).toBe('silent')
  })

  test('never agrees below the threshold and says the same in any order of votes', () => {
    const vote = fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined })
    const setting = fc.array(vote, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(setting, fc.integer({ min: 1, max: 6 }), (results, threshold) => {
        const votes = results.map((result, index) =>
          result === undefined ? silent(`e${index}`) : says(`e${index}`, result),
        )
        const args = electorate(
          votes.map(({ alias }) => alias),
          threshold,
        )
        const verdict = tally(votes, args)
        const most = Math.max(...[0, 1, 2].map((value) => results.filter((one) => one === value).length))
        expect(verdict.status === 'agreed').toBe(most >= threshold)
        expect(verdict.status).not.toBe('open')
        expect(tally(votes.toReversed(), args).status).toBe(verdict.status)
      }),
    )
  })
})
