// Goal: requests from and to Bitcoin live their whole life on what its blocks show; what is short, dropped, or paid for
// something else moves no money but the user's own, back. Who gains by breaking it: a user whose deposit a reorganisation
// takes back after it was filled, a solver that reports what it did not pay, an endpoint that shows a payment alone.
// Method: the service with its jobs, PostgreSQL and stand-in oracles over anvil and a constructed Bitcoin chain; a solver
// works by hand.
import { waitUntil } from '@causeway/localnet'
import { ConstructedChain, keyOf } from '@causeway/localnet/standIns/bitcoin'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { QuoteAnswer } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import {
  type BitcoinSettling,
  depositOf,
  fundedUser,
  payOnBitcoin,
  psbtOf,
  quoteFromBitcoin,
  quoteToBitcoin,
  sendPsbt,
  startBitcoinSettling,
  toBitcoin,
} from './support/bitcoinSettling.ts'

let at: BitcoinSettling
beforeAll(async () => {
  at = await startBitcoinSettling(true)
}, 180_000)
afterAll(() => at?.stop())
afterEach(() => at?.nodes[0]?.show(at.chain))

const report = async (item: { readonly id: string }, transaction: string) =>
  (await at.requests.solver.report(item.id, transaction)).status

describe('to Bitcoin', () => {
  test('a fill that names its order is success in a block, and settled once that is final', async () => {
    const quote = await quoteToBitcoin(at, keyOf('recipient 1').witness.address)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    expect(item.payload).not.toHaveProperty('fillContract')
    const paid = await payOnBitcoin(at, item)
    expect(await report(item, paid)).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    expect((await at.requests.statusOf(quote)).status).not.toBe('success')
    at.chain.mineWaiting()
    await at.requests.reaches(quote, 'success')
    expect((await at.requests.statusOf(quote)).txHashes).toEqual([paid])
    expect(await at.requests.stageOf(quote)).toBe('filled')
    at.chain.mineEmpty(2)
    await at.requests.reachesStage(quote, 'settled')
  })

  test('an order can be mined for an hour after the time in which its payment begins, however short that is', async () => {
    const secondsOf = async (ttl?: number) => {
      const more = { ...toBitcoin(at, keyOf('recipient 0').witness.address), ...(ttl && { ttl }) }
      const { requestId } = await quoteFromBitcoin(at, at.requests.user.address, more)
      const [row] = await at.database.query<{ seconds: number }>(
        'select extract(epoch from deadline - created_at)::int as seconds from orders where request_id = $1',
        [bytesOf(requestId)],
      )
      return row?.seconds ?? 0
    }
    // A solver signs nothing that six blocks may be too few for.
    expect(await secondsOf()).toBeGreaterThan(3_600 + 3_500)
    expect(Math.abs((await secondsOf(30)) - 3_630)).toBeLessThan(10)
  })

  test('a payment that names another order, and that one node alone shows, is no fill', async () => {
    const quote = await quoteToBitcoin(at, keyOf('recipient 2').witness.address)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    const foreign = await payOnBitcoin(at, item, { orderId: `0x${'77'.repeat(32)}` })
    const lie = new ConstructedChain()
    const { transaction } = at.chain.find(foreign) ?? {}
    if (transaction === undefined) throw new Error('it waits for a block')
    lie.mine(transaction)
    at.nodes[0]?.show(lie)
    expect(await report(item, foreign)).toBe(200)
    at.chain.mineWaiting()
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    expect((await at.requests.statusOf(quote)).status).not.toBe('success')
  })
})

describe('from Bitcoin', () => {
  test('a deposit that a reorganisation takes back is no deposit, until it is in a block again', async () => {
    const user = fundedUser(at, [3_000_000n])
    const quote = await quoteFromBitcoin(at, user.witness.address)
    await sendPsbt(at, psbtOf(quote), user)
    at.chain.mineWaiting()
    await at.requests.workFor(quote, 'fill')
    at.chain.drop(1)
    at.chain.mineEmpty(2)
    await waitUntil('its fill is withdrawn', async () => {
      return (await at.requests.openWork(quote, 'fill')) === undefined
    })
    at.chain.mineWaiting()
    await at.requests.workFor(quote, 'fill')
  })

  async function refunded(quote: QuoteAnswer, failReason: string): Promise<void> {
    const item = await at.requests.workFor(quote, 'refund')
    const paid = await payOnBitcoin(at, item)
    expect(await report(item, paid)).toBe(200)
    at.chain.mineWaiting()
    // Until its quote expires, another deposit may still come.
    await at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await at.requests.reaches(quote, 'refund')
    expect(await at.requests.statusOf(quote)).toMatchObject({ failReason, txHashes: [paid] })
  }

  test('a deposit that is short goes back to whoever made it', async () => {
    const user = fundedUser(at, [3_000_000n])
    const quote = await quoteFromBitcoin(at, user.witness.address)
    const deposit = depositOf(at, quote, 1_000_000n)
    const item = await at.requests.workFor(quote, 'refund')
    expect(item.payload).toMatchObject({ recipient: user.witness.address })
    await refunded(quote, 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL')
    expect((await at.requests.statusOf(quote)).inTxHashes).toEqual([deposit])
  })

  test('a deposit behind the deadline of its order goes back', async () => {
    const user = fundedUser(at, [3_000_000n])
    const quote = await quoteFromBitcoin(at, user.witness.address)
    // Blocks of this chain are of 2023.
    await at.database.query(
      `update orders set deadline = to_timestamp(1600000060), expires_at = to_timestamp(1600000000)
       where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await sendPsbt(at, psbtOf(quote), user)
    at.chain.mineWaiting()
    await refunded(quote, 'PROTOCOL_DEADLINE_EXPIRED')
  })
})
