import { expect, test } from 'vitest'
import { countedDatabase } from '../../../test/settlementSupport/countedDatabase.ts'
import { createOracleHalts } from './oracleHalts.ts'

const signal = new AbortController().signal

test('answers of oracles that did not change are stored once by each leadership', async () => {
  const { database, take } = countedDatabase()
  const job = createOracleHalts({ database, oracles: undefined, chains: [] })
  const leader = { fence: async () => undefined, signal }
  await job.run(leader)
  expect(take()).not.toEqual([])
  await job.run(leader)
  expect(take()).toEqual([])
  await job.run({ fence: async () => undefined, signal })
  expect(take()).not.toEqual([])
})

test('answers whose commit failed are stored by the next run', async () => {
  let isAway = true
  const { database, take } = countedDatabase(() => {
    if (isAway) throw new Error('the database is away')
    return undefined
  })
  const job = createOracleHalts({ database, oracles: undefined, chains: [] })
  const leader = { fence: async () => undefined, signal }
  await expect(job.run(leader)).rejects.toThrow('away')
  isAway = false
  take()
  await job.run(leader)
  expect(take()).toContain('commit')
})
