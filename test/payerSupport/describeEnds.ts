import { expect, test } from 'vitest'
import { aTask, begin, finish, keptOf, rounds } from '../../apps/solver/test/support/payerRounds.ts'
import {
  closingOf,
  endOf,
  landAll,
  type OpenCase,
  outcomeOf,
  sendLost,
  stateOf,
  type WithoutForm,
} from './payerCase.ts'

/** What is closed, refused, cancelled or late is paid no more, and holds up nothing. */
export function describeEnds(open: OpenCase, withoutForm: WithoutForm): void {
  test('what is closed is never paid: neither what was signed before nor anything more', async () => {
    const one = await open()
    const { bench, process, task, refusals } = one
    await process.desk.cancel(await begin(process, task))
    await begin(process, closingOf(task))
    await finish(bench, process)
    expect(await stateOf(process, task)).toBe('closed')
    await expect(begin(process, task)).rejects.toThrow(refusals.closed)
    await landAll(one)
    await process.age()
    await finish(bench, process)
    expect([
      ['cancelled', 0n],
      ['reverted', 0n],
    ]).toContainEqual(await endOf(one))
  })

  test('what was paid is not closed', async () => {
    const { bench, process, task } = await open()
    await process.desk.release(await begin(process, task), 'given')
    await bench.settle()
    expect(await process.desk.prepare(closingOf(task).work)).toMatchObject({ kind: 'refused' })
  })

  test('what the service refused is not paid, and ends; then another attempt may be', async () => {
    const one = await open()
    const { bench, process, task, amount } = one
    await process.desk.release(await begin(process, task), 'refused')
    await rounds(process, 1, 'refused')
    expect(await outcomeOf(process, task)).toBe('open')
    await process.age()
    await finish(bench, process)
    await landAll(one)
    expect(await endOf(one)).toEqual(['cancelled', 0n])
    await process.desk.release(await begin(process, task), 'given')
    await finish(bench, process)
    expect(await endOf(one)).toEqual(['done', amount])
  })

  test('what lands before its cancellation is done, and is not paid again', async () => {
    const one = await open()
    const { bench, process, task, amount, refusals } = one
    await process.desk.release(await begin(process, task), 'given')
    await bench.mine()
    await process.desk.cancel(await keptOf(process, task))
    await finish(bench, process)
    expect(await endOf(one)).toEqual(['done', amount])
    await expect(begin(process, task)).rejects.toThrow(refusals.paid)
  })

  test('what has no time left is neither sent nor signed again', async () => {
    const one = await open(60)
    const { bench, process, task } = one
    const signed = await begin(process, task)
    await sendLost(one, signed)
    await process.age()
    await process.age()
    await finish(bench, process)
    expect((await keptOf(process, task)).transactions).toEqual(signed.transactions)
    await landAll(one)
    expect([
      ['cancelled', 0n],
      ['lost', 0n],
    ]).toContainEqual(await endOf(one))
  })

  test('P-51: a payment about which nothing readable is said keeps no later one waiting', async () => {
    const one = await open()
    const { bench, process, task, amount } = one
    const { garble, heal } = bench.faults
    if (garble === undefined) return expect(withoutForm).toHaveProperty('payments beside a stuck one')
    const later = await aTask(bench, { recipient: bench.account(), amount })
    await sendLost(one, await begin(process, task))
    await process.age()
    await process.desk.release(await begin(process, later), 'given')
    await garble(task.orderId)
    await finish(bench, process)
    expect([await endOf(one), await outcomeOf(process, later)]).toEqual([['open', 0n], 'done'])
    await heal()
    await finish(bench, process)
    expect(await endOf(one)).toEqual(['done', amount])
  })
}
