// Goal: the shipped solver pays on six families at once as it does on each alone: every family reaches every other one,
// what is received is what was quoted, what is short goes back to where it came from, and no order is paid twice when the
// solver is killed, stalls, or runs twice. Who gains by breaking it: a user whose family works until another one is added,
// and a recipient who is paid once by a process that died and once by the next. Method: the service with its jobs, its
// solver and two oracles in processes of their own, PostgreSQL, anvil, a Solana cluster of one, a constructed Bitcoin chain,
// a Tron, a Lighter and a Hyperliquid of stand-ins; nobody pays by hand.
import { setTimeout as sleep } from 'node:timers/promises'
import { type SpawnedService, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import { postPatiently, type QuoteAnswer, readOk } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { bytesOf, orderIdOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { querySolver } from '../apps/solver/test/support/solverBench.ts'
import { type Family, families, requestOf, type Sides, sidesOf } from './support/familySides.ts'
import { type FamilySolving, startFamilySolving } from './support/familySolver.ts'
import { shortDepositsOf } from './support/shortDeposits.ts'

/** Only ends a test that would hang. */
const longTest = 300_000
const patient = { patienceMs: longTest, pollMs: 200 }
let bed: FamilySolving
let at: FamilySolving['six']
let sides: Sides
let solver: SpawnedService

beforeAll(async () => {
  bed = await startFamilySolving()
  at = bed.six
  sides = sidesOf(at)
  solver = bed.startSolver()
  await solver.ready()
}, 240_000)
afterAll(() => bed?.stop())

const pairs = families.flatMap((from) => families.map((to) => [from, to] as const))

const quoteOf = async (body: object): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${at.url}/quote`, body), quoteResponseSchema)

/** Queue per family: an account that funds its users, or is one, sends one transaction after the other. */
const turns = new Map<Family, Promise<unknown>>()

function inTurn<Result>(family: Family, work: () => Promise<Result>): Promise<Result> {
  const mine = (turns.get(family) ?? Promise.resolve()).then(work)
  turns.set(
    family,
    mine.catch(() => {}),
  )
  return mine
}

type Deposited = { readonly quote: QuoteAnswer; held(): Promise<bigint> }

const deposited = (from: Family, to: Family): Promise<Deposited> =>
  inTurn(from, async () => {
    const { body, deposit, held } = await requestOf(sides, [from, to])
    const quote = await quoteOf(body)
    await deposit(quote)
    return { quote, held }
  })

async function ends(quote: QuoteAnswer, status: 'success' | 'refund'): Promise<void> {
  const isSo = async () => (await at.requests.statusOf(quote)).status === status
  await waitUntil(`it ends as ${status}`, isSo, { ...patient, circumstances: () => said(quote) })
}

async function end(process: SpawnedService): Promise<void> {
  process.kill('SIGKILL')
  await process.ended
}

/** Known facts about an order that is not paid. */
async function said(quote: QuoteAnswer): Promise<string> {
  const known = [await at.requests.statusOf(quote), await at.requests.settlementOf(quote)]
  const lines = solver.output().split('\n')
  const own = lines.filter((line) => line.includes(quote.requestId) || line.includes(orderIdOf(quote)))
  return [JSON.stringify(known), ...own.slice(-10), '…', ...lines.slice(-10)].join('\n')
}

const promised = ({ quote }: Deposited): bigint => BigInt(quote.details.currencyOut.amount ?? 0)

describe('while one solver pays on all families', { timeout: longTest }, () => {
  test.concurrent.each(pairs)('what is sent from %s to %s is received as it was quoted', async (from, to) => {
    const order = await deposited(from, to)
    await ends(order.quote, 'success')
    expect(await order.held()).toBe(promised(order))
  })

  test.concurrent.each(['Solana', 'Bitcoin', 'Tron', 'Lighter', 'Hyperliquid'] as const)(
    'what is short of its order on %s goes back there',
    async (family) => {
      const [origin, destination] = [sides[family].origin(), sides.EVM.destination()]
      const { recipient, held: paid } = sides.EVM.payee()
      const { short, quote } = await inTurn(family, async () => {
        const wallet = await shortDepositsOf(at, sides)[family]()
        const asked = await quoteOf({
          user: wallet.user,
          refundTo: wallet.refundTo,
          recipient,
          tradeType: 'EXACT_INPUT',
          originChainId: origin.chainId,
          originCurrency: origin.currency,
          amount: origin.amount,
          destinationChainId: destination.chainId,
          destinationCurrency: destination.currency,
        })
        await wallet.deposit(asked)
        return { short: wallet, quote: asked }
      })
      const { payload } = await at.requests.workFor(quote, 'refund')
      // Until its quote expires, another deposit may still come.
      await at.database.query(
        `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
        [bytesOf(quote.requestId)],
      )
      await ends(quote, 'refund')
      expect(payload).toMatchObject({ amount: (await short.returned()).toString() })
      expect(await paid()).toBe(0n)
    },
  )
})

describe('when the solver is disturbed while an order of each family is open', { timeout: longTest }, () => {
  /** One order to each family, from another one; the solver was not there yet. */
  async function batch(): Promise<readonly Deposited[]> {
    await end(solver)
    const orders = await Promise.all(
      families.map((to, index) => deposited(families[(index + 1) % families.length] ?? to, to)),
    )
    await Promise.all(orders.map(({ quote }) => at.requests.workFor(quote, 'fill')))
    return orders
  }

  /** Number of orders that the solver has signed a payment for. */
  async function begun(orders: readonly Deposited[]): Promise<number> {
    const ids = orders.map(({ quote }) => `'${orderIdOf(quote)}'`)
    const [row] = await querySolver(
      bed.settings,
      `select count(distinct payment_id)::int as begun from signed_record where payment_id in (${ids})`,
    )
    return Number(row?.['begun'])
  }

  async function paidOnce(orders: readonly Deposited[]): Promise<void> {
    await Promise.all(orders.map(({ quote }) => ends(quote, 'success')))
    // Whatever else was signed lands too.
    await sleep(4_000)
    expect(await Promise.all(orders.map(({ held }) => held()))).toEqual(orders.map(promised))
  }

  test('it is killed again and again, and pays each once', async () => {
    const orders = await batch()
    for (const least of [1, 4]) {
      solver = bed.startSolver()
      await waitUntil(`${least} are begun`, async () => (await begun(orders)) >= least, patient)
      await end(solver)
    }
    solver = bed.startSolver()
    await paidOnce(orders)
  })

  test('it runs twice, and the first one stalls past its leases and wakes up: each is paid once', async () => {
    const orders = await batch()
    solver = bed.startSolver()
    const other = bed.startSolver()
    await Promise.all([solver.ready(), other.ready()])
    await waitUntil('one is begun', async () => (await begun(orders)) >= 1, patient)
    solver.kill('SIGSTOP')
    await sleep(3_000)
    solver.kill('SIGCONT')
    await paidOnce(orders)
  })
})
