// Parts of steps: small numbers, taken modulo the number of choices.
import type { Hex } from '@causeway/core'
import { type AccountHabit, accountHabits, strangerCalls } from './contracts/strangers.ts'
import type { ChainId, Currency, UserChainId } from './network.ts'
import { everyCurrency } from './truth.ts'
import type { KnownOrder, KnownWithdrawal, World } from './world.ts'

export type Picks = {
  readonly a: number
  readonly b: number
  readonly c: number
  readonly units: number
  readonly flag: boolean
}

export type Play = (world: World, step: Picks) => Promise<void>

export const userChain = (index: number): UserChainId => (index % 2 === 0 ? 'base' : 'optimism')
export const anyChain = (index: number): ChainId => (['base', 'optimism', 'hub'] as const)[index % 3] ?? 'hub'
const currencies = ['USDC', 'USDX', 'coin', 'USDC'] as const
export const currencyOf = (index: number): Currency => currencies[index % currencies.length] ?? 'USDC'
export const slippages = [0n, 0n, 0n, 100n, 5_000n, 7_500n, 9_000n, 9_900n]
export const appFees = [0n, 0n, 0n, 30n, 1_000n, 9_000n]
export const owners = 3
export const lateSeconds = 11n * 86_400n

/** Newest first: what was just done is what somebody builds on. */
export function pick<Element>(list: readonly Element[], index: number): Element | undefined {
  return list.length === 0 ? undefined : list[list.length - 1 - (index % list.length)]
}

/**
 * Accounts that an order pays, and that its deposit goes back to, with and without code. Two payments of one order are
 * paid in USDC: a token that asks its sender would run its code between them.
 */
export function payeesOf(
  world: World,
  { owner, origin, destination, c, units, flag }: Asked,
): { readonly recipients: readonly Hex[]; readonly refundTo: Hex } {
  const coded = (chain: UserChainId) => world.network.places[chain].strangers?.accounts[(units >> 3) % 2]
  const isCoin = currencyOf(c) === 'coin'
  const recipient = (units % 5 < (isCoin ? 4 : 2) ? coded(destination) : undefined) ?? world.user(3).address
  const refundTo = (units % 5 === 0 ? coded(origin) : undefined) ?? owner.address
  const isTwice = flag && currencyOf(c) === 'USDC'
  return { recipients: isTwice ? [recipient, owner.address] : [recipient], refundTo }
}

type Asked = Pick<KnownOrder, 'owner' | 'origin' | 'destination'> & Pick<Picks, 'c' | 'units' | 'flag'>

/** Sets the fee of the one token that may take one. */
export async function setTokenFee(world: World, bps: bigint): Promise<void> {
  const data = strangerCalls.setFee(bps)
  await world.send('base', { from: world.user(4).address, to: world.token('base', 'USDX'), data })
}

/** Sets what the code at an account does from now on; nothing at an account without code. */
export async function setHabit(
  world: World,
  chain: UserChainId,
  account: Hex,
  habit: AccountHabit,
): Promise<void> {
  if (world.network.places[chain].strangers?.accounts.includes(account) !== true) return
  const data = strangerCalls.setHabit(BigInt(accountHabits.indexOf(habit)))
  await world.send(chain, { from: world.user(4).address, to: account, data })
}

export const order = (world: World, index: number) => pick(world.orders, index)
export const depositsFor = (world: World, { orderId }: KnownOrder) =>
  world.deposits.filter((one) => one.orderId === orderId)
export const itemAt = (world: World, index: number) => pick(world.service.openItems(), index)
export const sentAt = (world: World, chain: ChainId, index: number): Hex | undefined =>
  pick(world.sent[chain], index)

/** Makes the newest block final, most of the time. */
export async function maybeFinal(world: World, chain: ChainId, { c }: Picks): Promise<void> {
  if (c % 4 !== 0) await world.finalize(chain)
}

/** Picks a transaction that ends with the order's id on a chain, most of the time; else any. */
export function paymentAt(
  world: World,
  { orderId }: KnownOrder,
  chain: UserChainId,
  index: number,
): Hex | undefined {
  const own = world.named.filter((one) => one.orderId === orderId && one.chain === chain)
  return index % 4 === 3 ? sentAt(world, chain, index) : pick(own, index)?.id
}

/** Everybody who has something on the hub. */
export async function holdings(world: World) {
  const { users, orderSigner } = world.network.keys
  const found = []
  for (const owner of [...users.slice(0, owners), orderSigner]) {
    for (const { chain, name: currency } of everyCurrency) {
      const alias = world.aliasOf(owner, owner === orderSigner ? 'base' : chain)
      const held = await world.hubBalance(alias, world.hubToken(chain, currency))
      if (held > 0n) found.push({ owner, chain, currency, held })
    }
  }
  return found
}

export async function serve(world: World, index: number): Promise<void> {
  const request = pick(world.service.requests, index)
  if (request === undefined) return
  const sent = depositsFor(world, request.known).map(({ id }) => id)
  await world.service.serve(request, sent)
}

export const onOrder =
  (play: (world: World, known: KnownOrder, step: Picks) => Promise<unknown>): Play =>
  async (world, step) => {
    const known = order(world, step.a)
    if (known === undefined) return
    await play(world, known, step)
    await maybeFinal(world, known.destination, step)
  }

export const onWithdrawal =
  (play: (world: World, withdrawal: KnownWithdrawal, step: Picks) => Promise<unknown>): Play =>
  async (world, step) => {
    const withdrawal = pick(world.withdrawals, step.a)
    if (withdrawal !== undefined) await play(world, withdrawal, step)
  }
