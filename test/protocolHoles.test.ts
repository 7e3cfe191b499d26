// Goal: the model would have found what was once done to the services. Method: each hole is a fixed sequence of
// steps. By the shipped rules it is refused and everything holds; by rules that lack the one check, as the code was
// before, the same steps break an invariant that the random runs look at.
import { expect, test } from 'vitest'
import {
  anyTransferPays,
  bytesAreBelieved,
  everyIdCounts,
  newestBalanceCounts,
  nonceIsNoLimit,
  paymentsSettleAll,
} from './model/brokenRules.ts'
import {
  amount,
  depositFor,
  findsHoles,
  type Hole,
  type Paid,
  paidFor,
  provesHoles,
  settle,
  worldOf,
} from './model/holes.ts'
import { violations } from './model/invariants.ts'
import {
  expiredCopy,
  payOnceForTwo,
  payOneself,
  relayAuthorization,
  thereAndBack,
} from './model/parties/adversaries.ts'
import { deposit, initiate, issue, mint, signIssued } from './model/parties/owner.ts'
import { outputsOf, pay, settleRefund } from './model/parties/solver.ts'
import { close, closeRequested, payOut } from './model/parties/withdrawals.ts'
import { shippedRules } from './model/rules.ts'
import type { KnownOrder, World } from './model/world.ts'

/** Makes a second deposit of one owner for one order. */
async function depositAgain(world: World, { known }: Paid): Promise<Paid> {
  return { known, deposit: await depositFor(world, known) }
}

/** Transactions that fill an order, by its record. */
const fillOf = (known: KnownOrder) => ({
  ids: [known.orderId],
  payments: outputsOf(known),
  recordId: known.orderId,
  by: 'contract' as const,
})

/** The solver gives one deposit back, by a plain transfer, which names no deposit. */
async function payBack(world: World, { known }: Paid): Promise<`0x${string}`> {
  const currency = world.token('base', 'USDC')
  const payments = [{ recipient: known.owner.address, currency, amount }]
  const transaction = await pay(world, 'base', { ids: [known.orderId], payments, by: 'transfer' })
  await world.finalize('base')
  return transaction
}

/** An owner's money at a withdrawal address, and what the allocator signed for it. */
async function withdrawn(
  world: World,
  who: number,
  options: { readonly isIssued: boolean } = { isIssued: true },
) {
  const money = { owner: world.user(who), chain: 'base', currency: 'USDC', amount } as const
  const made = await deposit(world, money, { by: 'call' })
  await world.finalize('base')
  if (made === undefined) throw new Error('the deposit failed')
  await mint(world, made)
  const withdrawal = await initiate(world, { ...money, recipient: world.user(3).address, nonce: '1' })
  if (withdrawal === undefined) throw new Error('the withdrawal was refused')
  await world.finalize('hub')
  if (!options.isIssued) return withdrawal
  await issue(world, withdrawal)
  await world.finalize('hub')
  await signIssued(world, withdrawal)
  return withdrawal
}

