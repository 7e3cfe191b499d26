// Goal: rounds go on whatever one of them does, and what the key has left is told while they fail, because an empty key
// is why they do. Method: rounds and readings of this test.
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { noServiceStops } from '../hub/serviceStops.ts'
import { Rounds } from './rounds.ts'

const running: Rounds[] = []
afterEach(async () => {
  for (const rounds of running.splice(0)) await rounds.stop()
})

function start(parts: { run(count: number): Promise<void>; readGas(): Promise<bigint | undefined> }) {
  let count = 0
  let failed = 0
  const rounds = new Rounds({
    round: {
      async run() {
        count += 1
        await parts.run(count)
      },
      pending: () => 0,
      readUpTo: () => undefined,
    },
    state: { readStop: async () => undefined },
    stops: noServiceStops,
    chains: [],
    logger: pino({ level: 'silent' }),
    pollIntervalMs: 1,
    readGas: parts.readGas,
    countFailed: () => {
      failed += 1
    },
  })
  running.push(rounds)
  rounds.start()
  return { rounds, count: () => count, failed: () => failed }
}

const empty = async () => {
  throw new Error('insufficient funds for gas')
}

test('what the key has left is told after rounds that fail, too', async () => {
  const { rounds, failed } = start({ run: empty, readGas: async () => 7n })
  await expect.poll(() => rounds.gasBalanceWei()).toBe(7n)
  await expect.poll(failed).toBeGreaterThan(2)
})

test('what cannot be read ends no round', async () => {
  const { rounds, count } = start({ run: async () => {}, readGas: empty })
  await expect.poll(count).toBeGreaterThan(2)
  expect(rounds.gasBalanceWei()).toBeUndefined()
})

test('a round that works again makes the allocator ready', async () => {
  const { rounds, count } = start({
    run: async (number) => (number < 3 ? empty() : undefined),
    readGas: empty,
  })
  const isReady = async () => {
    for (const { check } of rounds.checks) await check(AbortSignal.timeout(1_000))
    return true
  }
  await expect.poll(count).toBeGreaterThan(3)
  expect(await isReady()).toBe(true)
})
