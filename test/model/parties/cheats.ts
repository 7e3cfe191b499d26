// A solver that takes something back from whom it pays, or shows what pays somebody else. It has a wallet of its own,
// and nobody's key but that.
import type { Hex } from '@causeway/core'
import type { LocalAccount } from '@causeway/localnet'
import { concatHex } from 'viem'
import { aggregate3, tokenCalls } from '../contracts/calls.ts'
import { type Goods, goods, strangerCalls } from '../contracts/strangers.ts'
import { coinAddress, type Strangers } from '../network.ts'
import type { KnownOrder, World } from '../world.ts'
import { authorization } from './adversaries.ts'
import { approveOnce, recordCall } from './honestSolver.ts'
import { outputsOf, type Payment, pay } from './solver.ts'

type Step = { readonly target: Hex; readonly callData: Hex }

/** A trade with the first recipient of an order, on a chain that has contracts of anybody. */
type Trade = {
  readonly world: World
  readonly known: KnownOrder
  readonly cheat: LocalAccount
  readonly strangers: Strangers
  readonly payment: Payment
  readonly given: Goods
}

const unlimited = 2n ** 255n
const [first, second] = [1n, 2n]

/** @returns undefined on real nodes, or for an order that is paid in coin */
function tradeIn(world: World, known: KnownOrder, given: Goods): Trade | undefined {
  const { strangers } = world.network.places[known.destination]
  const [payment] = outputsOf(known)
  if (strangers === undefined || payment === undefined || payment.currency === coinAddress) return undefined
  const isAccount = strangers.accounts.includes(payment.recipient)
  // Coin is given by accounts with code alone.
  return { world, known, cheat: world.user(5), strangers, payment, given: isAccount ? given : 'claims' }
}

const kindOf = (given: Goods) => BigInt(goods.indexOf(given))

function opening({ strangers, payment }: Trade): Step {
  return { target: strangers.market, callData: strangerCalls.open(payment.recipient, payment.currency) }
}

function closing({ strangers, payment, cheat, given }: Trade, price = payment.amount): Step {
  const { recipient, currency } = payment
  const callData = strangerCalls.close(recipient, currency, price, cheat.address, kindOf(given))
  return { target: strangers.market, callData }
}

/** The recipient's limit order, for which the market itself takes the price from the cheat. */
function settling({ strangers, payment, cheat, given }: Trade, price = payment.amount): Step {
  const { recipient, currency } = payment
  const { address } = cheat
  const callData = strangerCalls.settle(recipient, currency, price, address, address, kindOf(given))
  return { target: strangers.market, callData }
}

async function approve({ world, known, cheat, payment }: Trade, spender: Hex): Promise<void> {
  const data = tokenCalls.approve(spender, unlimited)
  await world.send(known.destination, { from: cheat.address, to: payment.currency, data })
}

const multicallOf = ({ world, known }: Trade) => world.network.places[known.destination].multicall3
const together = (steps: readonly Step[]) =>
  aggregate3(steps.map((step) => ({ ...step, allowFailure: false })))

/** Deeds inside a payment, by a token of the cheat's own that the call names beside the order's. */
export const insides = ['believes_balances', 'limit_order', 'authorization'] as const

/** One transaction of the fill contract that pays the order and a token of the cheat's own. */
export async function tradeInsidePay(
  world: World,
  known: KnownOrder,
  how: (typeof insides)[number],
): Promise<Hex | undefined> {
  const trade = tradeIn(world, known, 'silent_claims')
  if (trade === undefined) return undefined
  const { cheat, strangers, payment } = trade
  const own = { currency: strangers.ownToken, recipient: strangers.market }
  const arm = async (amount: bigint, { target, callData }: Step) => {
    const data = strangerCalls.armOwn(amount, target, callData)
    await world.send(known.destination, { from: cheat.address, to: strangers.ownToken, data })
  }
  const opened = { ...own, amount: first }
  const closed = { ...own, amount: second }
  await approveOnce(world, known.destination, cheat.address, [payment])
  if (how === 'believes_balances') {
    await arm(first, opening(trade))
    await arm(second, closing(trade))
    return recordBy(trade, [opened, ...outputsOf(known), closed])
  }
  if (how === 'limit_order') {
    await approve(trade, strangers.market)
    await arm(first, settling(trade))
    return recordBy(trade, [opened])
  }
  const payer = world.network.keys.users.find(({ address }) => address === payment.recipient)
  const { amount: value, currency: target } = payment
  const callData = payer && (await authorization(known, { payer, to: cheat.address, value }))
  if (callData === undefined) return undefined
  await arm(first, { target, callData })
  return recordBy(trade, [opened, ...outputsOf(known)])
}