const holes: readonly Hole[] = [
  {
    name: "a stranger's signed payment, handed in by a thief with an order id behind it, fills no order",
    without: anyTransferPays,
    breaks: 'I5',
    async attack(world) {
      const paid = await paidFor(world)
      const [payer, thief] = [world.user(1), world.user(5)]
      await settle(world, paid, await relayAuthorization(world, paid.known, { payer, thief }))
    },
  },
  {
    name: 'a recipient that pays himself fills no order',
    without: anyTransferPays,
    breaks: 'I5',
    async attack(world) {
      const paid = await paidFor(world)
      await settle(world, paid, await payOneself(world, paid.known))
    },
  },
  {
    name: 'money that goes there and back in one transaction fills no order',
    without: anyTransferPays,
    breaks: 'I5',
    async attack(world) {
      const paid = await paidFor(world)
      const payer = world.network.keys.fillWallet
      await settle(world, paid, await thereAndBack(world, paid.known, { payer, back: 900n }))
    },
  },
  {
    name: 'one payment that names two orders settles at most one',
    without: everyIdCounts,
    breaks: 'I5',
    async attack(world) {
      const [one, other] = [await paidFor(world), await paidFor(world)]
      const transaction = await payOnceForTwo(world, one.known, other.known)
      await settle(world, one, transaction)
      await settle(world, other, transaction)
    },
  },
  {
    name: 'a fill settles one deposit of its order, and an owner has the other back',
    without: paymentsSettleAll,
    breaks: 'I5',
    async attack(world) {
      const paid = await paidFor(world)
      const second = await depositAgain(world, paid)
      const payment = fillOf(paid.known)
      const transaction = await pay(world, 'optimism', payment)
      await settle(world, paid, transaction)
      await settle(world, second, transaction)
    },
  },
  {
    name: 'a refund gives one deposit back, not two',
    without: paymentsSettleAll,
    breaks: 'I5',
    async attack(world) {
      const paid = await paidFor(world)
      const second = await depositAgain(world, paid)
      const transaction = await payBack(world, paid)
      for (const one of [paid, second]) await settleRefund(world, one.known, { ...one, transaction })
    },
  },
  {
    name: 'a self-made withdrawal that is over gives nothing back of what was paid',
    without: bytesAreBelieved,
    breaks: 'I4',
    async attack(world) {
      const withdrawal = await withdrawn(world, 1)
      await payOut(world, withdrawal)
      await world.finalize('base')
      const [issued] = withdrawal.payloads
      await close(world, withdrawal, { bytes: expiredCopy(issued?.payload ?? '0x') })
    },
  },
  {
    name: "one owner's payout burns nothing of another with the same recipient and currency",
    without: bytesAreBelieved,
    breaks: 'I4',
    async attack(world) {
      const [one, other] = [await withdrawn(world, 1), await withdrawn(world, 2, { isIssued: false })]
      const transaction = await payOut(world, one)
      await world.finalize('base')
      await close(world, other, { bytes: one.payloads[0]?.payload ?? '0x', transaction })
    },
  },
  {
    name: 'a withdrawal that is issued again is paid once',
    without: nonceIsNoLimit,
    breaks: 'I4',
    async attack(world) {
      const withdrawal = await withdrawn(world, 1)
      await issue(world, withdrawal)
      await world.finalize('hub')
      await signIssued(world, withdrawal)
      // Somebody else's money is what the second payout would be.
      await withdrawn(world, 2, { isIssued: false })
      await payOut(world, withdrawal, { which: 0 })
      await payOut(world, withdrawal, { which: 1 })
    },
  },
  {
    name: 'a leave to issue is not given for money that a reorganization of the hub takes away again',
    without: newestBalanceCounts,
    breaks: 'I1',
    async attack(world) {
      const money = { owner: world.user(1), chain: 'base', currency: 'USDC', amount } as const
      const made = await deposit(world, money, { by: 'call' })
      await world.finalize('base')
      if (made === undefined) throw new Error('the deposit failed')
      await mint(world, made)
      await world.finalize('hub')
      const withdrawal = await initiate(world, { ...money, recipient: world.user(3).address, nonce: '1' })
      if (withdrawal === undefined) throw new Error('the withdrawal was refused')
      await issue(world, withdrawal)
      await world.network.chains.hub.reorganize(2, false)
      for (const sent of world.submissions) await world.send('hub', sent)
      await world.finalize('hub')
      await signIssued(world, withdrawal)
      await payOut(world, withdrawal)
    },
  },
]

provesHoles(holes)

test('what is right settles: the same steps with a true payment, a payout and its burn', async () => {
  const world = await worldOf(shippedRules)
  const paid = await paidFor(world)
  const { known } = paid
  const payment = fillOf(known)
  expect(await settle(world, paid, await pay(world, 'optimism', payment))).toMatchObject({ ok: true })
  const solver = world.aliasOf(world.network.keys.orderSigner, 'base')
  expect(await world.hubBalance(solver, world.hubToken('base', 'USDC'))).toBe(amount)
  const withdrawal = await withdrawn(world, 1)
  const transaction = await payOut(world, withdrawal)
  await world.finalize('base')
  expect(await closeRequested(world, withdrawal, transaction)).toMatchObject({
    ok: true,
    response: { status: 1 },
  })
  expect(await world.hubBalance(withdrawal.address, withdrawal.hubToken)).toBe(0n)
  expect(await violations(world)).toEqual([])
})

test('the second deposit of a filled order is settled by its refund', async () => {
  const world = await worldOf(shippedRules)
  const paid = await paidFor(world)
  const second = await depositAgain(world, paid)
  const payment = fillOf(paid.known)
  const filled = await pay(world, 'optimism', payment)
  await settle(world, paid, filled)
  await settle(world, second, filled)
  const solver = world.aliasOf(world.network.keys.orderSigner, 'base')
  expect(await world.hubBalance(solver, world.hubToken('base', 'USDC'))).toBe(amount)
  const transaction = await payBack(world, paid)
  await settleRefund(world, second.known, { ...second, transaction })
  expect(await world.hubBalance(solver, world.hubToken('base', 'USDC'))).toBe(2n * amount)
  expect(await violations(world)).toEqual([])
})

findsHoles([
  ['any transfer pays', anyTransferPays, ['I5']],
  ['the bytes of a caller are believed', bytesAreBelieved, ['I4']],
  ['a nonce is issued for again and again', nonceIsNoLimit, ['I4']],
  ['the newest block of the hub is enough', newestBalanceCounts, ['I1', 'I4']],
])
