// Goal: a solver that takes something back from whom it pays, shows one payment for another, or books what nobody
// deposited, is found out by the model. Method: each way as a fixed sequence, by the shipped rules and without the one
// check; then random runs without it.

import { expect, test } from 'vitest'
import {
  anyTransferPays,
  codeKeepsCoin,
  paysPlainly,
  paysWithoutLimit,
  quotedDebitIsOwed,
  quotedFeesAccrue,
  quotesAreBooked,
  recordsPayAnything,
  rewardsAreForAll,
  signsUntried,
} from './model/brokenRules.ts'
import { depositFor, findsHoles, type Hole, paidFor, provesHoles, settle, worldOf } from './model/holes.ts'
import type { Currency, Strangers } from './model/network.ts'
import {
  operateListed,
  payInTwoEntries,
  recordOfAnother,
  tradeAroundOne,
  tradeInBatch,
  tradeInsidePay,
} from './model/parties/cheats.ts'
import { outputsOf, pay } from './model/parties/solver.ts'
import { topUp, watchTopUps } from './model/parties/sponsor.ts'
import type { AskedQuote } from './model/quotes.ts'
import { type Rules, shippedRules } from './model/rules.ts'
import { setHabit } from './model/stepParts.ts'
import type { KnownOrder, World } from './model/world.ts'

type Cheat = (world: World, known: KnownOrder) => Promise<`0x${string}` | undefined>

/** An order is paid for, and a cheat's transaction shown as its fill. */
const cheating = (
  name: string,
  without: Rules,
  {
    cheat,
    currency = 'USDC',
    payee,
  }: {
    readonly cheat: Cheat
    readonly currency?: Currency
    readonly payee?: (world: World) => `0x${string}`
  },
): Hole => ({
  name,
  without,
  breaks: 'I5',
  async attack(world) {
    const paid = await paidFor(world, payee?.(world), currency)
    await settle(world, paid, await cheat(world, paid.known))
  },
})

function strangersOf(world: World): Strangers {
  const { strangers } = world.network.places.optimism
  if (strangers === undefined) throw new Error('a model has contracts of anybody')
  return strangers
}
const account = (world: World) => strangersOf(world).accounts[0]

const payPlainly: Cheat = (world, known) =>
  pay(world, known.destination, {
    ids: [known.orderId],
    payments: outputsOf(known),
    by: 'transfer',
    from: world.user(5).address,
  })

const trades: readonly Hole[] = [
  cheating(
    'P-41: a token of the solver’s own opens and closes a trade around the payment',
    recordsPayAnything,
    {
      cheat: (world, known) => tradeInsidePay(world, known, 'believes_balances'),
    },
  ),
  cheating('P-41: a token of the solver’s own settles the recipient’s limit order', recordsPayAnything, {
    cheat: (world, known) => tradeInsidePay(world, known, 'limit_order'),
  }),
  cheating('P-41: the recipient’s own EIP-3009 payment inside the payment', recordsPayAnything, {
    cheat: (world, known) => tradeInsidePay(world, known, 'authorization'),
  }),
  cheating('P-41: two entries of a token that asks its sender', recordsPayAnything, {
    cheat: payInTwoEntries,
    currency: 'USDX',
  }),
  cheating('P-42: a trade by the hook of the sender around transfer(recipient, 1)', anyTransferPays, {
    cheat: tradeAroundOne,
    currency: 'USDX',
  }),
  cheating('P-42: coin for an account whose code pays the caller', codeKeepsCoin, {
    currency: 'coin',
    payee: account,
    async cheat(world, known) {
      await setHabit(world, 'optimism', account(world), 'pays_the_caller')
      return payPlainly(world, known)
    },
  }),
  cheating('P-43: claims for the tokens in a batch', anyTransferPays, {
    cheat: (world, known) => tradeInBatch(world, known, 'claims'),
  }),
  cheating('P-43: coin of a smart account for the tokens in a batch', anyTransferPays, {
    cheat: (world, known) => tradeInBatch(world, known, 'coin'),
    payee: account,
  }),
  cheating('P-43: the recipient’s own EIP-3009 payment in a batch', anyTransferPays, {
    cheat: (world, known) => tradeInBatch(world, known, 'authorization'),
  }),
  cheating('P-43: a listed wallet’s operation, handed in by a thief', anyTransferPays, {
    cheat: operateListed,
  }),
  cheating('P-43: a payee that is a depository', anyTransferPays, {
    cheat: payPlainly,
    payee: (world) => world.network.places.optimism.depository,
  }),
]

