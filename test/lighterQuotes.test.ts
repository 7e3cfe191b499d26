// Goal: moving dollars and ether from and to Lighter works end to end: a price, a quote whose step is a transfer that names
// its order and the fee that the exchange asks for, a deposit that is found and filled, a refund; and nothing for who has
// no account there. Who gains by breaking it: an endpoint or an explorer that invents a deposit or hides one; a user who
// is paid at an account that nobody has; a network whose fee grew dear. Method: the service with its jobs, PostgreSQL and
// stand-in oracles over anvil and a Lighter of stand-ins.
import { waitUntil } from '@causeway/localnet'
import {
  type Answer as ExchangeAnswer,
  lighterBodies,
  renderTransferInfo,
} from '@causeway/localnet/standIns/lighter'
import { zeroAddress } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  post,
  postPatiently,
  price,
  type QuoteAnswer,
  readError,
  readOk,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { currencyAddress, userOf } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { bytesOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { type FamilySettling, startFamilySettling } from './support/familySettling.ts'
import {
  depositOnLighter,
  executeLighterStep,
  fundedLighterUser,
  type LighterChain,
  lighterChainId,
  lighterDepository,
  lighterEther,
  payOnLighter,
  perpsDollars,
  startLighterChain,
  transferStep,
} from './support/lighterSettling.ts'

let at: Omit<LighterChain, 'stop'> & FamilySettling
beforeAll(async () => {
  at = await startFamilySettling(() => startLighterChain(true))
}, 180_000)
afterAll(() => at?.stop())
afterEach(() => {
  for (const node of at?.nodes ?? []) node.fault(undefined)
})

type Json = Record<string, unknown>

const fromLighter = (user: string, more: Json = {}): Json => ({
  user,
  recipient: userOf(at.network, 0).address,
  originChainId: lighterChainId,
  destinationChainId: 8453,
  originCurrency: perpsDollars,
  destinationCurrency: currencyAddress(at.network, 'base', 'USDC'),
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  ...more,
})
const quoteOf = async (user: string, more: Json = {}): Promise<QuoteAnswer> =>
  readOk(await postPatiently(`${at.url}/quote`, fromLighter(user, more)), quoteResponseSchema)

const toLighter = (recipient: string, more: Json = {}): Json => ({
  user: at.requests.user.address,
  originChainId: 8453,
  recipient,
  originCurrency: currencyAddress(at.network, 'base', 'USDC'),
  destinationChainId: lighterChainId,
  destinationCurrency: perpsDollars,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  ...more,
})

const held = (account: string, currency = perpsDollars) =>
  at.exchange.accounts.get(account)?.held.get(currency) ?? 0n

async function report(item: { readonly id: string }, transaction: string): Promise<void> {
  expect((await at.requests.solver.report(item.id, transaction)).status).toBe(200)
}

describe('a price', () => {
  test('is told before anybody is connected, with the fee of the transfer on top of the amount', async () => {
    const { details, fees } = await price(at.url, fromLighter('0x000000000000000000000000000000000000dEaD'))
    expect(details.currencyIn).toMatchObject({
      amount: '100000000',
      currency: { symbol: 'USDC', decimals: 6 },
    })
    expect(fees.gas).toMatchObject({ amount: '3000000', currency: { symbol: 'USDC' } })
    const asked = fromLighter('0x000000000000000000000000000000000000dEaD')
    const refused = await post(`${at.url}/quote`, asked)
    expect([refused.status, readError(refused).errorCode]).toEqual([400, 'INVALID_ADDRESS'])
  })

  test('Q-109: is told for what can be moved to it and from it, without a wallet', async () => {
    for (const [from, to] of [
      [lighterChainId, 8453],
      [8453, lighterChainId],
    ]) {
      const route = `originChainId=${from}&destinationChainId=${to}&currency=usdc`
      const response = await fetch(`${at.url}/config/v2?${route}`)
      expect(await response.json()).toMatchObject({ enabled: true, fee: expect.any(String) })
    }
  })

  test('of ether loses no unit between 18 decimals and 8', async () => {
    const recipient = fundedLighterUser(at).account
    const ether = {
      originCurrency: zeroAddress,
      destinationCurrency: lighterEther,
    }
    for (const tradeType of ['EXACT_INPUT', 'EXACT_OUTPUT']) {
      const amount = tradeType === 'EXACT_INPUT' ? '100000000123456789' : '5000001'
      const { details, fees } = await price(at.url, toLighter(recipient, { ...ether, amount, tradeType }))
      const side = tradeType === 'EXACT_INPUT' ? details.currencyIn : details.currencyOut
      expect(side.amount).toBe(amount)
      expect(details.currencyOut.currency.decimals).toBe(8)
      const [gas, service, all] = [fees.relayerGas, fees.relayerService, fees.relayer].map(
        ({ amount: fee }) => BigInt(String(fee)),
      )
      expect((gas ?? 0n) + (service ?? 0n)).toBe(all)
    }
  })
})

describe('a quote', () => {
  test('is one transfer to the depository that names the order, its fee beside the amount', async () => {
    const quote = await quoteOf(fundedLighterUser(at).account)
    expect(quote.steps).toMatchObject([
      { id: 'deposit', kind: 'transaction', depositAddress: '', items: [{ check: { method: 'GET' } }] },
    ])
    expect(transferStep.parse(quote.steps[0]?.items[0]?.data).action.parameters).toEqual({
      toAccountIndex: Number(lighterDepository),
      assetIndex: 3,
      fromRouteType: 0,
      toRouteType: 0,
      amount: 100_000_000,
      usdcFee: 3_000_000,
      memo: quote.protocol?.v2.orderId,
    })
  })

  test('Q-60: is refused by name to whom nothing is ever paid', async () => {
    const { account } = fundedLighterUser(at)
    for (const [field, body] of [
      ['recipient', toLighter(lighterDepository)],
      ['refundTo', fromLighter(account, { refundTo: lighterDepository })],
    ] as const) {
      const refusal = readError(await post(`${at.url}/quote`, body))
      expect(refusal.errorCode).toBe('INVALID_RECIPIENT')
      expect(refusal.message).toMatch(new RegExp(`^${field} is a depository, .*: name an account`))
    }
  })

  test('F-165: is refused by name for what this family has not', async () => {
    const { account } = fundedLighterUser(at)
    for (const [body, code] of [
      [fromLighter(account, { recipient: account }), 'INVALID_ADDRESS'],
      [fromLighter(`0x${'11'.repeat(20)}`), 'INVALID_ADDRESS'],
      [fromLighter(account, { usePermit: true }), 'UNSUPPORTED_CURRENCY'],
      [fromLighter(account, { useDepositAddress: true, refundTo: account }), 'UNSUPPORTED_EXECUTION_TYPE'],
      [fromLighter(account, { amount: '1000' }), 'AMOUNT_TOO_LOW'],
      [fromLighter(account, { refundTo: '99999999' }), 'INVALID_RECIPIENT'],
      [toLighter('99999999'), 'INVALID_RECIPIENT'],
      [
        toLighter(account, { txs: [{ to: `0x${'11'.repeat(20)}`, value: '0', data: '0x' }] }),
        'EXTRA_TXS_NOT_SUPPORTED',
      ],
    ] as const) {
      const answer = await post(`${at.url}/quote`, body)
      expect([body, answer.status, readError(answer).errorCode]).toEqual([body, 400, code])
    }
  })

  test('F-165: is refused while a transfer takes more than the operator bears, and follows the fee that endpoints tell', async () => {
    const { account } = fundedLighterUser(at)
    at.exchange.tellsFeeToAll = true
    for (const [fee, code] of [
      [4_000_000n, undefined],
      [20_000_000n, 'GAS_PRICE_TOO_HIGH'],
    ] as const) {
      at.exchange.transferFee = fee
      await waitUntil('the market hears of it', async () => {
        const answer = await post(`${at.url}/quote`, fromLighter(account))
        if (answer.status !== 200) return code !== undefined && readError(answer).errorCode === code
        const { fees } = readOk(answer, quoteResponseSchema)
        return code === undefined && fees.gas.amount === fee.toString()
      })
    }
    at.exchange.transferFee = 3_000_000n
    at.exchange.tellsFeeToAll = false
    await waitUntil('the market hears of it', async () => {
      const answer = await post(`${at.url}/quote`, fromLighter(account))
      return answer.status === 200 && readOk(answer, quoteResponseSchema).fees.gas.amount === '3000000'
    })
  })
})

describe('a deposit', () => {
  test('of dollars is found, filled on Base, and settled', async () => {
    const user = fundedLighterUser(at)
    const before = held(user.account)
    const quote = await quoteOf(user.account)
    await depositOnLighter(at, quote, user)
    expect(before - held(user.account)).toBe(103_000_000n)
    await at.requests.solver.carryOut(await at.requests.workFor(quote, 'fill'))
    await at.requests.reaches(quote, 'success')
    await at.requests.reachesStage(quote, 'settled')
  })

  test('F-163: that an explorer or one endpoint makes up is none', async () => {
    const user = fundedLighterUser(at)
    const quote = await quoteOf(user.account)
    const { parameters } = transferStep.parse(quote.steps[0]?.items[0]?.data).action
    const invented = 'ee'.repeat(40)
    const info = renderTransferInfo({
      FromAccountIndex: BigInt(user.account),
      ApiKeyIndex: 4n,
      AssetIndex: 3n,
      USDCFee: 3_000_000n,
      ToAccountIndex: BigInt(lighterDepository),
      FromRouteType: 0n,
      ToRouteType: 0n,
      Nonce: 1n,
      Amount: BigInt(parameters.amount),
      ExpiredAt: BigInt(Date.now()),
      Memo: [...Buffer.from(parameters.memo.slice(2), 'hex')],
    })
    const made = { hash: invented, type: 12, status: 3, queuedAtMs: BigInt(Date.now()), info }
    const asTransaction = lighterBodies.transaction.body(made)
    const log = { hash: invented, status: 'executed', from: user.account, to: lighterDepository }
    const asLogs = lighterBodies.logs.body([log])
    // The explorer stands behind the second endpoint; the first one plays along.
    at.nodes[1]?.fault(
      (path, truth): ExchangeAnswer =>
        path.startsWith('/explorer')
          ? {
              status: 200,
              text: asLogs.replace(/]$/, `${truth.text === '[]' ? '' : ','}${truth.text.slice(1)}`),
            }
          : truth,
    )
    at.nodes[0]?.fault(
      (path, truth): ExchangeAnswer =>
        path.includes(invented) ? { status: 200, text: asTransaction } : truth,
    )
    // Honest answers are found beside the false one.
    const honest = fundedLighterUser(at)
    const other = await quoteOf(honest.account)
    await depositOnLighter(at, other, honest)
    await at.requests.workFor(other, 'fill')
    expect((await at.requests.statusOf(quote)).status).toBe('waiting')
  })

  test('of another asset is given back to its account, in that asset', async () => {
    const user = fundedLighterUser(at)
    const quote = await quoteOf(user.account, { refundTo: user.account })
    const { parameters } = transferStep.parse(quote.steps[0]?.items[0]?.data).action
    const inEther = { ...parameters, assetIndex: 1, fromRouteType: 1, toRouteType: 1, amount: 50_000_000 }
    await executeLighterStep(at, { action: { type: 'transfer', parameters: inEther } }, user)
    const before = held(user.account, lighterEther)
    const item = await at.requests.workFor(quote, 'refund')
    await report(item, await payOnLighter(at, item))
    // Until its quote expires, another deposit may still come.
    await at.database.query(
      `update orders set expires_at = now() - interval '1 minute' where request_id = $1`,
      [bytesOf(quote.requestId)],
    )
    await at.requests.reaches(quote, 'refund')
    expect(held(user.account, lighterEther)).toBeGreaterThan(before + 40_000_000n)
  })
})

