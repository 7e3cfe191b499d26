// CurrencyAmount, the balance record and the error body.
import { expect, test } from 'vitest'
import { nativeAddress } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  bodyOf,
  newKey,
  newUser,
  price,
  recordOf,
  refusalOf,
  type Sponsor,
  type Wish,
} from '../support/quoteRequests.ts'
import { amountsOf, formatted } from '../support/quoteShapes.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'

/** The worth of one whole unit on the local network. */
const usdOf: Readonly<Record<string, number>> = { USDC: 1, USDX: 1, ETH: 2_500, TIDE: 4 }

/** One of every kind: a bridge, a swap for the native currency, pools on both chains, an exact output, an app fee. */
const wishes: readonly Wish[] = [
  {},
  { receive: 'native', more: { slippageTolerance: '50' } },
  { pay: 'USDX', receive: 'TIDE', more: { slippageTolerance: '50' } },
  { pay: 'TIDE', receive: 'USDX', amount: 50_000_000n, more: { tradeType: 'EXACT_OUTPUT' } },
  { pay: 'native', amount: 10n ** 18n, more: { appFees: [{ recipient: newUser(), fee: '100' }] } },
]

export function describeCurrencyAmount(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  const answers = () => Promise.all(wishes.map((wish) => price(at(), wish)))
  const amounts = async () => (await answers()).flatMap((answer) => amountsOf(answer))

  test('Q-amount-01: every amount of an answer has its five members, and no other', async () => {
    // The shapes are strict: a member more, less or of another type is an error.
    expect(await amounts()).toHaveLength(8 * wishes.length)
  })

  test('Q-amount-02: amount and minimumAmount are integers of the smallest unit', async () => {
    const [bridge, swap] = await answers()
    expect(bridge?.details.currencyIn).toMatchObject({ amount: '100000000', minimumAmount: '100000000' })
    const { amount = '0', minimumAmount } = swap?.details.currencyOut ?? {}
    expect(minimumAmount).toBe(((BigInt(amount) * 9_950n) / 10_000n).toString())
  })

  test('Q-amount-03: amountFormatted is the amount as a decimal', async () => {
    for (const [place, { amount, amountFormatted, currency }] of await amounts())
      expect([place, amountFormatted]).toEqual([place, formatted(amount, currency.decimals)])
    const { details } = await price(at())
    expect(details.currencyIn.amountFormatted).toBe('100.0')
  })

  test('Q-amount-04: amountUsd is the value in USD', async () => {
    for (const [place, { amount, amountUsd, currency }] of await amounts()) {
      const usd = (Number(amount) / 10 ** currency.decimals) * (usdOf[currency.symbol] ?? Number.NaN)
      expect(Math.abs(Number(amountUsd) - usd), place).toBeLessThanOrEqual(usd * 1e-6 + 1e-6)
    }
    const { details } = await price(at(), { pay: 'native', amount: 10n ** 18n })
    expect(details.currencyIn.amountUsd).toBe('2500.000000')
  })

  test('Q-amount-05: a currency has chain id, address, symbol, name and decimals', async () => {
    const { details } = await price(at(), { receive: 'native' })
    const { metadata: _token, ...currencyIn } = details.currencyIn.currency
    expect(currencyIn).toEqual({
      chainId: 8_453,
      address: at().network.deployment.base.tokens.USDC.toLowerCase(),
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
    })
    const { metadata: _native, ...currencyOut } = details.currencyOut.currency
    const ether = { address: nativeAddress, symbol: 'ETH', name: 'Ether', decimals: 18 }
    expect(currencyOut).toEqual({ chainId: 10, ...ether })
  })

  test('Q-amount-06: metadata has logoURI, verified and isNative, and may be missing from a balance', async () => {
    for (const [place, { currency }] of await amounts())
      expect([place, currency.metadata]).toEqual([
        place,
        { logoURI: expect.any(String), verified: true, isNative: currency.address === nativeAddress },
      ])
    const { currency } = await recordOf(at(), sponsor().wallet.address)
    expect([undefined, { logoURI: '', verified: true, isNative: false }]).toContainEqual(currency.metadata)
  })
}

export function describeBalanceRecord(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  test('Q-record-01: the record has a currency, amount, amountFormatted, amountUsd and minimumAmount', async () => {
    const { currency, amount, amountFormatted, amountUsd, minimumAmount } = await recordOf(
      at(),
      sponsor().wallet.address,
    )
    const address = at().network.deployment.base.tokens.USDC.toLowerCase()
    expect(currency).toMatchObject({ chainId: 8_453, address, symbol: 'USDC', name: 'USD Coin', decimals: 6 })
    expect([minimumAmount, amountFormatted]).toEqual([amount, formatted(amount, 6)])
    expect(Number(amountUsd)).toBe(Number(amount) / 1e6)
  })
}

export function describeErrorBody(at: () => QuoteWorld): void {
  const refused = async () => {
    const body = bodyOf(at())
    return {
      400: await refusalOf(at(), '/price', { ...body, amount: '1.5' }),
      401: await refusalOf(at(), '/price', body, { 'x-api-key': 'nobody has it' }),
      500: await failureOf(at()),
    }
  }

  test('Q-error-body-01: message is on 400, 401 and 500, and on 400 it names field and rule', async () => {
    const { 400: bad, 401: unknown, 500: failed } = await refused()
    expect(bad.message).toMatch(/\bamount\b.*[^.]{5}\.$/)
    expect(unknown.message).toMatch(/key/i)
    // Nothing is told of what went wrong inside.
    expect(failed.message).toBe('Internal error.')
  })

  test('Q-error-body-02: errorCode is on 400, 401 and 500', async () => {
    const codes = Object.entries(await refused()).map(([status, { errorCode }]) => [status, errorCode])
    expect(Object.fromEntries(codes)).toEqual({
      400: 'INVALID_REQUEST',
      401: 'UNAUTHORIZED',
      500: 'UNKNOWN_ERROR',
    })
  })

  test('Q-error-body-03: errorData is text, and is on 400 alone', async () => {
    const { 400: bad, 401: unknown, 500: failed } = await refused()
    expect(bad.errorData).toEqual(expect.any(String))
    expect(JSON.parse(bad.errorData ?? '')).toMatchObject({ field: 'amount' })
    expect([unknown, failed].filter((body) => 'errorData' in body)).toEqual([])
  })
}

/** The answer to a request while a part of the service throws what nobody foresaw: here, the table of its keys. */
export async function failureOf(world: QuoteWorld, path = '/price') {
  const { headers } = await newKey(world)
  await world.database.query('alter table api_key rename to lost')
  try {
    return await refusalOf(world, path, bodyOf(world), headers)
  } finally {
    await world.database.query('alter table lost rename to api_key')
  }
}