const asked: AskedQuote = {
  origin: 'base',
  destination: 'optimism',
  amount: 1_000n,
  recipients: 1,
  slippageBps: 0n,
  appFeeBps: 0n,
  subsidy: 0n,
  hasKey: true,
}

/** A quote is deposited for, filled and settled. */
async function live(
  world: World,
  change: Partial<AskedQuote>,
  {
    deposited,
    payee,
    currency = 'USDC',
    isServed = true,
  }: {
    readonly deposited?: bigint
    readonly payee?: `0x${string}`
    readonly currency?: Currency
    /** The service has its fill attested. */
    readonly isServed?: boolean
  } = {},
): Promise<void> {
  const terms = { ...asked, ...change }
  const quoted = world.service.price(terms)
  if (quoted === undefined) throw new Error('the quote buys nothing')
  const owner = world.user(0)
  const { origin, destination, amount } = terms
  const recipients = [payee ?? world.user(3).address]
  const known = await world.newOrder({ owner, origin, destination, currency, amount, recipients, quoted })
  const request = world.service.quote(known, quoted)
  if (request === undefined) throw new Error('no sponsor pays')
  if (deposited === undefined) return
  const { id } = await depositFor(world, known, deposited)
  await world.service.serve(request, [id])
  for (const item of request.items) await world.solver.carryOut(world, item)
  await world.finalize(destination)
  for (let round = 0; isServed && round < 3; round += 1) await world.service.serve(request, [id])
}

async function fundSponsor(world: World): Promise<void> {
  await topUp(world, 10_000n)
  await world.finalize('base')
  watchTopUps(world)
}

const slipped = { slippageBps: 9_000n, appFeeBps: 1_000n }

const books: readonly Hole[] = [
  {
    name: 'L-10: a deposit of a tenth is paid and books a tenth',
    without: quotesAreBooked,
    breaks: 'I6',
    attack: (world) => live(world, slipped, { deposited: 100n }),
  },
  {
    name: 'L-10: app fees are those of the deposit',
    without: quotedFeesAccrue,
    breaks: 'I6',
    attack: (world) => live(world, slipped, { deposited: 100n }),
  },
  {
    name: 'L-10: a sponsor pays his part of a deposit that slipped',
    without: quotedDebitIsOwed,
    breaks: 'I6',
    async attack(world) {
      await fundSponsor(world)
      await live(world, { ...slipped, subsidy: 50n }, { deposited: 100n })
    },
  },
  {
    name: 'Q-40: parallel quotes earn no more than the same in a row',
    without: rewardsAreForAll,
    breaks: 'I7',
    async attack(world) {
      for (let quotes = 0; quotes < 4; quotes += 1)
        await live(world, { origin: 'optimism', destination: 'base', amount: 2_000n })
    },
  },
]

const payers: readonly Hole[] = [
  {
    name: 'P-41: the payer pays coin to an account with code by record',
    without: paysPlainly,
    breaks: 'I8',
    attack: (world) => live(world, {}, { deposited: 1_000n, payee: account(world), currency: 'coin' }),
  },
  {
    name: 'P-46: the payer signs nothing that would fail',
    without: signsUntried,
    breaks: 'I8',
    async attack(world) {
      await setHabit(world, 'optimism', account(world), 'refuses')
      await live(world, {}, { deposited: 1_000n, payee: account(world), currency: 'coin' })
    },
  },
  {
    name: 'L-21: fills wait for attestations',
    without: paysWithoutLimit,
    breaks: 'I9',
    async attack(world) {
      for (let orders = 0; orders < 4; orders += 1)
        await live(world, { amount: 2_000n }, { deposited: 2_000n, isServed: false })
    },
  },
]

provesHoles([...trades, ...books, ...payers])

test('P-41: what is recorded for one order fills no other one, whatever id is behind the calldata', async () => {
  const world = await worldOf(shippedRules)
  const [paid, other] = [await paidFor(world), await paidFor(world)]
  const transaction = await recordOfAnother(world, paid.known, other.known)
  for (const one of [paid, other]) expect(await settle(world, one, transaction)).toMatchObject({ ok: false })
})

findsHoles([
  ['records pay anything beside the order', recordsPayAnything, ['I5']],
  ['code keeps the coin that it got', codeKeepsCoin, ['I5']],
  ['a quote is booked whatever is deposited', quotesAreBooked, ['I6']],
  ['quoted app fees accrue', quotedFeesAccrue, ['I6']],
  ['a quoted debit is owed', quotedDebitIsOwed, ['I6']],
  ['rewards are for all', rewardsAreForAll, ['I7']],
  ['the payer pays plainly', paysPlainly, ['I8', 'I9']],
  ['the payer signs untried', signsUntried, ['I8']],
])