describe('a fill', () => {
  test.each([
    ['of dollars', perpsDollars],
    ['of ether', lighterEther],
  ])('%s reaches its account, and settles', async (_what, destinationCurrency) => {
    const { account } = fundedLighterUser(at)
    const before = held(account, destinationCurrency)
    const asked = toLighter(account, { destinationCurrency })
    const quote = readOk(await postPatiently(`${at.url}/quote`, asked), quoteResponseSchema)
    await at.requests.execute(quote)
    const item = await at.requests.workFor(quote, 'fill')
    await report(item, await payOnLighter(at, item))
    await at.requests.reaches(quote, 'success')
    expect(held(account, destinationCurrency) - before).toBe(BigInt(quote.details.currencyOut.amount ?? 0))
    await at.requests.reachesStage(quote, 'settled')
  })

  test('that names another order, or pays too little, is none', async () => {
    const { account } = fundedLighterUser(at)
    for (const change of [{ orderId: `0x${'ab'.repeat(32)}` as const }, { amount: 1_000_000n }]) {
      const quote = readOk(await postPatiently(`${at.url}/quote`, toLighter(account)), quoteResponseSchema)
      await at.requests.execute(quote)
      const item = await at.requests.workFor(quote, 'fill')
      await report(item, await payOnLighter(at, item, change))
      await new Promise((resolve) => setTimeout(resolve, 3_000))
      expect((await at.requests.statusOf(quote)).status).not.toBe('success')
    }
  })
})
