// Steps of thieves, bad peers and lying endpoints.
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
import { initiate, issue, signIssued } from './parties/owner.ts'
import { outputsOf, pay, settleFill } from './parties/solver.ts'
import { close, payOut } from './parties/withdrawals.ts'
import {
  anyChain,
  currencyOf,
  depositsFor,
  holdings,
  itemAt,
  maybeFinal,
  onOrder,
  onWithdrawal,
  owners,
  type Play,
  pick,
  sentAt,
  userChain,
} from './stepParts.ts'
import type { KnownOrder } from './world.ts'

export const adversaries = {
  async lie(world, { a, b, c }) {
    const { honest: oracles } = world.oracles
    const lie = lies[c % lies.length] ?? 'none'
    const oracle = oracles[a % 2]
    if (oracle !== undefined) oracle.liars[anyChain(b)].lie = lie
    world.service.chains[userChain(b)].liar.lie = lie
    world.solver.lie(userChain(b), lie)
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
    if (other === undefined || currency === 'coin') return
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
