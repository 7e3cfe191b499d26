// One step of a run: who does what, to which of the things that are there. Every member is a small number, so
// that a failing run shrinks to few steps that still mean something.
import fc from 'fast-check'
import { lies } from './endpoints.ts'
import {
  drain,
  expiredCopy,
  mintAlone,
  payOnceForTwo,
  payOneself,
  relayAuthorization,
  reportAnything,
  sameButOver,
  thereAndBack,
  underpay,
} from './parties/adversaries.ts'
import { deposit, initiate, issue, mint, signIssued } from './parties/owner.ts'
import { carryOut, outputsOf, pay, settleFill, settleRefund } from './parties/solver.ts'
import { topUp, watchTopUps } from './parties/sponsor.ts'
import { close, closeRequested, payOut } from './parties/withdrawals.ts'
import {
  anyChain,
  currencyOf,
  depositsFor,
  holdings,
  itemAt,
  lateSeconds,
  maybeFinal,
  onOrder,
  onWithdrawal,
  order,
  owners,
  type Picks,
  type Play,
  paymentAt,
  pick,
  sentAt,
  serve,
  userChain,
} from './stepParts.ts'
import type { KnownOrder, World } from './world.ts'

export type Step = Picks & { readonly do: StepName }

const honest = {
  async nothing() {},
  async quote(world, { a, b, c, units, flag }) {
    const owner = world.user(a % owners)
    const recipient = world.user(3).address
    const known = await world.newOrder({
      ...{ owner, origin: userChain(b), destination: userChain(b >> 1), currency: currencyOf(c) },
      ...{ amount: BigInt(units), recipients: flag ? [recipient, owner.address] : [recipient] },
    })
    world.service.quote(known, c % 2 === 0 ? BigInt(units) / 10n : 0n)
  },
  async depositFor(world, step) {
    const known = order(world, step.a)
    if (known === undefined) return
    const amounts = [known.amount, known.amount, known.amount / 2n, known.amount + BigInt(step.units)]
    const currency = step.b === 7 ? 'USDX' : known.currency
    const money = {
      owner: known.owner,
      chain: known.origin,
      currency,
      amount: amounts[step.b % 4] ?? known.amount,
    }
    const by = step.flag ? 'call' : 'transfer'
    const made = await deposit(world, money, { orderId: known.orderId, by })
    await maybeFinal(world, known.origin, step)
    if (made !== undefined && step.units % 2 === 0) await mint(world, made)
  },
  async depositOwn(world, step) {
    const { a, b, c, units, flag } = step
    const money = { owner: world.user(a % owners), chain: userChain(b), currency: currencyOf(c) }
    const made = await deposit(world, { ...money, amount: BigInt(units) }, { by: flag ? 'call' : 'transfer' })
    await maybeFinal(world, userChain(b), step)
    if (made !== undefined && units % 4 !== 0) await mint(world, made)
  },
  async mint(world, { a, flag }) {
    const made = pick(world.deposits, a)
    if (made !== undefined) await mint(world, made, flag ? 'now' : 'later')
  },
  async serve(world, { a, c }) {
    await serve(world, a)
    if (c % 2 === 0) for (const [index] of world.service.requests.entries()) await serve(world, index)
  },
  async carryOut(world, step) {
    const item = itemAt(world, step.a)
    if (item === undefined) return
    await carryOut(world, item, step.flag ? 'contract' : 'transfer')
    await maybeFinal(world, item.chain, step)
    for (const [index] of world.service.requests.entries()) await serve(world, index)
  },
  /** Asked for by anybody, with whatever transaction. */
  settleFill: onOrder(async (world, known, { b, c, flag }) => {
    const made = pick(depositsFor(world, known), b >> 1)
    const transaction = paymentAt(world, known, known.destination, c)
    const when = flag ? 'now' : 'later'
    if (made !== undefined && transaction !== undefined) {
      await settleFill(world, known, { deposit: made, transaction, when })
    }
  }),
  settleRefund: onOrder(async (world, known, { b, c }) => {
    const made = pick(depositsFor(world, known), b >> 1)
    const transaction = paymentAt(world, known, known.origin, c)
    if (made !== undefined && transaction !== undefined)
      await settleRefund(world, known, { deposit: made, transaction })
  }),
  async initiate(world, step) {
    const { a, units, flag } = step
    const found = pick(await holdings(world), a)
    if (found === undefined) return
    const amount = flag ? found.held : (found.held * BigInt(units)) / 2_000n
    await initiate(world, { ...found, amount, recipient: world.user(3).address, nonce: String(units % 3) })
    await maybeFinal(world, 'hub', step)
  },
  issue: onWithdrawal(async (world, withdrawal, step) => {
    await issue(world, withdrawal)
    await maybeFinal(world, 'hub', step)
    if (step.flag) await signIssued(world, withdrawal)
  }),
  signIssued: onWithdrawal((world, withdrawal) => signIssued(world, withdrawal)),
  payOut: onWithdrawal(async (world, withdrawal, step) => {
    await payOut(world, withdrawal, { which: step.b })
    await maybeFinal(world, withdrawal.chain, step)
  }),
  closeRequested: onWithdrawal((world, withdrawal, { b }) =>
    closeRequested(world, withdrawal, pick(withdrawal.payouts, b)),
  ),
  async topUp(world, step) {
    await topUp(world, BigInt(step.units))
    await maybeFinal(world, 'base', step)
    watchTopUps(world)
  },
  async watchTopUps(world) {
    watchTopUps(world)
  },
  async mine(world, { a, b }) {
    await world.network.chains[anyChain(a)].mine(1 + (b % 3))
  },
  async pass(world, { b }) {
    const seconds = b === 7 ? lateSeconds : BigInt(1 + b * 40)
    for (const chain of Object.values(world.network.chains)) await chain.pass(seconds)
  },
  async reorganize(world, { a, b, flag }) {
    await world.network.chains[anyChain(a)].reorganize(1 + (b % 2), flag)
    watchTopUps(world)
  },
} satisfies Record<string, Play>

