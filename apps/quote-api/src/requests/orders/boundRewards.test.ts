// Goal: what a process claims of the reward budget is stored when it changes and long before it ends, and not each second.
// Method: refreshes a second apart over a database that counts, and claims that the test sets.
import { expect, test } from 'vitest'
import { countedDatabase } from '../../../test/settlementSupport/countedDatabase.ts'
import { followBoundRewards } from './boundRewards.ts'

const storesClaim = /^insert into reward_claim/

function follower() {
  let nowMs = 1_000_000
  let claim = 5n
  let booked = 0n
  const read: bigint[] = []
  const { database, take } = countedDatabase((text) => {
    if (text.includes('as moves')) return [{ moves: [], claimed: 0n, booked }]
    if (text.includes('as booked')) return [{ booked }]
    return text.includes('as claimed') ? [{ claimed: 0n }] : undefined
  })
  const events: string[] = []
  const { refresh } = followBoundRewards({
    database,
    openRewards: {
      putBound({ bookedMicroUsd }) {
        read.push(bookedMicroUsd)
        return claim
      },
      confirmClaim: () => void events.push('confirmed'),
      forgetBound: () => void events.push('forgotten'),
    },
    quoteLifetimeSeconds: 60,
    now: () => nowMs,
    onFailure: () => undefined,
  })
  return {
    read,
    events,
    change: (claimed: bigint, sum: bigint) => {
      claim = claimed
      booked = sum
    },
    async asked() {
      nowMs += 1_000
      await refresh()
      return take()
    },
  }
}

test('a claim that stays the same is read in one statement, and stored every ten seconds', async () => {
  const { asked, events } = follower()
  const stores: boolean[] = []
  for (let second = 0; second < 21; second += 1) {
    const statements = await asked()
    stores.push(statements.some((text) => storesClaim.test(text)))
    if (stores.at(-1) === false) expect(statements).toHaveLength(1)
  }
  expect(stores.flatMap((isStored, second) => (isStored ? [second] : []))).toEqual([0, 10, 20])
  expect(events).toEqual(Array.from({ length: 21 }, () => 'confirmed'))
})

test('a claim that changes is stored at once, under the lock of all processes', async () => {
  const { asked, change } = follower()
  await asked()
  change(7n, 0n)
  const statements = await asked()
  const isLocked = statements.findIndex((text) => text.includes('pg_advisory_xact_lock'))
  expect(isLocked).toBeGreaterThan(0)
  expect(statements.findIndex((text) => storesClaim.test(text))).toBeGreaterThan(isLocked)
})

test('each refresh takes the present figures, stored or not', async () => {
  const { asked, change, read } = follower()
  await asked()
  change(5n, 3n)
  await asked()
  expect(read).toEqual([0n, 3n])
})
