// Goal: whoever has code run pays for it: what a recipient, a token's list or an account of refunds takes beyond a plain
// payment is a part of `relayerGas`, or of what a refund keeps, and of what the solver may spend. Attackers: a recipient
// that burns gas at the solver's cost, and calls that are long instead of dear. Method: /price and /quote over a fixed
// market, with trials that say what a test lets them say.
import { expect, onTestFinished, test } from 'vitest'
import { type TestAppOptions, testApp } from '../../../test/fixtures/app.ts'
import {
  chainA,
  chainB,
  native,
  recipient,
  testChainMarket,
  testSnapshot,
  usdc,
  user,
} from '../../../test/fixtures/market.ts'
import type { TryPayment } from '../routes/mayBePaid.ts'

/** Gas of a plain payment in the test's market, and the price of a million units in USDC's smallest units. */
const plainUnits = 40_000n
const usdcPerMillion = 250_000n

const toCoin = { recipient, destinationCurrency: native, destinationChainId: chainB }
const body = {
  user,
  originChainId: chainA,
  originCurrency: usdc,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
  ...toCoin,
}

async function asked(change: object = {}, options: TestAppOptions = {}) {
  const app = await testApp(options)
  onTestFinished(() => app.close())
  const [price, quote] = await Promise.all(
    ['/price', '/quote/v2'].map((url) =>
      app.inject({ method: 'POST', url, payload: { ...body, ...change } }).then((one) => one.json()),
    ),
  )
  const fees = quote.fees ?? {}
  const gas = BigInt(fees.relayerGas?.amount ?? 0)
  return { price, quote, gas, solver: app.stored[0]?.quote.priced.solver }
}

const takes =
  (units: bigint, onChain: number): TryPayment =>
  async ({ chain }) =>
    chain.chainId === onChain ? { refusal: undefined, units } : { refusal: undefined }

test.each([
  ['coin to a contract', {}],
  ['a token whose list runs code', { destinationCurrency: usdc }],
])('Q-48: %s is charged what its trial took beyond a plain payment, and a tenth', async (_what, change) => {
  const plain = await asked(change)
  const dear = await asked(change, { tryPayment: takes(1_000_000n + plainUnits, chainB) })
  expect(dear.gas - plain.gas).toBe((usdcPerMillion * 11n) / 10n)
  expect((dear.solver?.gasCharged ?? 0n) - (plain.solver?.gasCharged ?? 0n)).toBe(1_100_000n * 10n ** 8n)
  expect(dear.price.fees).toEqual(dear.quote.fees)
  const { amountOut } = { amountOut: BigInt(dear.quote.details.currencyOut.amount) }
  expect(amountOut).toBeLessThan(BigInt(plain.quote.details.currencyOut.amount))
  expect(dear.price.details.currencyOut.amount).toBe(`${amountOut}`)
})

test('Q-48: what takes no more than a plain payment costs no more, and a request without names tries nothing', async () => {
  const plain = await asked()
  const cheap = await asked({}, { tryPayment: takes(plainUnits, chainB) })
  expect(cheap.gas).toBe(plain.gas)
  const tried: string[] = []
  const tryPayment: TryPayment = async ({ account }) => {
    tried.push(account)
    return { refusal: undefined, units: 9_000_000n }
  }
  const unnamed = await asked({ recipient: undefined }, { tryPayment })
  expect([unnamed.gas, tried]).toEqual([plain.gas, []])
})

test('Q-48: a refund keeps the gas that its account takes, of which a twentieth of the input is the most', async () => {
  const minimum = ({ quote }: Awaited<ReturnType<typeof asked>>) =>
    BigInt(quote.protocol.v2.orderData.inputs[0].refunds[0].minimumAmount)
  const plain = await asked()
  const dear = await asked({}, { tryPayment: takes(1_000_000n + plainUnits, chainA) })
  expect(minimum(plain) - minimum(dear)).toBe((usdcPerMillion * 11n) / 10n)
  expect(dear.gas).toBe(plain.gas)
  const { quote } = await asked({}, { tryPayment: takes(30_000_000n, chainA) })
  expect(quote).toMatchObject({ errorCode: 'AMOUNT_TOO_LOW' })
})

test('Q-49: calls are charged for their data by its size, a zero byte for a quarter', async () => {
  const market = {
    current: testSnapshot({
      chains: [testChainMarket(chainA), testChainMarket(chainB, { dataByteWei: 10n ** 11n })],
    }),
  }
  const withData = (data: string) =>
    asked({ destinationCurrency: usdc, txs: [{ to: usdc, value: '0', data }] }, { market, fillWallet: user })
  const [short, long, zeros] = await Promise.all([
    withData('0x'),
    withData(`0x${'ab'.repeat(16_000)}`),
    withData(`0x${'00'.repeat(16_000)}`),
  ])
  // 16,000 bytes at 10^11 wei are 4 USD.
  expect([long.gas - short.gas, zeros.gas - short.gas]).toEqual([4_000_000n, 1_000_000n])
})