const wholeWays = {
  /** An order from its quote on, as far as `b` says. */
  async life(world, { b, ...rest }) {
    const step = { ...rest, b: b >> 1 }
    await honest.quote(world, step)
    const stages = [
      () => honest.depositFor(world, { ...step, b: b === 4 ? 2 : 0, a: 0, units: 2 * step.units }),
      () => serve(world, 0),
      () => honest.carryOut(world, { ...step, a: 0, c: 1 }),
      () => serve(world, 0),
      () => honest.settleFill(world, { ...step, a: 0, b: 0, c: 0 }),
      () => honest.settleRefund(world, { ...step, a: 0, b: 0, c: 0 }),
    ]
    for (const stage of stages.slice(0, 2 + (b % 5))) await stage()
  },
  /** A withdrawal from its beginning on, as far as `b` says. */
  async leave(world, { b, ...rest }) {
    const step = { ...rest, a: 0, b, c: 1, flag: true }
    const stages = [
      () => honest.initiate(world, { ...step, a: rest.a }),
      () => honest.issue(world, step),
      () => honest.payOut(world, { ...step, b: 0 }),
      () => honest.closeRequested(world, { ...step, b: 0 }),
    ]
    for (const stage of stages.slice(0, 2 + (b % 3))) await stage()
  },
} satisfies Record<string, Play>

