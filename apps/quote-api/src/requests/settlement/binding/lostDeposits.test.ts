import { expect, test } from 'vitest'
import { createLostDeposits } from './lostDeposits.ts'

// Two hundred deposits of a currency that left the configuration would fill every run, and no later loss were booked.
test('L-25: a lost deposit of a currency that is no more listed stands in no later run', async () => {
  const asked: unknown[] = []
  const row = {
    id: 7n,
    request_id: Buffer.alloc(32),
    chain_id: 1n,
    currency: '0x',
    amount: 1n,
    loss_turns: 0,
  }
  const tx = {
    async query(text: string, values: unknown[]) {
      if (!text.includes('deposit_seen')) return []
      asked.push(values[0])
      return [row]
    },
  }
  const database = { transaction: (step: (one: typeof tx) => unknown) => step(tx) }
  // CAST: what the job needs of a database and a run.
  const job = createLostDeposits({ database, chains: new Map(), observe: () => undefined } as never)
  const run = { fence: async () => undefined } as never
  await job.run(run)
  await job.run(run)
  expect(asked).toEqual([[], [7n]])
})
