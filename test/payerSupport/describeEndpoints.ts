import { expect, test } from 'vitest'
import { begin, finish, keptOf, rounds } from '../../apps/solver/test/support/payerRounds.ts'
import {
  endOf,
  forgetful,
  type OpenCase,
  outcomeOf,
  sendLost,
  stateOf,
  type WithoutForm,
} from './payerCase.ts'

/** One endpoint of three decides nothing, and what may be replaced is not final. */
export function describeEndpoints(open: OpenCase, withoutForm: WithoutForm): void {
  test('what was paid is not hidden by one endpoint of three', async () => {
    const { bench, process, task, refusals } = await open()
    const signed = await begin(process, task)
    await process.desk.release(signed, 'given')
    await bench.settle()
    await bench.faults.hide({ hash: signed.transactions[0]?.hash ?? '' })
    await rounds(process)
    expect(await outcomeOf(process, task)).toBe('done')
    const restored = await forgetful({ bench })
    expect(await stateOf(restored, task)).toBe('paid')
    await expect(begin(restored, task)).rejects.toThrow(refusals.paid)
  })

  test.each(['paid', 'closed'] as const)('what was not is not shown as %s by one', async (state) => {
    const one = await open()
    const { bench, process, task, amount } = one
    const { invent, heal } = bench.faults
    if (invent === undefined) return expect(withoutForm).toHaveProperty('invented payments')
    const { transactions } = await begin(process, task)
    const [{ raw, hash } = { raw: '0x' as const, hash: '' }] = transactions
    await invent({ id: task.work.id, recipient: task.recipient, raw, hash }, state)
    await process.desk.advance()
    expect([await outcomeOf(process, task), await stateOf(process, task)]).toEqual(['open', 'open'])
    await heal()
    await finish(bench, process)
    expect(await endOf(one)).toEqual(['done', amount])
  })

  test('nothing ends by the clock of one endpoint, nor is dated by it', async () => {
    const one = await open()
    const { bench, process, task, amount } = one
    const { hasten, heal } = bench.faults
    if (hasten === undefined) return expect(withoutForm).toHaveProperty('clocks of endpoints')
    const signed = await begin(process, task)
    await sendLost(one, signed)
    await hasten()
    await process.desk.advance()
    const { timestampSeconds } = await process.record.readFinal(task.work.id)
    expect(timestampSeconds).toBeLessThan((await bench.nowSeconds()) + 100_000)
    await heal()
    await finish(bench, process)
    expect(await endOf(one)).toEqual(['done', amount])
    expect((await keptOf(process, task)).transactions).toEqual(signed.transactions)
  })

  test('where two of three are silent nothing is known, and nothing is signed', async () => {
    const { bench, process, task } = await open()
    await bench.faults.silence(2)
    await expect(stateOf(process, task)).rejects.toThrow()
    await expect(begin(process, task)).rejects.toThrow()
    expect(await process.records.latest(task.subject.id)).toBeUndefined()
  })

  test('what a block shows that may be replaced is told, and is not final', async () => {
    const one = await open()
    const { bench, process, task, amount } = one
    if (bench.hold === undefined) return expect(withoutForm).toHaveProperty('blocks that are replaced')
    await bench.hold()
    await process.desk.release(await begin(process, task), 'given')
    await bench.mine()
    await rounds(process)
    const { toldHash, transactions } = await keptOf(process, task)
    expect(transactions.map(({ hash }) => hash)).toEqual([toldHash])
    expect([await outcomeOf(process, task), await stateOf(process, task)]).toEqual(['open', 'open'])
    await bench.settle()
    await rounds(process)
    expect([await stateOf(process, task), await endOf(one)]).toEqual(['paid', ['done', amount]])
  })
}
