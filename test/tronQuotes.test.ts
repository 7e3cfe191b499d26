// Goal: moving coin and tokens from Tron works end to end: a price, a quote whose steps are calls that a wallet signs, a
// deposit that is pending before its block is solid, a fill on the other chain, and nothing for what cannot be signed or
// seen. Who gains by breaking it: a user who names an allowance that he has not, an endpoint that says he has it, a
// network whose energy grew dear. Method: the service with its jobs, PostgreSQL and stand-in oracles over anvil and a Tron
// of stand-ins.
import { tronHexAddress } from '@causeway/core/encodings'
import { waitUntil } from '@causeway/localnet'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { post, price, readError } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  askQuote,
  executeQuote,
  executeStep,
  fromTron,
  fundedUser,
  quoteFromTron,
  startTronSettling,
  stepSchema,
  type TronSettling,
  tronChainId,
  trx,
  unit,
} from './support/tronSettling.ts'

let at: TronSettling
beforeAll(async () => {
  at = await startTronSettling()
}, 180_000)
afterAll(() => at?.stop())
afterEach(() => {
  for (const node of at?.nodes ?? []) node.set({ kind: 'none' })
})

describe('a price', () => {
  test('is told before anybody is connected, with what the deposit burns on top of the amount', async () => {
    for (const user of [trx, 'THa7BwoPfacfiELa63pbmm3g5PGKYmtJyt']) {
      const { details, fees } = await price(at.url, fromTron(at, user))
      expect(details.currencyIn).toMatchObject({
        amount: '1000000000',
        currency: { symbol: 'TRX', decimals: 6 },
      })
      // 10,000 energy at 100 sun and 356 bytes at 1,000.
      expect(fees.gas).toMatchObject({ amount: '1356000', currency: { symbol: 'TRX' } })
      expect(BigInt(String(details.currencyOut.amount))).toBeGreaterThan(0n)
    }
  })
})

