// Goal: a period is what was asked for or refused with what is right, and a statement as CSV adds up in a spreadsheet
// and runs nothing there. Adversaries: days that do not exist, a key or a user whose text is a formula.
import { describe, expect, test } from 'vitest'
import { statementAnswer, statementCsv } from './statementAnswer.ts'
import { statementGroupsOf, statementPeriod } from './statementRequest.ts'

const now = Date.UTC(2026, 10, 25, 13)
const daysOf = (asked: { month?: string; from?: string; to?: string }) => {
  const { from, to } = statementPeriod(asked, now)
  return [from.toISOString(), to.toISOString()].map((text) => text.replace('T00:00:00.000Z', ''))
}

describe('a period', () => {
  test.each([
    [{ month: '2026-10' }, ['2026-10-01', '2026-11-01']],
    [{ month: '2024-02' }, ['2024-02-01', '2024-03-01']],
    [{ month: '2025-12' }, ['2025-12-01', '2026-01-01']],
    [{ month: '2026-11' }, ['2026-11-01', '2026-12-01']],
    [{ from: '2026-10-03', to: '2026-10-03' }, ['2026-10-03', '2026-10-04']],
    [{ from: '2026-11-20' }, ['2026-11-20', '2026-11-26']],
  ])('%j', (asked, days) => {
    expect(daysOf(asked)).toEqual(days)
  })

  test.each([
    [{}, 'from'],
    [{ to: '2026-10-01' }, 'from'],
    [{ month: '2026-10', from: '2026-10-01' }, 'month'],
    [{ month: '2026-13' }, 'month'],
    [{ month: '2026-12' }, 'month'],
    [{ month: 'x' }, 'month'],
    [{ from: '2026-02-30' }, 'from'],
    [{ from: '2026-10-01T00:00:00Z' }, 'from'],
    [{ from: '0000-00-00' }, 'from'],
    [{ from: '2026-10-02', to: '2026-10-01' }, 'to'],
    [{ from: '2026-10-01', to: '2027-10-01' }, 'to'],
    [{ from: '2025-01-01', to: '2026-10-01' }, 'to'],
    [{ from: '2026-11-26', to: '2026-11-27' }, 'to'],
  ])('%j is refused by name', (asked, field) => {
    expect(() => statementPeriod(asked, now)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', data: { field } }),
    )
  })
})

test('what lines are told apart by is honoured or refused', () => {
  expect(statementGroupsOf(undefined)).toEqual(['day'])
  expect(statementGroupsOf('')).toEqual([])
  expect(statementGroupsOf('key,day,key')).toEqual(['day', 'key'])
  expect(() => statementGroupsOf('day,colour')).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', data: { field: 'groupBy' } }),
  )
})

test('Q-5: CSV adds up, one row per line with its kind of balance, and no cell is a formula', () => {
  const answer = statementAnswer(
    '0xaa',
    statementPeriod({ month: '2026-10' }, now),
    {
      isClosed: true,
      accounts: [
        {
          asset: undefined,
          opening: { posted: 5n, held: 0n },
          lines: [
            { kind: 'top-up', day: '2026-10-02', count: 1, amount: 100n },
            {
              kind: 'fees',
              day: '2026-10-02',
              user: '=HYPERLINK("x")',
              key: 'a,"b"',
              count: 2,
              amount: -30n,
            },
          ],
          closing: { posted: 75n, held: 7n },
        },
      ],
    },
    { chainId: 8453, currency: '0xusdc' },
  )
  expect(answer).toMatchObject({ from: '2026-10-01', to: '2026-10-31', isClosed: true })
  const money = 'sponsorship,8453,0xusdc,USDC,6'
  expect(statementCsv(answer)).toEqual([
    'row,day,user,originChainId,destinationChainId,key,requestId,count,kind,chainId,currency,symbol,decimals,amount',
    `opening,2026-10-01,,,,,,,${money},5`,
    `top-up,2026-10-02,,,,,,1,${money},100`,
    `fees,2026-10-02,"'=HYPERLINK(""x"")",,,"a,""b""",,2,${money},-30`,
    `closing,2026-10-31,,,,,,,${money},75`,
    `held,2026-10-31,,,,,,,${money},7`,
  ])
})