async function recordBy({ world, known, cheat }: Trade, payments: readonly Payment[]): Promise<Hex> {
  const { data, value } = recordCall({ id: known.orderId, deadline: 2n ** 40n, payments })
  const to = world.network.places[known.destination].fillContract
  const sent = { from: cheat.address, to, data: concatHex([data, known.orderId]), value }
  return (await world.send(known.destination, sent)).id
}

/** Two entries of a token that asks its sender before each: the trade is opened and closed around the first. */
export async function payInTwoEntries(world: World, known: KnownOrder): Promise<Hex | undefined> {
  const trade = tradeIn(world, known, 'silent_claims')
  if (trade === undefined) return undefined
  const { cheat, payment } = trade
  const half = payment.amount / 2n
  await approveOnce(world, known.destination, cheat.address, [payment])
  for (const { target, callData } of [opening(trade), closing(trade, half)]) {
    const data = strangerCalls.arm(target, callData)
    await world.send(known.destination, { from: cheat.address, to: payment.currency, data })
  }
  return recordBy(trade, [
    { ...payment, amount: half },
    { ...payment, amount: payment.amount - half },
  ])
}

/** `transfer(recipient, 1)`, around which the token's question to its sender settles the recipient's limit order. */
export async function tradeAroundOne(world: World, known: KnownOrder): Promise<Hex | undefined> {
  const trade = tradeIn(world, known, 'silent_claims')
  if (trade === undefined) return undefined
  const { cheat, strangers, payment } = trade
  await approve(trade, strangers.market)
  // The limit order's own transfer asks first, and finds nothing armed any more.
  const { target, callData } = settling(trade, payment.amount)
  const data = strangerCalls.arm(target, callData)
  await world.send(known.destination, { from: cheat.address, to: payment.currency, data })
  const payments = [{ ...payment, amount: 1n }]
  return pay(world, known.destination, {
    ids: [known.orderId],
    payments,
    by: 'transfer',
    from: cheat.address,
  })
}

/** A batch that pays the recipient and takes something for it, which is logged. */
export async function tradeInBatch(
  world: World,
  known: KnownOrder,
  given: 'claims' | 'coin' | 'authorization',
): Promise<Hex | undefined> {
  const trade = tradeIn(world, known, given === 'coin' ? 'coin' : 'claims')
  if (trade === undefined) return undefined
  const { cheat, payment } = trade
  const multicall3 = multicallOf(trade)
  await approve(trade, multicall3)
  const paying = outputsOf(known).map(({ currency: target, recipient, amount }) => ({
    target,
    callData: tokenCalls.transferFrom(cheat.address, recipient, amount),
  }))
  const payer = world.network.keys.users.find(({ address }) => address === payment.recipient)
  const terms = { to: cheat.address, value: payment.amount }
  const signed =
    given === 'authorization' && payer ? await authorization(known, { payer, ...terms }) : undefined
  const steps =
    signed === undefined
      ? [opening(trade), ...paying, closing(trade)]
      : [...paying, { target: payment.currency, callData: signed }]
  const sent = { from: cheat.address, to: multicall3, data: concatHex([together(steps), known.orderId]) }
  return (await world.send(known.destination, sent)).id
}

/** A listed wallet's signed operation pays the recipient; a thief hands it in with an order id behind it. */
export async function operateListed(world: World, known: KnownOrder): Promise<Hex | undefined> {
  const trade = tradeIn(world, known, 'claims')
  if (trade === undefined) return undefined
  const { cheat, strangers, payment } = trade
  const operation = tokenCalls.transfer(payment.recipient, payment.amount)
  const data = strangerCalls.operate(payment.currency, operation)
  const [, , listed] = strangers.accounts
  const sent = { from: cheat.address, to: listed, data: concatHex([data, known.orderId]) }
  return (await world.send(known.destination, sent)).id
}

/** Pays one order under the record of another, for which it names the other behind the calldata. */
export function recordOfAnother(world: World, known: KnownOrder, other: KnownOrder): Promise<Hex> {
  const payments = outputsOf(known)
  const from = world.user(5).address
  const ids = [known.orderId]
  return pay(world, known.destination, { ids, payments, by: 'contract', recordId: other.orderId, from })
}