describe('a quote', () => {
  test('of coin is one call of the depository that names the order and carries the amount', async () => {
    const user = await fundedUser(at)
    const quote = await quoteFromTron(at, user.address)
    expect(quote.steps).toMatchObject([
      { id: 'deposit', kind: 'transaction', depositAddress: '', items: [{ check: { method: 'GET' } }] },
    ])
    const { parameter } = stepSchema.parse(quote.steps[0]?.items[0]?.data)
    const digits = tronHexAddress(user.address).slice(2)
    expect([parameter.owner_address, parameter.contract_address]).toEqual([
      `41${digits}`,
      `41${at.evm.deployment.depository.slice(2).toLowerCase()}`,
    ])
    const order = quote.protocol?.v2.orderId.slice(2)
    expect(parameter.data).toBe(`49290c1c${'0'.repeat(24)}${digits}${order}`)
    expect(parameter.call_value).toBe(1_000_000_000)
  })

  test('of a token allows it first, once, and after a reset where the token wants one', async () => {
    const user = await fundedUser(at)
    const tokens = { originCurrency: at.usdc, explicitDeposit: true }
    const first = await quoteFromTron(at, user.address, tokens)
    expect(first.steps.map(({ id }) => id)).toEqual(['approve', 'deposit'])
    for (const { data } of first.steps[0]?.items ?? []) await executeStep(at, data, user)
    await waitUntil('the allowance is seen', async () => {
      const again = await quoteFromTron(at, user.address, tokens)
      return again.steps.map(({ id }) => id).join() === 'deposit'
    })
    // More than is allowed: from another amount than zero this token changes nothing.
    const more = await quoteFromTron(at, user.address, { ...tokens, amount: (2_000n * unit).toString() })
    expect(more.steps.reduce((sum, { items }) => sum + items.length, 0)).toBe(3)
    const plain = await quoteFromTron(at, user.address, { originCurrency: at.usdc, explicitDeposit: false })
    expect(plain.steps.map(({ id }) => id)).toEqual(['deposit'])
    const { parameter } = stepSchema.parse(plain.steps[0]?.items[0]?.data)
    expect(parameter.data).toMatch(new RegExp(`^a9059cbb.*${plain.protocol?.v2.orderId.slice(2)}$`))
  })

  test('counts no allowance that one endpoint alone tells', async () => {
    const user = await fundedUser(at)
    at.nodes[0]?.set({
      kind: 'lie',
      rewrite: (path, body) =>
        path.endsWith('triggerconstantcontract')
          ? { ...Object(body), constant_result: ['f'.repeat(64)] }
          : body,
    })
    const quote = await quoteFromTron(at, user.address, { originCurrency: at.usdc, explicitDeposit: true })
    expect(quote.steps.map(({ id }) => id)).toEqual(['approve', 'deposit'])
  })

  test('F-146: is refused by name for what this family has not', async () => {
    const user = await fundedUser(at)
    for (const [body, code] of [
      [{ recipient: user.address }, 'INVALID_ADDRESS'],
      [{ user: `0x${'11'.repeat(20)}` }, 'INVALID_ADDRESS'],
      [{ usePermit: true }, 'UNSUPPORTED_CURRENCY'],
      [{ useDepositAddress: true, refundTo: user.address }, 'UNSUPPORTED_EXECUTION_TYPE'],
      [{ amount: '1000' }, 'AMOUNT_TOO_LOW'],
    ] as const) {
      const answer = await askQuote(at, user.address, body)
      expect([answer.status, readError(answer).errorCode]).toEqual([400, code])
    }
    const within = { destinationChainId: tronChainId, destinationCurrency: trx, recipient: user.address }
    const asked = fromTron(at, (await fundedUser(at)).address, within)
    expect((await price(at.url, asked)).fees.gas).toMatchObject({ amount: '270000' })
    expect(readError(await post(`${at.url}/quote`, asked)).errorCode).toBe('UNSUPPORTED_ROUTE')
  })

  test('is refused while energy costs more than wallets let a step burn, or than the operator bears', async () => {
    const user = await fundedUser(at)
    const dear = { originCurrency: at.usdc, explicitDeposit: true, amount: (5_000n * unit).toString() }
    for (const [sunPerEnergy, message] of [
      [420, /wallets allow 30000000/],
      [600, /above the ceiling of 500/],
    ] as const) {
      at.prices.sunPerEnergy = sunPerEnergy
      await waitUntil('the market hears of it', async () => {
        const answer = await askQuote(at, user.address, dear)
        if (answer.status === 200) return false
        const refusal = readError(answer)
        return refusal.errorCode === 'GAS_PRICE_TOO_HIGH' && message.test(refusal.message)
      })
    }
    at.prices.sunPerEnergy = 100
    await waitUntil('the market hears of it', async () => (await askQuote(at, user.address)).status === 200)
  })

  test('to Tron is refused while the solver has nothing there', async () => {
    const body = fromTron(at, at.requests.user.address, {
      originChainId: 8453,
      destinationChainId: tronChainId,
      destinationCurrency: trx,
      originCurrency: currencyAddress(at.network, 'base', 'USDC'),
      recipient: (await fundedUser(at)).address,
    })
    const refusal = readError(await post(`${at.url}/quote`, body))
    expect([refusal.statusCode, refusal.errorCode]).toEqual([400, 'INSUFFICIENT_LIQUIDITY'])
  })
})

describe('a deposit', () => {
  test.each([
    ['of coin', () => ({})],
    ['of a token by the depository', () => ({ originCurrency: at.usdc, explicitDeposit: true })],
    ['of a token by a transfer', () => ({ originCurrency: at.usdc, explicitDeposit: false })],
  ])('%s is seen before its block is solid, filled on the other chain and settled', async (_how, more) => {
    const user = await fundedUser(at)
    const quote = await quoteFromTron(at, user.address, more())
    const transaction = await executeQuote(at, quote, user)
    await at.requests.reaches(quote, 'pending')
    const item = await at.requests.workFor(quote, 'fill')
    expect(item.payload).toMatchObject({ payments: [{ recipient: at.requests.user.address.toLowerCase() }] })
    await at.requests.solver.carryOut(item)
    await at.requests.reachesStage(quote, 'settled')
    expect(await at.requests.statusOf(quote)).toMatchObject({ status: 'success', inTxHashes: [transaction] })
  })
})
