import { openFamilyChain } from '@causeway/chains'
import { encodeFillExtraData, type Hex, refundId } from '@causeway/core'
import { recordsPayments } from '@causeway/localnet'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type PayerBench, type PayerProcess, unsent } from '../../apps/solver/test/support/payerBench.ts'
import {
  aTask,
  begin,
  finish,
  keptOf,
  rounds,
  type Task,
  unlessSilent,
} from '../../apps/solver/test/support/payerRounds.ts'
import { describeKills } from './describeKills.ts'

/** A family's chain with what its desk says there. */
export type PayerFixture = {
  readonly bench: PayerBench
  /** Amount of a payment, in smallest units. */
  readonly amount: bigint
  readonly refusals: {
    /** To pay what was paid, and to pay what was closed. */
    readonly paid: string
    readonly closed: string
    /** To pay under `ceiling`; absent where it bids no more than that instead. */
    readonly dear?: string
    readonly ownWallet?: string
  }
  /** Below what a payment usually bids. */
  readonly ceiling: bigint
}

/** Why a family has no form of some promises. */
export type WithoutForm = Readonly<
  Partial<
    Record<
      | 'blocks that are replaced'
      | 'invented payments'
      | 'clocks of endpoints'
      | 'payments beside a stuck one'
      | 'equal refunds of one order'
      | 'own wallets refused',
      string
    >
  >
>

