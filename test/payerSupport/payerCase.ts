import { onTestFinished } from 'vitest'
import {
  type PayerBench,
  type PayerProcess,
  type ProcessOptions,
  unsent,
} from '../../apps/solver/test/support/payerBench.ts'
import { aTask, keptOf, type Task, unlessSilent } from '../../apps/solver/test/support/payerRounds.ts'

/** A family's chain with what its desk says there. */
export type PayerFixture = {
  readonly bench: PayerBench
  /** Amount of a payment, in smallest units. */
  readonly amount: bigint
  readonly refusals: {
    /** To pay what was paid, and what was closed. */
    readonly paid: string
    readonly closed: string
    /** To pay under `ceiling`; absent where it bids no more than that instead. */
    readonly dear?: string
    readonly ownWallet?: string
  }
  /** Below what a payment usually bids. */
  readonly ceiling: bigint
}

export const ownWallet = 'the recipient is the fill wallet'
export const reverts = { paid: 'would revert', closed: 'would revert' }
export const shownIsFinal = 'what the exchange shows is final'

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

/** A process, and a payment that is asked of it. */
export type PayerCase = PayerFixture & {
  readonly database: string
  readonly process: PayerProcess
  readonly task: Task
}

/** One case after the other, on one chain. */
export type OpenCase = (seconds?: number) => Promise<PayerCase>

export async function openCase(fixture: PayerFixture, seconds?: number): Promise<PayerCase> {
  const { bench, amount } = fixture
  onTestFinished(async () => {
    await bench.faults.heal()
    await bench.settle()
  })
  const database = await bench.database()
  const recipient = bench.account()
  const task = await aTask(bench, { recipient, amount, ...(seconds !== undefined && { seconds }) })
  return { ...fixture, database, task, process: await bench.process(database) }
}

/** Another process, whose database knows nothing. */
export const forgetful = async (
  { bench }: Pick<PayerCase, 'bench'>,
  options?: ProcessOptions,
): Promise<PayerProcess> => bench.process(await bench.database(), options)

/** What a process signed and the service agreed to is lost on its way. */
export const sendLost = (
  { bench, process }: Pick<PayerCase, 'bench' | 'process'>,
  record: Awaited<ReturnType<typeof keptOf>>,
): Promise<void> => unsent(bench, () => process.desk.release(record, 'given').catch(unlessSilent))

/** The chain's own record. */
export const stateOf = async ({ record }: PayerProcess, { work, orderId }: Task) =>
  (await record.readFinal(work.id, orderId)).state

export const outcomeOf = async (process: PayerProcess, task: Task) => (await keptOf(process, task)).outcome

/** Outcome of a record, and what its recipient has. */
export const endOf = async ({ bench, process, task }: Pick<PayerCase, 'bench' | 'process' | 'task'>) =>
  [await outcomeOf(process, task), await bench.held(task.recipient)] as const

export const closingOf = ({ work: { id }, orderId }: Task) => ({
  work: { kind: 'closing' as const, id },
  subject: { id: `close-${orderId}`, kind: 'close' as const, orderId: undefined, deadline: undefined },
})

/** Somebody sends all that was ever signed for a payment, in either order. */
export async function landAll({ bench, process, task }: Pick<PayerCase, 'bench' | 'process' | 'task'>) {
  const record = await keptOf(process, task)
  const all = [...record.transactions, ...('cancellations' in record ? record.cancellations : [])]
  for (const { raw } of [...all, ...all.toReversed()]) await bench.land(raw)
  await bench.settle()
}
