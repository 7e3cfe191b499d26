// Goal: every quoted family reaches every other one through the same two routes: priced by all trade types with sums that
// fit, deposited by the family's own wallet, filled, settled, and received as it was quoted. Who gains by breaking it: a user
// whose pair nobody tried, quoted by one family's rules and paid by another's. Method: the service with its jobs and
// PostgreSQL over anvil, a Solana cluster of one, a constructed Bitcoin chain, and stand-ins of Tron, Lighter and Hyperliquid;
// oracles are stand-ins, and a solver works by hand.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../apps/quote-api/src/http/wire/quoteResponse.ts'
import {
  post,
  postPatiently,
  price,
  readError,
  readOk,
} from '../apps/quote-api/test/serviceSupport/callService.ts'
import { families, requestOf, type Sides, sidesOf } from './support/familySides.ts'
import {
  type FamilyChains,
  type SixFamilies,
  startFamilyChains,
  startSixFamilies,
} from './support/sixFamilies.ts'

let chains: FamilyChains
let at: SixFamilies
let sides: Sides

beforeAll(async () => {
  chains = await startFamilyChains()
  at = await startSixFamilies(chains)
  sides = sidesOf(at)
}, 240_000)
afterAll(async () => {
  await at?.stop()
  await chains?.stop()
})

const tradeTypes = ['EXACT_INPUT', 'EXACT_OUTPUT', 'EXPECTED_OUTPUT'] as const
const pairs = families.flatMap((from) => families.map((to) => [from, to] as const))

describe.each(pairs)('from %s to %s', (from, to) => {
  test('is priced by every trade type, with sums that fit', async () => {
    for (const tradeType of tradeTypes) {
      const { body } = await requestOf(sides, [from, to], tradeType)
      const { details, fees } = await price(at.url, body)
      const side = tradeType === 'EXACT_INPUT' ? details.currencyIn : details.currencyOut
      expect([tradeType, side.amount]).toEqual([tradeType, body.amount])
      const [gas, service, all] = [fees.relayerGas, fees.relayerService, fees.relayer].map(({ amount }) =>
        BigInt(String(amount)),
      )
      expect((gas ?? 0n) + (service ?? 0n)).toBe(all)
      // Transfers on Hyperliquid are free; everywhere else the user pays for his own.
      expect(BigInt(String(fees.gas.amount)) > 0n).toBe(from !== 'Hyperliquid')
    }
  })

  test.each(tradeTypes)(
    'is deposited, filled, settled, and received as it was quoted: %s',
    async (tradeType) => {
      const { body, deposit, held } = await requestOf(sides, [from, to], tradeType)
      const quote = readOk(await postPatiently(`${at.url}/quote`, body), quoteResponseSchema)
      const { currencyIn, currencyOut } = quote.details
      const exact = tradeType === 'EXACT_INPUT' ? currencyIn : currencyOut
      expect(exact.amount).toBe(body.amount)
      await deposit(quote)
      const item = await at.requests.workFor(quote, 'fill')
      expect(item.payload).toMatchObject({ payments: [{ amount: currencyOut.amount }] })
      await sides[to].pay(item)
      await at.requests.reaches(quote, 'success')
      expect(await held()).toBe(BigInt(currencyOut.amount ?? 0))
    },
  )
})

test('what users would send alone within a family is priced, and nobody follows it', async () => {
  for (const family of ['Solana', 'Bitcoin', 'Tron', 'Lighter', 'Hyperliquid'] as const) {
    const { body } = await requestOf(sides, [family, family])
    const alone = { ...body, destinationCurrency: body.originCurrency, forceSolverExecution: false }
    const { details } = await price(at.url, alone)
    expect(details.currencyIn.amount).toBe(body.amount)
    const refused = await post(`${at.url}/quote`, alone)
    expect([family, readError(refused).errorCode]).toEqual([family, 'UNSUPPORTED_ROUTE'])
  }
})
