// Steps of accounts with code, odd tokens, the market and a cheating solver.
import { accountHabits } from './contracts/strangers.ts'
import {
  insides,
  operateListed,
  payInTwoEntries,
  recordOfAnother,
  tradeAroundOne,
  tradeInBatch,
  tradeInsidePay,
} from './parties/cheats.ts'
import { outputsOf, pay, settleFill } from './parties/solver.ts'
import {
  currencyOf,
  depositsFor,
  onOrder,
  owners,
  type Picks,
  type Play,
  pick,
  setHabit,
  setTokenFee,
  userChain,
} from './stepParts.ts'
import type { KnownOrder, World } from './world.ts'

/** Shows what a cheat sent as the fill of an order, and notes what came of it. */
const cheating = (
  name: string,
  cheat: (world: World, known: KnownOrder, step: Picks) => Promise<`0x${string}` | undefined>,
): Play =>
  onOrder(async (world, known, step) => {
    const transaction = await cheat(world, known, step)
    const made = pick(depositsFor(world, known), 0)
    const receipt = transaction && world.network.chains[known.destination].receiptOf(transaction)
    if (transaction === undefined || receipt?.succeeded !== true || made === undefined) return
    await world.finalize(known.destination)
    const answer = await settleFill(world, known, { deposit: made, transaction })
    world.reached.push(`${name} ${answer?.ok === true ? 'attested' : 'refused'}`)
  })

export const cheats = {
  /** Code at an account decides anew what becomes of coin. */
  async habit(world, { a, b, c }) {
    const account = world.network.places[userChain(b)].strangers?.accounts[a % 2]
    if (account !== undefined)
      await setHabit(world, userChain(b), account, accountHabits[c % accountHabits.length] ?? 'keeps')
  },
  tokenFee: (world, { flag, units }) => setTokenFee(world, flag ? BigInt(units) : 0n),
  async marketMoves(world, { c, units, flag }) {
    world.service.market.costBps = flag ? 10_000n : 6_000n + 6n * BigInt(units)
    world.service.market.isReadable = c % 4 !== 0
  },
  /** Somebody's order that nobody quoted: it pays a depository. */
  async orderOfOwn(world, { a, b, c, units }) {
    const [owner, destination] = [world.user(a % owners), userChain(b >> 1)]
    const recipients = [world.network.places[destination].depository]
    const terms = { owner, origin: userChain(b), destination, currency: currencyOf(c) }
    await world.newOrder({ ...terms, amount: BigInt(units), recipients })
  },
  tradeInsidePay: cheating('trades inside a payment', (world, known, { c }) =>
    tradeInsidePay(world, known, insides[c % insides.length] ?? 'limit_order'),
  ),
  payInTwoEntries: cheating('payments in two entries', (world, known) => payInTwoEntries(world, known)),
  tradeAroundOne: cheating('trades around a transfer', (world, known) => tradeAroundOne(world, known)),
  tradeInBatch: cheating('trades in a batch', (world, known, { c }) =>
    tradeInBatch(world, known, (['claims', 'coin', 'authorization'] as const)[c % 3] ?? 'claims'),
  ),
  operateListed: cheating('operations of a listed wallet', (world, known) => operateListed(world, known)),
  recordOfAnother: cheating('records of another order', async (world, known, { b }) => {
    const other = pick(
      world.orders.filter((one) => one !== known),
      b,
    )
    return other && recordOfAnother(world, known, other)
  }),
  /** Coin or tokens in a plain transfer, as another solver pays. */
  payPlainly: cheating('plain payments', async (world, known, { flag }) => {
    const { recipient } = outputsOf(known)[0] ?? {}
    if (flag && recipient !== undefined)
      await setHabit(world, known.destination, recipient, 'pays_the_caller')
    const payments = outputsOf(known)
    const from = world.user(5).address
    return pay(world, known.destination, { ids: [known.orderId], payments, by: 'transfer', from })
  }),
} satisfies Record<string, Play>