/** What a fill wallet promises, whatever the family. @source F-120 */
export function describePayer(
  family: string,
  start: () => Promise<PayerFixture>,
  withoutForm: WithoutForm,
): void {
  let started: Promise<PayerFixture> | undefined
  /** One chain for all of its tests. */
  const fixtureOf = () => {
    started ??= start()
    return started
  }
  /** A process, and a payment that is asked of it. */
  async function open(seconds?: number) {
    const fixture = await fixtureOf()
    const { bench, amount } = fixture
    onTestFinished(async () => {
      await bench.faults.heal()
      await bench.settle()
    })
    const database = await bench.database()
    const task = await aTask(bench, {
      ...{ recipient: bench.account(), amount, ...(seconds !== undefined && { seconds }) },
    })
    return { ...fixture, database, task, process: await bench.process(database) }
  }
  /** Another process, whose database knows nothing. */
  const forgetful = async ({ bench }: Pick<PayerFixture, 'bench'>) => bench.process(await bench.database())
  const paid = async ({ recipient }: Task) => (await fixtureOf()).bench.held(recipient)
  const stateOf = async ({ record }: PayerProcess, { work, orderId }: Task) =>
    (await record.readFinal(work.id, orderId)).state
  const outcomeOf = async (process: PayerProcess, task: Task) => (await keptOf(process, task)).outcome
  const closing = ({ work: { id }, orderId }: Task) => ({
    work: { kind: 'closing' as const, id },
    subject: { id: `close-${orderId}`, kind: 'close' as const },
  })
  /** Somebody sends all that was ever signed for it, in either order. */
  async function landAll({ bench }: PayerFixture, ...from: readonly (readonly [PayerProcess, Task])[]) {
    for (const [process, task] of from) {
      const record = await keptOf(process, task)
      const all = [...record.transactions, ...('cancellations' in record ? record.cancellations : [])]
      for (const { raw } of [...all, ...all.toReversed()]) await bench.land(raw)
    }
    await bench.settle()
  }

  describe(family, () => {
    describeKills(fixtureOf)

    test('F-120: what is lost on its way is sent again, the same bytes', async () => {
      const { bench, process, task, amount } = await open()
      const signed = await begin(process, task)
      await unsent(bench, () => process.desk.release(signed, 'given').catch(unlessSilent))
      await finish(bench, process)
      const { outcome, transactions } = await keptOf(process, task)
      expect([outcome, transactions]).toEqual(['done', signed.transactions])
      expect(await paid(task)).toBe(amount)
    })

    test('F-120: what is signed again is kept, then told, and sent at last', async () => {
      const { bench, process, database, task, amount } = await open()
      const signed = await begin(process, task)
      await unsent(bench, () => process.desk.release(signed, 'given').catch(unlessSilent))
      await process.age()
      await process.desk.advance()
      const [, again] = (await keptOf(process, task)).transactions
      await process.kill()
      const next = await bench.process(database)
      expect(await next.desk.replaced()).toMatchObject([{ hash: again?.hash, isMined: false }])
      await bench.settle()
      expect([typeof again?.hash, await paid(task)]).toEqual(['string', 0n])
      await finish(bench, next)
      expect([await outcomeOf(next, task), await paid(task)]).toEqual(['done', amount])
    })

    test('a payment that its database forgot is not made again: the chain says that it was', async () => {
      const { bench, process, task, amount, refusals } = await open()
      await process.desk.release(await begin(process, task), 'given')
      await process.kill()
      await bench.settle()
      const restored = await forgetful({ bench })
      await expect(begin(restored, task)).rejects.toThrow(refusals.paid)
      expect([await stateOf(restored, task), await paid(task)]).toEqual(['paid', amount])
    })

    test('of what several processes that know nothing of each other sign for one id, one is made', async () => {
      const fixture = await open()
      const { bench, process, task, amount } = fixture
      const [other, late] = [await forgetful(fixture), await forgetful(fixture)]
      const judged = await late.desk.prepare(task.work)
      const [one, two] = [await begin(process, task), await begin(other, task)]
      await process.desk.release(one, 'given')
      await other.desk.release(two, 'given').catch(unlessSilent)
      if (judged.kind === 'ready') await judged.begin(task.subject).catch(unlessPaid)
      const all = [[process, task] as const, [other, task] as const]
      await landAll(fixture, ...all)
      for (const each of [process, other, late]) {
        await finish(bench, each)
        await each.age()
        await finish(bench, each)
      }
      await landAll(fixture, ...all)
      expect(await paid(task)).toBe(amount)
      expect([await outcomeOf(process, task), await outcomeOf(other, task)]).toContain('done')
    })
    /** What another process has paid by now may be refused in many words. */
    const unlessPaid = (error: unknown) => expect(String(error)).toMatch(/paid|made or closed|not sent yet/)

    test('one process leads, and the other signs nothing until then', async () => {
      const { bench, process, database, task, amount } = await open()
      const other = await bench.process(database, { waits: false })
      await expect(begin(other, task)).rejects.toThrow('another process')
      await process.desk.release(await begin(process, task), 'given')
      await process.kill()
      await expect.poll(() => other.desk.leads(), { timeout: 20_000 }).toBe(true)
      await finish(bench, other)
      expect([await outcomeOf(other, task), await paid(task)]).toEqual(['done', amount])
    })

    test('one order is begun once, whoever judged it', async () => {
      const { process, task } = await open()
      await begin(process, task)
      const second = { ...task, subject: { ...task.subject, id: 'another item', past: [] } }
      await expect(begin(process, second)).rejects.toThrow(/begun by another|not sent yet/)
    })

    test('what is closed is never paid: neither what was signed before nor anything more', async () => {
      const fixture = await open()
      const { bench, process, task, refusals } = fixture
      await process.desk.cancel(await begin(process, task))
      await begin(process, closing(task))
      await finish(bench, process)
      expect(await stateOf(process, task)).toBe('closed')
      await expect(begin(process, task)).rejects.toThrow(refusals.closed)
      await landAll(fixture, [process, task])
      await process.age()
      await finish(bench, process)
      expect(['cancelled', 'reverted']).toContain(await outcomeOf(process, task))
      expect(await paid(task)).toBe(0n)
    })

    test('what was paid is not closed', async () => {
      const { bench, process, task } = await open()
      await process.desk.release(await begin(process, task), 'given')
      await bench.settle()
      expect(await process.desk.prepare(closing(task).work)).toMatchObject({ kind: 'refused' })
    })

    test('what the service refused is not paid, and ends; then another attempt may be', async () => {
      const fixture = await open()
      const { bench, process, task, amount } = fixture
      await process.desk.release(await begin(process, task), 'refused')
      await rounds(process, 1, 'refused')
      expect(await outcomeOf(process, task)).toBe('open')
      await process.age()
      await finish(bench, process)
      expect(await outcomeOf(process, task)).toBe('cancelled')
      await landAll(fixture, [process, task])
      expect(await paid(task)).toBe(0n)
      await process.desk.release(await begin(process, task), 'given')
      await finish(bench, process)
      expect([await outcomeOf(process, task), await paid(task)]).toEqual(['done', amount])
    })

    test('what lands before its cancellation is done, and is not paid again', async () => {
      const { bench, process, task, amount, refusals } = await open()
      await process.desk.release(await begin(process, task), 'given')
      await bench.mine()
      await process.desk.cancel(await keptOf(process, task))
      await finish(bench, process)
      expect([await outcomeOf(process, task), await paid(task)]).toEqual(['done', amount])
      await expect(begin(process, task)).rejects.toThrow(refusals.paid)
    })

    test('what has no time left is neither sent nor signed again', async () => {
      const fixture = await open(60)
      const { bench, process, task } = fixture
      const signed = await begin(process, task)
      await unsent(bench, () => process.desk.release(signed, 'given').catch(unlessSilent))
      await process.age()
      await process.age()
      await finish(bench, process)
      expect(['lost', 'cancelled']).toContain(await outcomeOf(process, task))
      expect((await keptOf(process, task)).transactions).toEqual(signed.transactions)
      await landAll(fixture, [process, task])
      expect(await paid(task)).toBe(0n)
    })

    test('P-51: a payment about which nothing readable is said keeps no later one waiting', async () => {
      const { bench, process, task, amount } = await open()
      const { garble, heal } = bench.faults
      if (garble === undefined) return expect(withoutForm).toHaveProperty('payments beside a stuck one')
      const later = await aTask(bench, { recipient: bench.account(), amount })
      const stuck = await begin(process, task)
      await unsent(bench, () => process.desk.release(stuck, 'given').catch(unlessSilent))
      await process.age()
      await process.desk.release(await begin(process, later), 'given')
      await garble(task.orderId)
      await finish(bench, process)
      expect([await outcomeOf(process, task), await outcomeOf(process, later)]).toEqual(['open', 'done'])
      await heal()
      await finish(bench, process)
      expect([await outcomeOf(process, task), await paid(task)]).toEqual(['done', amount])
    })

    test('gas counts against its budget, by no less than what was spent', async () => {
      const { bench, process, amount } = await open()
      const { chainId, coin, wallet, held } = bench
      const task = await aTask(bench, { recipient: bench.account(true), amount })
      const before = await held(wallet)
      await process.desk.release(await begin(process, task), 'given')
      await finish(bench, process)
      const spent = before - (await held(wallet)) - amount
      expect([coin, spent > 0n]).toEqual([coin, true])
      expect(await process.spent(`gas:${chainId}`)).toBeGreaterThanOrEqual(spent)
    })

    test('nothing is bid above the ceiling, and what costs more is refused', async () => {
      const { bench, process, database, amount, ceiling, refusals } = await open()
      const budget = `gas:${bench.chainId}` as const
      const task = await aTask(bench, { recipient: bench.account(true), amount })
      const signed = await begin(process, task)
      await unsent(bench, () => process.desk.release(signed, 'given').catch(unlessSilent))
      const usual = await process.spent(budget)
      await process.kill()
      // Where others bid more now, it is not signed again for more.
      const next = await bench.process(database, { ceiling })
      await next.age()
      await next.desk.advance()
      expect(await next.spent(budget)).toBeLessThanOrEqual(usual)
      const limited = await bench.process(await bench.database(), { ceiling })
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
      const prepared = await process.desk.prepare(work)
      if (refusals.ownWallet === undefined) return expect(withoutForm).toHaveProperty('own wallets refused')
      expect(prepared).toEqual({ kind: 'refused', reason: refusals.ownWallet })
    })

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
      const { bench, process, task, amount } = await open()
      const { invent, heal } = bench.faults
      if (invent === undefined) return expect(withoutForm).toHaveProperty('invented payments')
      const { transactions } = await begin(process, task)
      const [{ raw, hash } = { raw: '0x' as const, hash: '' }] = transactions
      await invent({ id: task.work.id, recipient: task.recipient, raw, hash }, state)
      await process.desk.advance()
      expect([await outcomeOf(process, task), await stateOf(process, task)]).toEqual(['open', 'open'])
      await heal()
      await finish(bench, process)
      expect([await outcomeOf(process, task), await paid(task)]).toEqual(['done', amount])
    })

    test('nothing ends by the clock of one endpoint, nor is dated by it', async () => {
      const { bench, process, task, amount } = await open()
      const { hasten, heal } = bench.faults
      if (hasten === undefined) return expect(withoutForm).toHaveProperty('clocks of endpoints')
      const signed = await begin(process, task)
      await unsent(bench, () => process.desk.release(signed, 'given').catch(unlessSilent))
      await hasten()
      await process.desk.advance()
      const { timestampSeconds } = await process.record.readFinal(task.work.id)
      expect(timestampSeconds).toBeLessThan((await bench.nowSeconds()) + 100_000)
      await heal()
      await finish(bench, process)
      const { outcome, transactions } = await keptOf(process, task)
      expect([outcome, transactions]).toEqual(['done', signed.transactions])
      expect(await paid(task)).toBe(amount)
    })

    test('where two of three are silent nothing is known, and nothing is signed', async () => {
      const { bench, process, task } = await open()
      await bench.faults.silence(2)
      await expect(stateOf(process, task)).rejects.toThrow()
      await expect(begin(process, task)).rejects.toThrow()
      expect(await process.records.latest(task.subject.id)).toBeUndefined()
    })

    test('what a block shows that may be replaced is told, and is not final', async () => {
      const { bench, process, task, amount } = await open()
      if (bench.hold === undefined) return expect(withoutForm).toHaveProperty('blocks that are replaced')
      await bench.hold()
      await process.desk.release(await begin(process, task), 'given')
      await bench.mine()
      await rounds(process)
      expect([await outcomeOf(process, task), await stateOf(process, task)]).toEqual(['open', 'open'])
      await bench.settle()
      await rounds(process)
      expect([await outcomeOf(process, task), await stateOf(process, task)]).toEqual(['done', 'paid'])
      expect(await paid(task)).toBe(amount)
    })

    test('what is paid is attested under the id that the service was told', async () => {
      const { bench, process, task, amount } = await open()
      await process.desk.release(await begin(process, task), 'given')
      await finish(bench, process)
      const { toldHash = '' } = await keptOf(process, task)
      const [transfer] = task.work.order.payments
      const facts = await attestedBy(bench, toldHash, task)
      expect(facts).toMatchObject({ referencesOrder: true, transfers: [{ ...transfer, amount }] })
    })

    test('two refunds of one order are told apart, and each is paid once and attested by its order', async () => {
      const fixture = await open()
      const { bench, process, task, refusals } = fixture
      const differs = 'equal refunds of one order' in withoutForm ? 1_000n : 0n
      const refunds = await Promise.all(
        [0, 1].map((ordinal) => {
          const amount = fixture.amount + BigInt(ordinal) * differs
          const deposit = { chainId: 1, transactionId: 'a', currency: 'b', amount: 1n, ordinal }
          const id: Hex = refundId(task.orderId, deposit)
          const recipient = bench.account()
          return aTask(bench, { ...{ recipient, amount, kind: 'refund', id }, orderId: task.orderId })
        }),
      )
      for (const refund of refunds) {
        await process.desk.release(await begin(process, refund), 'given')
        await finish(bench, process)
      }
      const restored = await forgetful(fixture)
      for (const refund of refunds) {
        await expect(begin(restored, refund)).rejects.toThrow(refusals.paid)
        expect(await paid(refund)).toBe(refund.work.order.payments[0]?.amount)
        const { toldHash = '' } = await keptOf(process, refund)
        expect(await attestedBy(bench, toldHash, refund)).toMatchObject({ referencesOrder: true })
      }
      if (differs === 0n) expect(await stateOf(restored, task)).toBe('open')
    })
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
