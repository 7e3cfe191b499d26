// POST /quote: the parameters of sponsorship and what they do.
import { describe, expect, test } from 'vitest'
import { nativeAddress } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { operationOf, readDescription } from '../support/interfaceDescription.ts'
import {
  bodyOf,
  newUser,
  ofNewUser,
  quote,
  refusalOf,
  type Sponsor,
  type Wish,
} from '../support/quoteRequests.ts'
import { quoteFields } from '../support/quoteTables.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'
import { describeFields } from './fieldTests.ts'

export function describeQuoteEndpoint(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  describeFields(at, '/quote', quoteFields)

  const sponsored = (more: object, wish: Wish = {}) =>
    quote(at(), ofNewUser({ ...wish, more: { subsidizeFees: true, ...more } }), sponsor().headers)

  describe('what the fields do', () => {
    test('Q-quote-req-03: the all-zero address is the native currency', async () => {
      const { details, steps } = await quote(at(), { pay: 'native', amount: 10n ** 18n })
      const { currency } = details.currencyIn
      expect(currency).toMatchObject({ address: nativeAddress, symbol: 'ETH', metadata: { isNative: true } })
      expect(steps.at(-1)?.items).toMatchObject([{ data: { value: '1000000000000000000' } }])
    })

    test('Q-quote-req-09: subsidizeFees: the sponsor pays all fees, a gas top-up included', async () => {
      const { fees, details, feeSponsorship } = await sponsored({ topupGas: true })
      expect([fees.subsidized, feeSponsorship?.status]).toEqual([fees.relayer, 'full'])
      expect(details.currencyOut.amount).toBe('100000000')
    })

    test('Q-quote-req-10: maxSubsidizationAmount caps the subsidy, in millionths of a USDC', async () => {
      const { fees, details } = await sponsored({ maxSubsidizationAmount: '10000' })
      expect(fees.subsidized).toMatchObject({ amount: '10000', amountUsd: '0.010000' })
      const paid = 100_000_000n - BigInt(details.currencyOut.amount)
      expect(paid).toBe(BigInt(fees.relayer.amount) - 10_000n)
    })

    test('Q-quote-req-13: "gas" buys exactly fees.relayerGas, "relayer" exactly fees.relayer', async () => {
      const much: Wish = { amount: 200_000_000_000n }
      const [gas, relayer, both] = [
        await sponsored({ sponsoredFeeComponents: ['gas'] }, much),
        await sponsored({ sponsoredFeeComponents: ['relayer'] }, much),
        await sponsored({ sponsoredFeeComponents: ['gas', 'relayer'] }, much),
      ]
      expect(relayer.fees.subsidized.amount).toBe(relayer.fees.relayer.amount)
      expect(both.fees.subsidized.amount).toBe(both.fees.relayer.amount)
      expect(gas.fees.subsidized.amount).toBe(gas.fees.relayerGas.amount)
    })

    test.each([['gas'], ['relayer'], ['app']])(
      'Q-quote-req-13: with the component %s app fees are still collected',
      async (component) => {
        const appFees = [{ recipient: newUser(), fee: '100' }]
        const { fees, details } = await sponsored({ appFees, sponsoredFeeComponents: [component] })
        expect(fees.app.amount).toBe('1000000')
        const charged = BigInt(fees.app.amount) + BigInt(fees.relayer.amount) - BigInt(fees.subsidized.amount)
        expect(BigInt(details.currencyOut.amount)).toBe(100_000_000n - charged)
        if (component === 'app') expect(fees.subsidized.amount).toBe('0')
      },
    )
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ['none', {}],
    ['one that nobody has', { 'x-api-key': 'nobody has it' }],
  ])('Q-quote-req-14: a sponsored request needs a key; with %s it is 401', async (_which, headers) => {
    const body = bodyOf(at(), ofNewUser({ more: { subsidizeFees: true } }))
    const refusal = await refusalOf(at(), '/quote', body, headers)
    expect(refusal).toMatchObject({ status: 401, errorCode: 'UNAUTHORIZED' })
    expect(refusal).not.toHaveProperty('errorData')
  })

  test('Q-quote-req-14: a request that nobody sponsors needs none', async () => {
    expect((await quote(at(), ofNewUser())).fees.subsidized.amount).toBe('0')
  })

  test('Q-quote-req-14: the description asks for the header x-api-key where somebody sponsors', async () => {
    const description = await readDescription(at().urls.publicUrl)
    const { security = description.security } = operationOf(description, 'POST', '/quote')
    const named = (security ?? [])
      .flatMap(Object.keys)
      .map((name) => description.components.securitySchemes[name])
    expect(named).toContainEqual(expect.objectContaining({ type: 'apiKey', in: 'header', name: 'x-api-key' }))
    // Whoever has no key is quoted too.
    expect(security).toContainEqual({})
  })

  test('Q-quote-res-01: fees.subsidized has amount and amountUsd', async () => {
    const { subsidized } = (await sponsored({})).fees
    expect(Number(subsidized.amount)).toBeGreaterThan(0)
    expect(Number(subsidized.amountUsd)).toBeCloseTo(Number(subsidized.amount) / 1e6, 6)
  })
}
