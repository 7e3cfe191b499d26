// Tests of a solver process on a chain of any family: it pays every order and claim once, though it is killed, and
// refunds a deposit on Base once its order is closed there.
import type { Hex } from '@causeway/core'
import { type SpawnedService, waitUntil } from '@causeway/localnet'
import { expect } from 'vitest'
import { claimOf, type FamilyOrder, type FamilyPayment, fillOf } from './familyOrders.ts'
import { freshAddress, refundItem } from './paidOrders.ts'
import { type ScriptedWork, startScriptedWork } from './scriptedWork.ts'
import type { SolverBed } from './solverBed.ts'
import { surviveKills } from './solverBench.ts'

export type PaidFamily = {
  readonly bed: SolverBed
  readonly chain: { readonly chainId: number; readonly fillContract?: Hex }
  /** Taken in turn by what is paid. */
  readonly currencies: readonly [string, ...string[]]
  readonly claimLifetimeSeconds: number
  /** Variables of a solver that pays there too. */
  overrides(): Promise<Readonly<Record<string, string>>>
  /** To somebody new. */
  freshPayment(currency: string): FamilyPayment
  /** An order of Base that pays there, with its deposit. */
  order(payment: FamilyPayment, refundTo?: Hex): Promise<FamilyOrder>
  held(payment: FamilyPayment): bigint | Promise<bigint>
  /** Long enough for a second payment to show itself. */
  settle(): Promise<void>
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

type Paid = { readonly work: ScriptedWork; readonly solver: SpawnedService }

/** Six orders while the solver is killed three times. @returns what the orders are called in its work */
export async function paysEveryOrderOnce(
  family: PaidFamily,
): Promise<Paid & { readonly fills: ReadonlyMap<string, FamilyOrder> }> {
  const orders: FamilyOrder[] = []
  for (let index = 0; index < 6; index += 1)
    orders.push(await family.order(family.freshPayment(currencyAt(family, index))))
  const waiting = [...orders]
  const fills = new Map<string, FamilyOrder>()
  const paid = await paysOnce(family, {
    kills: 3,
    payments: orders.map(({ payment }) => payment),
    offer(work) {
      for (const order of waiting.splice(0, 2)) {
        const fill = fillOf(order, family.chain)
        fills.set(fill.id, order)
        work.add(fill)
      }
    },
  })
  return { ...paid, fills }
}

/** Two claims at each of the kills. */
export async function paysEveryClaimOnce(family: PaidFamily, kills: number): Promise<void> {
  const payments: FamilyPayment[] = []
  await paysOnce(family, {
    kills,
    payments,
    offer(work) {
      for (const index of [0, 1]) {
        const payment = family.freshPayment(currencyAt(family, index))
        payments.push(payment)
        const deadline = Math.floor(Date.now() / 1_000) + family.claimLifetimeSeconds
        work.add(claimOf(payment, { ...family.chain, deadline }))
      }
    },
  })
}

/** An order that nobody filled: its deposit goes back, and its fill is refused from then on. */
export async function refundsOnceClosed(family: PaidFamily): Promise<FamilyOrder> {
  const { bed, chain } = family
  const { work, solver } = await bed.start(await family.overrides())
  const refundTo = freshAddress()
  const order = await family.order(family.freshPayment(currencyAt(family, 0)), refundTo)
  work.add(refundItem(bed.network, order, { amount: '4321' }))
  await waitUntil('it is given back', async () => (await bed.nativeBalance('base', refundTo)) === 4321n, {
    circumstances: () => solver.output(),
  })
  const late = fillOf(order, chain)
  work.add(late)
  await waitUntil('it is refused', () => work.failures.has(late.id))
  expect(await family.held(order.payment)).toBe(0n)
  return order
}

async function paysOnce(
  family: PaidFamily,
  asked: {
    readonly kills: number
    /** Read after the last kill: what was offered by then. */
    readonly payments: readonly FamilyPayment[]
    offer(work: ScriptedWork): void
  },
): Promise<Paid> {
  const { kills, payments, offer } = asked
  const work = await startScriptedWork()
  const settings = await family.bed.bench.settings(work, await family.overrides())
  const solver = await surviveKills(settings, { work, kills }, async () => offer(work))
  await solver.ready()
  const held = () => Promise.all(payments.map((payment) => family.held(payment)))
  await waitUntil('all are paid', async () => (await held()).every((one) => one > 0n), {
    circumstances: () => solver.output(),
  })
  await family.settle()
  expect(await held()).toEqual(payments.map(({ amount }) => amount))
  return { work, solver }
}

const currencyAt = ({ currencies }: PaidFamily, index: number): string =>
  currencies[index % currencies.length] ?? currencies[0]
