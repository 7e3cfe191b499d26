// Goal: what a change costs does not depend on how many follow it. Method: a store that counts its reads and
// answers when it is told to.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type StatusRecord, UnknownRequestError } from './requestStatus.ts'
import { createStatusFeed } from './statusFeed.ts'

const id = `0x${'1'.repeat(64)}` as const
const waiting: StatusRecord = {
  status: 'waiting',
  failReason: undefined,
  refundFailReason: undefined,
  inTxHashes: [],
  txHashes: [],
  originChainId: 1,
  destinationChainId: 2,
  createdAtMs: 1,
  expiresAtMs: 2,
  updatedAtMs: 1,
}
const pending: StatusRecord = { ...waiting, status: 'pending', updatedAtMs: 2 }

function start() {
  const bed = { reads: 0, answer: async (): Promise<StatusRecord> => waiting, failures: 0 }
  const feed = createStatusFeed({
    statuses: {
      read() {
        bed.reads += 1
        return bed.answer()
      },
    },
    onFailure: () => {
      bed.failures += 1
    },
    retryMs: 5,
  })
  feed.connected()
  return { bed, feed }
}

test('a change is read once for all that follow it, and who comes later costs no read', async () => {
  const { bed, feed } = start()
  const told: StatusRecord['status'][][] = []
  const follow = () => {
    const mine: StatusRecord['status'][] = []
    told.push(mine)
    return feed.follow(id, ({ status }) => mine.push(status))
  }
  for (let count = 0; count < 1_000; count += 1) follow()
  await sleep(0)
  expect(bed.reads).toBe(1)
  bed.answer = async () => pending
  feed.changed(id)
  await sleep(0)
  follow()
  feed.changed(`0x${'2'.repeat(64)}`)
  await sleep(0)
  expect(bed.reads).toBe(2)
  expect(told[0]).toEqual(['waiting', 'pending'])
  expect(told.at(-2)).toEqual(['waiting', 'pending'])
  expect(told.at(-1)).toEqual(['pending'])
})

test('a change during a read is read again, and one that changed nothing is not told', async () => {
  const { bed, feed } = start()
  const told: string[] = []
  let finish = (_record: StatusRecord) => {}
  bed.answer = () => new Promise((resolve) => (finish = resolve))
  feed.follow(id, ({ status }) => told.push(status))
  feed.changed(id)
  feed.changed(id)
  bed.answer = async () => pending
  finish(waiting)
  await sleep(0)
  feed.changed(id)
  await sleep(0)
  expect([told, bed.reads]).toEqual([['waiting', 'pending'], 3])
})

test('nobody is told after stopping, an unknown id is no failure, and a failed read is tried again', async () => {
  const { bed, feed } = start()
  const told: string[] = []
  bed.answer = () => Promise.reject(new UnknownRequestError())
  feed.follow(`0x${'3'.repeat(64)}`, ({ status }) => told.push(status))
  await sleep(0)
  expect([told, bed.failures]).toEqual([[], 0])
  bed.answer = () => Promise.reject(new Error('the database is gone'))
  const following = feed.follow(id, ({ status }) => told.push(status))
  await sleep(0)
  expect(bed.failures).toBe(1)
  bed.answer = async () => waiting
  await expect.poll(() => told).toEqual(['waiting'])
  following.stop()
  bed.answer = async () => pending
  feed.changed(id)
  await sleep(0)
  expect(told).toEqual(['waiting'])
})
