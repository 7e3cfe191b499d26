// Goal: requests from and to Tron live their whole life on what its blocks show; what is short, dropped, or paid for
// something else moves no money but the user's own, back. Who gains by breaking it: a user whose deposit a reorganisation
// takes back after it was filled, a solver that reports what it did not pay or pays twice, an endpoint that shows a payment
// alone, a recipient whose code gives coin back. Method: the service with its jobs, PostgreSQL and stand-in oracles over
// anvil and a Tron of stand-ins; a solver works by hand.
import type { Hex } from '@causeway/core'
import { tronAddress, tronHexAddress } from '@causeway/core/encodings'
import { waitUntil } from '@causeway/localnet'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import { readClaimStep } from '../apps/quote-api/test/serviceSupport/appFeeClaim.ts'
import {
  send as get,
  post,
  postPatiently,
  price,
  type QuoteAnswer,
  readOk,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { bytesOf, debitOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createSponsor, moneyOf } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'
import {
  executeQuote,
  executeStep,
  fromTron,
  fundedUser,
  payOnTron,
  quoteFromTron,
  quoteToTron,
  refundIdOf,
  send,
  startTronSettling,
  stepSchema,
  type TronSettling,
  tronChainId,
  tronUserOf,
  trx,
  unit,
} from './support/tronSettling.ts'

let at: TronSettling
beforeAll(async () => {
  at = await startTronSettling(true)
}, 180_000)
afterAll(() => at?.stop())
afterEach(() => {
  for (const node of at?.nodes ?? []) node.set({ kind: 'none' })
})

const report = async (item: { readonly id: string }, transaction: string) =>
  (await at.requests.solver.report(item.id, transaction)).status

let strangers = 0
/** Nobody ever paid it. */
function stranger(): string {
  strangers += 1
  return tronUserOf(`0x${(0x9000 + strangers).toString(16).padStart(64, '0')}`).address
}

const coinOf = async (address: string): Promise<bigint> =>
  BigInt(String(await at.evm.node('eth_getBalance', [tronHexAddress(address), 'latest'])))

describe('to Tron', () => {
  test.each([
    ['coin', () => trx],
    ['a token', () => at.usdc],
  ])('a fill of %s is success in a block, and settled once that is solid', async (_what, currency) => {
    const recipient = stranger()
    const quote = await quoteToTron(at, recipient, currency())
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    expect(item.payload).toMatchObject({ fillContract: at.evm.deployment.fillContract.toLowerCase() })
    const paid = await payOnTron(at, item)
    expect(await report(item, paid)).toBe(200)
    await at.requests.reaches(quote, 'success')
    expect((await at.requests.statusOf(quote)).txHashes).toEqual([paid])
    await at.requests.reachesStage(quote, 'settled')
    // Quoted is received, to the unit.
    if (currency() === trx)
      expect(await coinOf(recipient)).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
  })

  test('an account that is not there is made at a price of its own, and a token costs more where none is held', async () => {
    const asked = (recipient: string, currency: string) =>
      fromTron(at, at.requests.user.address, {
        originChainId: 8453,
        originCurrency: currencyAddress(at.network, 'base', 'USDC'),
        recipient,
        destinationChainId: tronChainId,
        destinationCurrency: currency,
      })
    const known = (await fundedUser(at)).address
    const costOf = async (recipient: string, currency: string) => {
      const { fees } = await price(at.url, asked(recipient, currency))
      return {
        gas: BigInt(String(fees.relayerGas.amount)),
        all: BigInt(String(fees.relayer.amount)),
      }
    }
    const [held, made] = [await costOf(known, trx), await costOf(stranger(), trx)]
    // 25,000 energy at 100 sun, and no more gas than anybody's.
    expect(made.all - held.all).toBeGreaterThanOrEqual(2_500_000n)
    const [holder, newHolder] = [await costOf(known, at.usdc), await costOf(stranger(), at.usdc)]
    expect(newHolder.gas).toBeGreaterThan(holder.gas)
  })

  test('a sponsor pays for the account that is made, and is debited once its payment is solid', async () => {
    const funds = 1_000_000_000n
    const sponsor = await createSponsor(at.database, funds)
    const body = fromTron(at, at.requests.user.address, {
      originChainId: 8453,
      originCurrency: currencyAddress(at.network, 'base', 'USDC'),
      destinationChainId: tronChainId,
      destinationCurrency: trx,
      recipient: stranger(),
      subsidizeFees: true,
      subsidizeRent: true,
    })
    const headers = { 'x-api-key': sponsor.apiKey }
    const quote = readOk(await postPatiently(`${at.url}/quote`, body, headers), quoteResponseSchema)
    expect(quote.feeSponsorship).toMatchObject({ status: 'full' })
    // 25,000 energy at 100 sun, where a TRX costs a dollar.
    const { rent } = quote.feeSponsorship?.quoted.components ?? {}
    expect([rent?.total.amount, rent?.userPays.amount]).toEqual(['2500000', '0'])
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    expect(await report(item, await payOnTron(at, item))).toBe(200)
    await at.requests.reachesStage(quote, 'settled')
    expect(await moneyOf(at.database, sponsor.wallet)).toEqual({
      available: funds - debitOf(quote),
      held: 0n,
    })
  })

  test('a payment that names another order, and one that a node alone shows, is no fill', async () => {
    const quote = await quoteToTron(at, stranger(), trx)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    const foreign = await payOnTron(at, item, { orderId: `0x${'77'.repeat(32)}` })
    const told = `0x${'11'.repeat(32)}`.slice(2)
    at.nodes[0]?.set({
      kind: 'lie',
      rewrite: (path, body) =>
        path.endsWith('gettransactioninfobyid') && Object.keys(Object(body)).length === 0
          ? { id: told, blockNumber: 5, blockTimeStamp: 1_790_000_000_000 }
          : body,
    })
    expect(await report(item, foreign)).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    expect((await at.requests.statusOf(quote)).status).not.toBe('success')
  })

  test('P-41: coin to a contract is quoted, paid and proven', async () => {
    const account: Hex = `0x${'c7'.repeat(20)}`
    // Writes a log whenever it is paid.
    await at.evm.node('anvil_setCode', [account, '0x5f5fa000'])
    const quote = await quoteToTron(at, tronAddress(account), trx)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    expect(await report(item, await payOnTron(at, item))).toBe(200)
    await at.requests.reaches(quote, 'success')
  })

  test('a payment of an order is made once, whatever is signed for it', async () => {
    const quote = await quoteToTron(at, stranger(), trx)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    const paid = await payOnTron(at, item)
    await expect(payOnTron(at, item)).rejects.toThrow('would revert')
    expect(await report(item, paid)).toBe(200)
    await at.requests.reaches(quote, 'success')
    // CAST: an order id is 32 bytes of hex.
    const id = quote.protocol?.v2.orderId as Hex
    await waitUntil('it is paid for good', async () => (await at.paying.readFinal(id)).state === 'paid')
    const closed: Hex = `0x${'c1'.repeat(32)}`
    await send(at.paying, { id: closed, mark: 'closed', payments: [] })
    await waitUntil(
      'it is closed for good',
      async () => (await at.paying.readFinal(closed)).state === 'closed',
    )
    const late = { id: closed, mark: 'paid', orderId: closed } as const
    const payments = [{ recipient: stranger(), currency: trx, amount: unit }]
    await expect(send(at.paying, { ...late, payments })).rejects.toThrow('would revert')
  })
})

describe('from Tron', () => {
  test('F-127: a deposit that a reorganisation takes back is no deposit', async () => {
    const user = await fundedUser(at)
    const quote = await quoteFromTron(at, user.address)
    // Blocks come with transactions alone: two more of them would make the deposit solid.
    await at.evm.node('evm_setAutomine', [true])
    onTestFinished(async () => {
      await at.evm.node('evm_setIntervalMining', [1])
    })
    await executeQuote(at, quote, user)
    await at.requests.workFor(quote, 'fill')
    await at.evm.node('anvil_rollback', [1])
    await at.evm.mine(3)
    await waitUntil('its fill is withdrawn', async () => {
      return (await at.requests.openWork(quote, 'fill')) === undefined
    })
  })

  async function refunded(quote: QuoteAnswer, failReason: string): Promise<void> {
    const item = await at.requests.workFor(quote, 'refund')
    const paid = await payOnTron(at, item, { id: await refundIdOf(at, item) })
    expect(await report(item, paid)).toBe(200)
    // Until its quote expires, another deposit may still come.
    await at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await at.requests.reaches(quote, 'refund')
    expect(await at.requests.statusOf(quote)).toMatchObject({ failReason, txHashes: [paid] })
  }

  test('a deposit that is short goes back to whoever made it', async () => {
    const user = await fundedUser(at)
    const quote = await quoteFromTron(at, user.address)
    const step = stepSchema.parse(quote.steps[0]?.items[0]?.data)
    const short = { ...step, parameter: { ...step.parameter, call_value: 400_000_000 } }
    const deposit = await executeStep(at, short, user)
    const item = await at.requests.workFor(quote, 'refund')
    expect(item.payload).toMatchObject({ recipient: user.address, currency: trx })
    await refunded(quote, 'DEPOSITED_AMOUNT_TOO_LOW_TO_FILL')
    expect((await at.requests.statusOf(quote)).inTxHashes).toEqual([deposit])
  })

  test('a token that came behind the deadline of its order goes back', async () => {
    const user = await fundedUser(at)
    const quote = await quoteFromTron(at, user.address, { originCurrency: at.usdc, explicitDeposit: true })
    await at.database.query(
      `update orders set deadline = to_timestamp(1600000060), expires_at = to_timestamp(1600000000)
       where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await executeQuote(at, quote, user)
    await refunded(quote, 'PROTOCOL_DEADLINE_EXPIRED')
  })
})

test('app fees that accrued on Tron are claimed there by the EVM wallet that they are owed to, once', async () => {
  const [app, recipient] = [privateKeyToAccount(generatePrivateKey()), stranger()]
  const user = await fundedUser(at)
  const quote = await quoteFromTron(at, user.address, { appFees: [{ recipient: app.address, fee: '1000' }] })
  await executeQuote(at, quote, user)
  await at.requests.solver.carryOut(await at.requests.workFor(quote, 'fill'))
  await at.requests.reachesStage(quote, 'settled')

  const asked = { chainId: tronChainId, currency: trx, recipient }
  const { claimId, typedData } = readClaimStep(await post(`${at.url}/app-fees/${app.address}/claim`, asked))
  const signature = await app.signTypedData(typedData)
  const submitted = { kind: 'claim', requestId: claimId }
  for (let turn = 0; turn < 2; turn += 1)
    expect((await post(`${at.url}/execute/permits?signature=${signature}`, submitted)).status).toBe(200)
  const items = (await at.requests.solver.work()).filter(
    ({ kind, payload }) => kind === 'claim' && 'claimId' in payload && payload.claimId === claimId,
  )
  // The payment makes the account, and whoever is owed the fees pays for that.
  const made = '97500000'
  expect(items).toMatchObject([{ payload: { recipient, currency: trx, amount: made } }])
  const [item] = items
  if (item === undefined) throw new Error('there is no payout')
  const paid = await payOnTron(at, item)
  expect(await report(item, paid)).toBe(200)
  await waitUntil('it is paid', async () => {
    const { text } = await get(`${at.url}/app-fees/${app.address}/claims`)
    return text.includes('"paid"') && text.includes(paid)
  })
  expect(await coinOf(recipient)).toBe(BigInt(made))
})
