import { expect, test } from 'vitest'
import type { Records } from '../../apps/solver/src/wallet/records.ts'
import {
  type PayerBench,
  type PayerProcess,
  type ProcessOptions,
  unsent,
} from '../../apps/solver/test/support/payerBench.ts'
import { aTask, begin, finish, rounds, unlessSilent } from '../../apps/solver/test/support/payerRounds.ts'
import type { PayerFixture } from './payerCase.ts'

class KilledError extends Error {}

/** A process ends before or after one of its writes: from then on it neither reads nor writes. */
function endingAt(write: number, isAfter: boolean) {
  let [writes, isDead] = [0, false]
  function end(): never {
    isDead = true
    throw new KilledError()
  }
  const writing =
    <Asked extends readonly unknown[]>(run: (...asked: Asked) => Promise<void>) =>
    async (...asked: Asked) => {
      writes += 1
      if (isDead || (writes === write && !isAfter)) end()
      await run(...asked)
      if (writes === write) end()
    }
  const through: NonNullable<ProcessOptions['through']> = (records): Records => ({
    ...records,
    begin: writing(records.begin),
    save: writing(records.save),
    active: async (...asked) => (isDead ? end() : records.active(...asked)),
  })
  return { isDead: () => isDead, through }
}

type Life = {
  readonly isPaid: boolean
  run(bench: PayerBench, process: PayerProcess): Promise<void>
}

const lives: Readonly<Record<string, Life>> = {
  'is paid': {
    isPaid: true,
    async run(bench, process) {
      await rounds(process, 1)
      await bench.mine()
      await finish(bench, process)
    },
  },
  'is signed again, and paid': {
    isPaid: true,
    async run(bench, process) {
      for (const record of await process.desk.advance())
        await unsent(bench, () => process.desk.release(record, 'given').catch(unlessSilent))
      await process.age()
      await finish(bench, process)
    },
  },
  'is refused': {
    isPaid: false,
    async run(bench, process) {
      await rounds(process, 1, 'refused')
      await process.age()
      await rounds(process, 1, 'refused')
      await bench.settle()
      await rounds(process, 1, 'refused')
    },
  },
}

/** @returns whether the process came to the write at which it was to be killed */
async function killAt(
  { bench, amount, refusals }: PayerFixture,
  { isPaid, run }: Life,
  { database, write, isAfter }: { database: string; write: number; isAfter: boolean },
): Promise<boolean> {
  const task = await aTask(bench, { recipient: bench.account(), amount })
  const ending = endingAt(write, isAfter)
  const killed = await bench.process(database, ending)
  try {
    await begin(killed, task)
    await run(bench, killed)
  } catch (error) {
    if (!(error instanceof KilledError)) throw error
  }
  await killed.kill()
  const next = await bench.process(database)
  const kept = () => next.records.latest(task.subject.id)
  if ((await kept()) === undefined) await begin(next, task)
  for (let turn = 0; (await kept())?.outcome === 'open' && turn < 8; turn += 1) {
    await rounds(next, 1, isPaid ? 'given' : 'refused')
    await bench.settle()
    if (!isPaid) await next.age()
  }
  const record = await kept()
  const when = `${isAfter ? 'after' : 'before'} write ${write}`
  expect([when, record?.outcome]).toEqual([when, isPaid ? 'done' : 'cancelled'])
  for (const { raw } of record?.transactions ?? []) await bench.land(raw)
  await bench.settle()
  expect([when, await bench.held(task.recipient)]).toEqual([when, isPaid ? amount : 0n])
  if (isPaid) await expect(begin(next, task)).rejects.toThrow(refusals.paid)
  await next.kill()
  return ending.isDead()
}

/** Whatever the desk had kept when its process was killed, the next process ends the record as it would have ended. */
export function describeKills(fixtureOf: () => Promise<PayerFixture>): void {
  test.each(Object.entries(lives))(
    'F-120: what %s ends so, wherever its process is killed',
    async (_what, life) => {
      const fixture = await fixtureOf()
      const database = await fixture.bench.database()
      let write = 1
      while (await killAt(fixture, life, { database, write, isAfter: false })) {
        await killAt(fixture, life, { database, write, isAfter: true })
        write += 1
      }
      // Begun, answered and at its end, at the least.
      expect(write).toBeGreaterThan(3)
    },
    300_000,
  )
}
