import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RpcAnswer } from './jsonRpc.ts'
import { defaultThreshold, tally, type Vote } from './quorum.ts'

const says = (alias: string, result: unknown): Vote => ({ alias, answers: [{ ok: true, result }] })
const silent = (alias: string): Vote => ({ alias, answers: undefined })
const of3 = { configured: 3, threshold: 2 }

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

  test('does not count a result and a refusal as equal', () => {
    const refused: Vote = { alias: 'b', answers: [{ ok: false, code: 3, message: 'x' }] }
    expect(tally([says('a', null), refused], of3).status).toBe('open')
  })

  test('compares refusals by code and data, not by wording', () => {
    const refused = (alias: string, message: string, data?: string): Vote => ({
      alias,
      answers: [{ ok: false, code: 3, message, data }],
    })
    expect(tally([refused('a', 'execution reverted'), refused('b', 'revert')], of3).status).toBe('agreed')
    expect(tally([refused('a', 'x', '0x01'), refused('b', 'x', '0x02')], of3).status).toBe('open')
  })

  test('compares only what the caller names', () => {
    const project = (answers: readonly RpcAnswer[]) =>
      answers.map((answer) => (answer.ok ? String(answer.result).slice(0, 1) : answer.code))
    expect(tally([says('a', 'x1'), says('b', 'x2')], { ...of3, project }).status).toBe('agreed')
  })

  test('never agrees below the threshold and says the same in any order of votes', () => {
    const vote = fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined })
    const setting = fc.array(vote, { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(setting, fc.integer({ min: 1, max: 6 }), (results, threshold) => {
        const votes = results.map((result, index) =>
          result === undefined ? silent(`e${index}`) : says(`e${index}`, result),
        )
        const args = { configured: votes.length, threshold }
        const verdict = tally(votes, args)
        const most = Math.max(...[0, 1, 2].map((value) => results.filter((one) => one === value).length))
        expect(verdict.status === 'agreed').toBe(most >= threshold)
        expect(verdict.status).not.toBe('open')
        expect(tally(votes.toReversed(), args).status).toBe(verdict.status)
      }),
    )
  })
})
