// Steps of honest parties, alone and from the beginning of an order or withdrawal on.
import { chainNumbers } from './network.ts'
import { deposit, initiate, issue, mint, signIssued } from './parties/owner.ts'
import { settleFill, settleRefund } from './parties/solver.ts'
import { topUp, watchTopUps } from './parties/sponsor.ts'
import { closeRequested, payOut } from './parties/withdrawals.ts'
import {
  anyChain,
  appFees,
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
  type Play,
  payeesOf,
  paymentAt,
  pick,
  serve,
  setTokenFee,
  slippages,
  userChain,
} from './stepParts.ts'

export const honest = {
  async nothing() {},
  async quote(world, { a, b, c, units, flag }) {
    const owner = world.user(a % owners)
    const [origin, destination, currency] = [userChain(b), userChain(b >> 1), currencyOf(c)]
    const { recipients, refundTo } = payeesOf(world, { owner, origin, destination, c, units, flag })
    if (world.solver.full.includes(chainNumbers[destination]))
      return void world.reached.push('quotes refused for the cap')
    const asked = { origin, destination, amount: BigInt(units), recipients: recipients.length }
    const hasKey = c % 2 === 0
    const quoted = world.service.price({
      ...asked,
      hasKey,
      subsidy: hasKey ? BigInt(units) / 10n : 0n,
      slippageBps: slippages[(a + units) % slippages.length] ?? 0n,
      appFeeBps: appFees[(b + units) % appFees.length] ?? 0n,
    })
    if (quoted === undefined) return void world.reached.push('quotes that buy nothing')
    const amount = BigInt(units)
    const terms = { owner, origin, destination, currency, amount, recipients, refundTo, quoted }
    const known = await world.newOrder(terms)
    const request = world.service.quote(known, quoted)
    if (request === undefined) world.orders.splice(world.orders.indexOf(known), 1)
    if (request !== undefined && quoted.move !== undefined)
      world.reached.push(quoted.reward < quoted.earnable ? 'rewards less than earned' : 'rewards')
  },
  /** Between the least and beyond the quoted input, too little, or in another currency. */
  async depositFor(world, step) {
    const known = order(world, step.a)
    if (known === undefined) return
    const { quotedInput, leastInput } = known
    const between = leastInput + ((quotedInput - leastInput) * BigInt(step.units)) / 2_000n
    const amounts = [quotedInput, leastInput, leastInput / 2n, quotedInput + BigInt(step.units), between]
    const currency = step.b === 7 ? 'USDX' : known.currency
    const money = {
      owner: known.owner,
      chain: known.origin,
      currency,
      amount: amounts[step.b % amounts.length] ?? quotedInput,
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
    await world.solver.carryOut(world, item)
    await maybeFinal(world, item.chain, step)
    for (const [index] of world.service.requests.entries()) await serve(world, index)
  },
  /** Has oracles attest what the solver paid. */
  async ask(world, { flag }) {
    for (let times = flag ? 3 : 1; times > 0; times -= 1) await world.solver.ask(world)
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

export const wholeWays = {
  /** An order from its quote on, as far as `b` says. */
  async life(world, { b, ...rest }) {
    const step = { ...rest, b: b >> 1 }
    await honest.quote(world, step)
    const stages = [
      async () => {
        if (step.units % 6 === 0) await honest.pass(world, { ...step, b: 1 + (step.c % 4) })
      },
      () => honest.depositFor(world, { ...step, b: b === 4 ? 2 : 5 * (step.b % 2) + (step.c % 5), a: 0 }),
      () => serve(world, 0),
      () => honest.carryOut(world, { ...step, a: 0, c: 1 }),
      async () => {
        await serve(world, 0)
        if (step.flag) await world.solver.ask(world)
      },
      () => honest.settleFill(world, { ...step, a: 0, b: 0, c: 0 }),
      () => honest.settleRefund(world, { ...step, a: 0, b: 0, c: 0 }),
    ]
    for (const stage of stages.slice(0, 3 + (b % 5))) await stage()
  },
  /** A token begins to take a fee between a deposit and its fill, and oracles are asked until they refuse it for good. */
  async feeBegins(world, { a, b, units }) {
    const step = { a: 0, b: 2 * (b >> 1), c: 1, units, flag: false }
    await honest.quote(world, { ...step, a })
    await honest.depositFor(world, { ...step, b: 0, flag: true })
    await serve(world, 0)
    await setTokenFee(world, BigInt(units) + 1_000n)
    await honest.carryOut(world, step)
    await honest.ask(world, { ...step, flag: true })
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
