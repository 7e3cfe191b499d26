import { createLedger } from '@causeway/ledger'
import { expect, test } from 'vitest'
import { countedDatabase } from '../../test/settlementSupport/countedDatabase.ts'
import { createSweeper } from './sweeper.ts'

function sweeperOf(due: number) {
  let left = due
  const { database, take } = countedDatabase((text) => {
    if (text.includes('as is_due')) return [{ is_due: left > 0 }]
    if (!text.includes('ledger_expire_due')) return undefined
    const expired = Math.min(left, 500)
    left -= expired
    return [{ expired }]
  })
  let freed = 0
  const job = createSweeper({ database, ledger: createLedger(), onExpired: (count) => (freed += count) })
  const run = { fence: async () => undefined, signal: new AbortController().signal }
  return { sweep: () => job.run(run), take, freed: () => freed }
}

test('a sweep without a due hold asks one question and opens no transaction', async () => {
  const { sweep, take } = sweeperOf(0)
  await sweep()
  expect(take()).toHaveLength(1)
})

test('a sweep frees all due holds, batch by batch', async () => {
  const { sweep, freed } = sweeperOf(1_200)
  await sweep()
  expect(freed()).toBe(1_200)
})
