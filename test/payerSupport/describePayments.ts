import { openFamilyChain } from '@causeway/chains'
import { encodeFillExtraData, refundId } from '@causeway/core'
import { recordsPayments } from '@causeway/localnet'
import { expect, onTestFinished, test } from 'vitest'
import type { PayerBench } from '../../apps/solver/test/support/payerBench.ts'
import { aTask, begin, finish, keptOf, type Task } from '../../apps/solver/test/support/payerRounds.ts'
import { forgetful, type OpenCase, sendLost, stateOf, type WithoutForm } from './payerCase.ts'

/** What a payment costs, whom it pays, and what oracles say of it. */
export function describePayments(open: OpenCase, withoutForm: WithoutForm): void {
  test('gas counts against its budget, by no less than what was spent', async () => {
    const { bench, process, amount } = await open()
    const { chainId, wallet, held } = bench
    const task = await aTask(bench, { recipient: bench.account(true), amount })
    const before = await held(wallet)
    await process.desk.release(await begin(process, task), 'given')
    await finish(bench, process)
    const spent = before - (await held(wallet)) - amount
    expect(spent).toBeGreaterThan(0n)
    expect(await process.spent(`gas:${chainId}`)).toBeGreaterThanOrEqual(spent)
  })

  test('nothing is bid above the ceiling, and what costs more is refused', async () => {
    const one = await open()
    const { bench, process, database, amount, ceiling, refusals } = one
    const budget = `gas:${bench.chainId}` as const
    const task = await aTask(bench, { recipient: bench.account(true), amount })
    await sendLost(one, await begin(process, task))
    const usual = await process.spent(budget)
    await process.kill()
    // What bid more before is not signed again for more.
    const next = await bench.process(database, { ceiling })
    await next.age()
    await next.desk.advance()
    expect(await next.spent(budget)).toBeLessThanOrEqual(usual)
    const limited = await forgetful({ bench }, { ceiling })
    const other = await aTask(bench, { recipient: bench.account(true), amount })
    const { dear } = refusals
    if (dear !== undefined)
      return expect(await limited.desk.prepare(other.work)).toEqual({ kind: 'refused', reason: dear })
    await begin(limited, other)
    expect(await limited.spent(budget)).toBeLessThan(usual)
  })

  test('its own wallet is not paid', async () => {
    const { bench, process, amount, refusals } = await open()
    const { work } = await aTask(bench, { recipient: bench.wallet, amount })
    if (refusals.ownWallet === undefined) return expect(withoutForm).toHaveProperty('own wallets refused')
    expect(await process.desk.prepare(work)).toEqual({ kind: 'refused', reason: refusals.ownWallet })
  })

  test('what is paid is attested under the id that the service was told, for its order alone', async () => {
    const { bench, process, task } = await open()
    await process.desk.release(await begin(process, task), 'given')
    await finish(bench, process)
    const { toldHash = '' } = await keptOf(process, task)
    const transfers = task.work.order.payments
    expect(await attestedBy(bench, toldHash, task)).toMatchObject({ referencesOrder: true, transfers })
    const other = await aTask(bench, { recipient: task.recipient, amount: 1n })
    expect(await attestedBy(bench, toldHash, other)).toMatchObject({ referencesOrder: false })
  })

  test('two refunds of one order are told apart, and each is paid once and attested by its order', async () => {
    const one = await open()
    const { bench, process, task, refusals } = one
    const differs = 'equal refunds of one order' in withoutForm ? 1_000n : 0n
    const refundOf = (ordinal: number): Promise<Task> => {
      const { orderId } = task
      const id = refundId(orderId, { chainId: 1, transactionId: 'a', currency: 'b', amount: 1n, ordinal })
      const amount = one.amount + BigInt(ordinal) * differs
      return aTask(bench, { recipient: bench.account(), amount, kind: 'refund', orderId, id })
    }
    const refunds = [await refundOf(0), await refundOf(1)]
    for (const refund of refunds) {
      await process.desk.release(await begin(process, refund), 'given')
      await finish(bench, process)
    }
    const restored = await forgetful(one)
    for (const refund of refunds) {
      await expect(begin(restored, refund)).rejects.toThrow(refusals.paid)
      expect(await bench.held(refund.recipient)).toBe(refund.work.order.payments[0]?.amount)
      const { toldHash = '' } = await keptOf(process, refund)
      expect(await attestedBy(bench, toldHash, refund)).toMatchObject({ referencesOrder: true })
    }
    if (differs === 0n) expect(await stateOf(restored, task)).toBe('open')
  })
}

/** Facts of the reader that oracles attest by. */
async function attestedBy(
  { chain, fillContract, hubEntries }: PayerBench,
  transactionId: string,
  { orderId, work }: Task,
) {
  const limits = { finalEntriesMax: 0, isKnownCode: () => true, recordsPayments }
  const oracle = openFamilyChain(chain, limits, hubEntries)
  onTestFinished(() => oracle.close())
  const extraData = fillContract === undefined ? '0x' : encodeFillExtraData(fillContract)
  const question = { transactionId, orderId, extraData, payments: work.order.payments }
  return oracle.reader.readPayment(question, { signal: AbortSignal.timeout(10_000) })
}
