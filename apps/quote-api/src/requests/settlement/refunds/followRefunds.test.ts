import { expect, test } from 'vitest'
import { countedDatabase } from '../../../../test/settlementSupport/countedDatabase.ts'
import type { SettlementContext } from '../settlementContext.ts'
import { followRefunds } from './followRefunds.ts'

test.each([
  ['asks one question while no refund is due', false, 1],
  ['lists reported refunds and ended requests where one is due', true, 3],
])('a run of refunds %s', async (_, isDue, count) => {
  const { database, take } = countedDatabase((text) =>
    text.includes('as is_due') ? [{ is_due: isDue }] : [],
  )
  // CAST: nothing else is needed while nothing is listed.
  const context = { database } as unknown as SettlementContext
  const run = { fence: async () => undefined, signal: new AbortController().signal }
  await followRefunds(context, run, [8_453])
  expect(take()).toHaveLength(count)
})
