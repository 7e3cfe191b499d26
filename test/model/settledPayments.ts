// Payments that a settlement demands, and what its transaction paid of them.
import type { Hex } from '@causeway/core'
import { paidBySide } from './truth.ts'
import type { KnownOrder, SignedSettlement, World } from './world.ts'

type Demand = {
  readonly chain: KnownOrder['origin']
  readonly recipient: Hex
  readonly token: Hex
  readonly minimum: bigint
}

/** A signed settlement with what its transaction really paid. */
export type PaidSettlement = {
  readonly name: string
  readonly transaction: Hex
  readonly orderId: Hex
  readonly deposited: bigint
  readonly leastInput: bigint
  readonly payments: readonly (Demand & { readonly paid: bigint })[]
}

function demandsOf(world: World, { kind, known, deposited }: SignedSettlement): readonly Demand[] {
  const { order, origin, destination, currency, leastInput, refundTo } = known
  if (kind === 'fill') {
    return order.output.payments.map(({ recipient, minimumAmount }) => ({
      chain: destination,
      token: world.token(destination, currency),
      recipient: `0x${recipient.slice(2)}`,
      minimum: BigInt(minimumAmount),
    }))
  }
  const whole = BigInt(order.inputs[0]?.refunds[0]?.minimumAmount ?? 0)
  // The rule rounds twice; a unit less is no wrong.
  const minimum = (whole * deposited) / leastInput - 1n
  return [{ chain: origin, recipient: refundTo, token: world.token(origin, currency), minimum }]
}

export async function paidSettlement(world: World, settlement: SignedSettlement): Promise<PaidSettlement> {
  const { known, deposit, transaction, deposited } = settlement
  const payments = await Promise.all(
    demandsOf(world, settlement).map(async (demand) => {
      const receipt = world.network.chains[demand.chain].receiptOf(transaction)
      const paid = receipt?.succeeded === true ? await paidBySide(world, demand.chain, receipt, demand) : 0n
      return { ...demand, paid }
    }),
  )
  const { orderId, leastInput } = known
  return { name: `${orderId} by ${deposit}`, transaction, orderId, deposited, leastInput, payments }
}

/** A payment goes from less than a quarter of what its order asks for to another deposit of four times as much. */
export function withoutDust(settled: readonly PaidSettlement[]): readonly PaidSettlement[] {
  const isDust = ({ orderId, deposited, leastInput }: PaidSettlement) =>
    leastInput > 4n * deposited &&
    settled.some((other) => other.orderId === orderId && other.deposited > 4n * deposited)
  return settled.filter((one) => !isDust(one))
}

/** True if a transaction pays all that a fill demands. */
export async function isPaid(world: World, known: KnownOrder, transaction: Hex): Promise<boolean> {
  const fill = {
    kind: 'fill',
    known,
    transaction,
    deposit: transaction,
    deposited: known.leastInput,
  } as const
  const { payments } = await paidSettlement(world, fill)
  return payments.every(({ minimum, paid }) => paid >= minimum)
}

/** True if each deposit can be matched to one of its proven payments, beside the amounts that are spent already. */
export function canBePaid(
  [first, ...rest]: readonly (readonly PaidSettlement[])[],
  spent: ReadonlyMap<string, bigint>,
): boolean {
  if (first === undefined) return true
  return first.some(({ transaction, payments }) => {
    const after = new Map(spent)
    for (const { recipient, token, minimum, paid } of payments) {
      const payment = `${transaction} ${recipient} ${token}`
      const used = (after.get(payment) ?? 0n) + minimum
      if (used > paid) return false
      after.set(payment, used)
    }
    return canBePaid(rest, after)
  })
}
