import { expect, test } from 'vitest'
import { begin, finish, keptOf, unlessSilent } from '../../apps/solver/test/support/payerRounds.ts'
import { endOf, forgetful, landAll, type OpenCase, outcomeOf, sendLost, stateOf } from './payerCase.ts'

/** What another process paid meanwhile is refused in the words of its family. */
const unlessPaid = (error: unknown) => expect(String(error)).toMatch(/it is paid|made or closed|not sent yet/)

/** A payment is signed once, kept before it is told, told before it is sent, and made once, whoever forgets it. */
export function describeSending(open: OpenCase): void {
  test('F-120: what is lost on its way is sent again, the same bytes', async () => {
    const one = await open()
    const { bench, process, task, amount } = one
    const signed = await begin(process, task)
    await sendLost(one, signed)
    await finish(bench, process)
    expect(await endOf(one)).toEqual(['done', amount])
    expect((await keptOf(process, task)).transactions).toEqual(signed.transactions)
  })

  test('F-120: what is signed again is kept, then told, and sent at last', async () => {
    const one = await open()
    const { bench, process, database, task, amount } = one
    await sendLost(one, await begin(process, task))
    await process.age()
    await process.desk.advance()
    const [, again] = (await keptOf(process, task)).transactions
    await process.kill()
    const next = await bench.process(database)
    expect(await next.desk.replaced()).toMatchObject([{ hash: again?.hash, isMined: false }])
    await bench.settle()
    expect([typeof again?.hash, await bench.held(task.recipient)]).toEqual(['string', 0n])
    await finish(bench, next)
    expect(await endOf({ bench, process: next, task })).toEqual(['done', amount])
  })

  test('a payment that its database forgot is not made again: the chain says that it was', async () => {
    const { bench, process, task, amount, refusals } = await open()
    await process.desk.release(await begin(process, task), 'given')
    await process.kill()
    await bench.settle()
    const restored = await forgetful({ bench })
    await expect(begin(restored, task)).rejects.toThrow(refusals.paid)
    expect([await stateOf(restored, task), await bench.held(task.recipient)]).toEqual(['paid', amount])
  })

  test('of what several processes that know nothing of each other sign for one id, one is made', async () => {
    const one = await open()
    const { bench, process, task, amount } = one
    const [other, late] = [await forgetful(one), await forgetful(one)]
    const judged = await late.desk.prepare(task.work)
    const [first, second] = [await begin(process, task), await begin(other, task)]
    await process.desk.release(first, 'given')
    await other.desk.release(second, 'given').catch(unlessSilent)
    if (judged.kind === 'ready') await judged.begin(task.subject).catch(unlessPaid)
    for (const each of [process, other]) await landAll({ bench, process: each, task })
    for (const each of [process, other, late]) {
      await finish(bench, each)
      await each.age()
      await finish(bench, each)
    }
    for (const each of [process, other]) await landAll({ bench, process: each, task })
    expect(await bench.held(task.recipient)).toBe(amount)
    expect([await outcomeOf(process, task), await outcomeOf(other, task)]).toContain('done')
  })

  test('one process leads, and the other signs nothing until then', async () => {
    const { bench, process, database, task, amount } = await open()
    const other = await bench.process(database, { waits: false })
    await expect(begin(other, task)).rejects.toThrow('another process')
    await process.desk.release(await begin(process, task), 'given')
    await process.kill()
    await expect.poll(() => other.desk.leads(), { timeout: 20_000 }).toBe(true)
    await finish(bench, other)
    expect(await endOf({ bench, process: other, task })).toEqual(['done', amount])
  })

  test('one order is begun once, whoever judged it', async () => {
    const { process, task } = await open()
    await begin(process, task)
    const second = { ...task, subject: { ...task.subject, id: 'another item', past: [] } }
    await expect(begin(process, second)).rejects.toThrow(/begun by another|not sent yet/)
  })
}