const adversaries = {
  async lie(world, { a, b, c }) {
    const { honest: oracles } = world.oracles
    const lie = lies[c % lies.length] ?? 'none'
    const oracle = oracles[a % 2]
    if (oracle !== undefined) oracle.liars[anyChain(b)].lie = lie
    world.service.chains[userChain(b)].liar.lie = lie
  },
  async peer(world, { flag }) {
    world.oracles.peerJoins = flag
  },
  async mintAlone(world, { a, c }) {
    await mintAlone(world, world.user(5), world.hubToken(userChain(a), currencyOf(c)))
  },
  relayAuthorization: onOrder((world, known, { b }) =>
    relayAuthorization(world, known, { payer: world.user(b % owners), thief: world.user(5) }),
  ),
  payOneself: onOrder((world, known) => payOneself(world, known)),
  thereAndBack: onOrder((world, known, { b, units }) =>
    thereAndBack(world, known, {
      payer: b % 2 === 0 ? world.network.keys.fillWallet : world.user(5),
      back: BigInt(units),
    }),
  ),
  underpay: onOrder((world, known) => underpay(world, known)),
  payOnceForTwo: onOrder(async (world, known, { b }) => {
    const { owner, destination, currency } = known
    const isLike = (one: KnownOrder) =>
      one.owner === owner && one.destination === destination && one.currency === currency
    const other = pick(
      world.orders.filter((one) => one !== known && isLike(one)),
      b,
    )
    if (other === undefined) return
    const transaction = await payOnceForTwo(world, known, other)
    await world.finalize(known.destination)
    for (const one of [known, other]) {
      const made = pick(depositsFor(world, one), 0)
      if (made !== undefined) await settleFill(world, one, { deposit: made, transaction })
    }
  }),
  payAgain: onOrder((world, known) =>
    pay(world, known.destination, { ids: [known.orderId], payments: outputsOf(known), by: 'transfer' }),
  ),
  drain: onOrder((world, known, { units }) => {
    const { destination, currency, orderId: id } = known
    const token = world.token(destination, currency)
    return drain(world, destination, { thief: world.user(5), token, amount: BigInt(units), id })
  }),
  async report(world, { a, b, flag }) {
    const item = itemAt(world, a)
    const transaction = item && sentAt(world, item.chain, b)
    if (item === undefined || transaction === undefined) return
    if (flag) reportAnything(world, item, transaction)
    else world.service.fail(item)
  },
  /** A payout to an order's recipient, with the order's id behind it. */
  payFromDepository: onOrder(async (world, known, { b }) => {
    const withdrawal = pick(world.withdrawals, b)
    const from = world.network.keys.fillWallet.address
    if (withdrawal !== undefined) await payOut(world, withdrawal, { from, behind: known.orderId })
  }),
  /** Somebody signs for another owner's money. */
  async steal(world, { a, b, c, units }) {
    const [owner, signer] = [world.user(a % owners), world.user(5)]
    const [chain, currency] = [userChain(b), currencyOf(c)]
    const amount = BigInt(units)
    await initiate(world, { owner, signer, chain, currency, amount, recipient: signer.address, nonce: '9' })
  },
  /** Bytes of one's own, with whatever transaction. */
  close: onWithdrawal(async (world, withdrawal, { b, c, units, flag }) => {
    const other = pick(world.withdrawals, b >> 1) ?? withdrawal
    const own = pick(withdrawal.payloads, c)?.payload
    const bytes = [own, own && expiredCopy(own), own && sameButOver(own), pick(other.payloads, c)?.payload][
      units % 4
    ]
    const transaction = pick((b % 2 === 0 ? withdrawal : other).payouts, c)
    if (bytes !== undefined)
      await close(world, withdrawal, { bytes, transaction, when: flag ? 'now' : 'later' })
  }),
  /** Money is taken out in blocks of the hub that are dropped, and the leave to issue is brought again. */
  async leaveTwice(world, { a, b }) {
    const found = pick(await holdings(world), a)
    if (found === undefined) return
    const { held: amount, ...rest } = found
    const withdrawal = await initiate(world, {
      ...rest,
      amount,
      recipient: world.user(3).address,
      nonce: `1${b}`,
    })
    if (withdrawal === undefined) return
    await issue(world, withdrawal)
    await world.network.chains.hub.reorganize(2, false)
    const sent = world.submissions.at(-1)
    if (sent !== undefined) await world.send('hub', sent)
    await world.finalize('hub')
    await signIssued(world, withdrawal)
    await payOut(world, withdrawal)
  },
  async submitAgain(world, step) {
    const sent = pick(world.submissions, step.a)
    if (sent !== undefined) await world.send('hub', sent)
    await maybeFinal(world, 'hub', step)
  },
  async bringAgain(world, { a, b }) {
    const signed = pick(world.executions, a + b)
    if (signed !== undefined) await world.execute(signed)
  },
} satisfies Record<string, Play>

const plays: Readonly<Record<StepName, Play>> = { ...honest, ...wholeWays, ...adversaries }
export type StepName = keyof typeof honest | keyof typeof wholeWays | keyof typeof adversaries

/** How often beside the others. */
const weights: Partial<Record<StepName, number>> = {
  ...{
    quote: 4,
    depositFor: 5,
    depositOwn: 4,
    mint: 3,
    serve: 3,
    carryOut: 6,
    settleFill: 5,
    settleRefund: 3,
  },
  ...{
    initiate: 5,
    issue: 5,
    signIssued: 2,
    payOut: 5,
    closeRequested: 3,
    close: 5,
    bringAgain: 2,
    reorganize: 3,
  },
  ...{ life: 8, leave: 8, topUp: 3, nothing: 0 },
}

const names = (Object.keys(plays) satisfies string[]).flatMap((name) => {
  // CAST: keys of the object that the type is made of.
  const step = name as StepName
  return Array.from({ length: weights[step] ?? 1 }, () => step)
})

/** Mostly what is newest. */
const newest = fc.oneof({ weight: 3, arbitrary: fc.nat(1) }, { weight: 2, arbitrary: fc.nat(7) })
const recent = fc.nat(7)
const nothing: Step = { do: 'nothing', a: 0, b: 0, c: 0, units: 0, flag: false }

/** Shrinks to a step that does nothing. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { withCrossShrink: true },
  { weight: 1, arbitrary: fc.constant(nothing) },
  {
    weight: 60,
    arbitrary: fc.record({
      do: fc.constantFrom(...names),
      ...{ a: newest, b: recent, c: recent, units: fc.integer({ min: 20, max: 2_000 }), flag: fc.boolean() },
    }),
  },
)

export async function take(world: World, taken: Step): Promise<void> {
  await plays[taken.do](world, taken)
}
