// The two objects of a price: fees and details.

import type { Hex } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { nativeAddress, userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import {
  newUser,
  newWallet,
  ofOneMarket,
  price,
  quote,
  type Sponsor,
  settled,
  type Wish,
} from '../support/quoteRequests.ts'
import type { Amount, Price } from '../support/quoteShapes.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'

const patience = { timeout: 30_000, interval: 30 }
const units = ({ amount }: Amount) => BigInt(amount)
const appFees = [{ recipient: newUser(), fee: '100' }]

export function describeFees(at: () => QuoteWorld, sponsor: () => Sponsor): void {
  /** Both gas fees after a chain's gas costs three times as much, and what they were before. */
  async function gasAfter(dearer: 'base' | 'optimism') {
    const gasOf = ({ fees }: Price) => [units(fees.gas), units(fees.relayerGas)] as const
    const steady = async () =>
      (
        await ofOneMarket(
          () => price(at()),
          () => price(at()),
        )
      )[0]
    await settled(at())
    const before = gasOf(await steady())
    const { node, client } = at().network.chains[dearer].chain
    const { baseFeePerGas } = await client.getBlock()
    await node.setNextBlockBaseFeePerGas({ baseFeePerGas: (baseFeePerGas ?? 0n) * 3n })
    await node.mine({ blocks: 1 })
    await settled(at())
    const after = gasOf(await steady())
    return { gas: after[0], oldGas: before[0], relayerGas: after[1], oldRelayerGas: before[1] }
  }

  test('Q-fees-01: gas is the gas fee of the origin chain, in its native currency', async () => {
    expect((await price(at())).fees.gas.currency).toMatchObject({ chainId: 8_453, address: nativeAddress })
    const { gas, oldGas, relayerGas, oldRelayerGas } = await gasAfter('base')
    expect(gas).toBeGreaterThan(oldGas)
    expect(relayerGas).toBe(oldRelayerGas)
  })

  test('Q-fees-02: relayerGas is the gas fee of the destination chain', async () => {
    const { gas, oldGas, relayerGas, oldRelayerGas } = await gasAfter('optimism')
    expect(relayerGas).toBeGreaterThan(oldRelayerGas)
    expect(gas).toBe(oldGas)
  })

  test('Q-fees-03: relayerService is paid to the solver, and is below zero where liquidity is welcome', async () => {
    const back: Wish = { from: 'optimism', to: 'base', amount: 100_000_000_000n }
    const serviceFee = async () => Number((await price(at(), back)).fees.relayerService.amount)
    expect(await serviceFee()).toBeGreaterThan(0)
    const { chains, deployment, keys } = at().network
    const other = userOf(at().network, 5)
    const move = (from: typeof other, to: Hex) =>
      chains.optimism.chain.send(from, [
        { what: 'moving', to: deployment.optimism.tokens.USDC, data: encodeTransfer(to, 1_500_000_000_000n) },
      ])
    await move(keys.fillWallet, other.address)
    await expect.poll(serviceFee, patience).toBeLessThan(0)
    const { fees, details } = await price(at(), back)
    expect(fees.relayerService.amountUsd).toMatch(/^-[0-9]/)
    expect(units(details.currencyOut)).toBe(units(details.currencyIn) - units(fees.relayer))
    await move(other, keys.fillWallet.address)
    await expect.poll(serviceFee, patience).toBeGreaterThan(0)
  })

  test('Q-fees-04: relayer is the sum of relayerGas and relayerService, and the full fee of the solver', async () => {
    for (const wish of [{}, { receive: 'native' }, { pay: 'USDX', receive: 'TIDE' }] satisfies Wish[]) {
      const { fees } = await price(at(), wish)
      expect(units(fees.relayer)).toBe(units(fees.relayerGas) + units(fees.relayerService))
    }
    const { fees, details } = await price(at())
    expect(units(details.currencyIn)).toBe(units(details.currencyOut) + units(fees.relayer))
  })

  test('Q-fees-05: app is owed to the app, in the currency of the relayer fee, and not paid out at once', async () => {
    const recipient = newUser()
    const wish = { more: { appFees: [{ recipient, fee: '100' }] } }
    const { fees, details } = await quote(at(), wish)
    expect(fees.app).toMatchObject({ amount: '1000000', currency: fees.relayer.currency })
    expect(units(details.currencyOut)).toBe(100_000_000n - 1_000_000n - units(fees.relayer))
    // Its order pays the recipient and nobody else; who claims what is owed is under Limits.
    const { steps } = await quote(at(), wish)
    expect(JSON.stringify(steps)).not.toContain(recipient.slice(2).toLowerCase())
  })

  test('Q-fees-06: subsidized is what the sponsor pays: without the gas of a deposit, unless it is by permit', async () => {
    const asked = async (more: object) =>
      quote(at(), { more: { subsidizeFees: true, ...more } }, sponsor().headers)
    const [plain, permit] = await ofOneMarket(
      () => asked({}),
      () => asked({ usePermit: true }),
    )
    expect((await price(at())).fees.subsidized.amount).toBe('0')
    expect([plain.fees.subsidized, permit.fees.subsidized]).toEqual([plain.fees.relayer, permit.fees.relayer])
    expect(units(plain.fees.gas)).toBeGreaterThan(0n)
    expect(permit.fees.gas.amount).toBe('0')
    expect(units(permit.fees.relayerGas)).toBeGreaterThan(units(plain.fees.relayerGas))
  })
}

export function describeDetails(at: () => QuoteWorld): void {
  const swap: Wish = { pay: 'USDX', receive: 'TIDE', more: { slippageTolerance: '50' } }

  test.each<[string, Wish]>([
    ['send', { to: 'base', more: { recipient: newUser() } }],
    ['swap', { receive: 'native' }],
    ['wrap', { to: 'base', pay: 'native', receive: 'wrapped' }],
    ['unwrap', { to: 'base', pay: 'wrapped', receive: 'native' }],
    ['bridge', {}],
  ])('Q-details-01: operation is %s', async (operation, wish) => {
    expect((await price(at(), wish)).details.operation).toBe(operation)
  })

  test('Q-details-02: sender is the address that deposits', async () => {
    expect((await price(at())).details.sender).toBe(userOf(at().network, 0).address)
  })

  test('Q-details-03: recipient is the address that receives the output', async () => {
    const recipient = newUser()
    expect((await price(at(), { more: { recipient } })).details.recipient).toBe(recipient)
  })

  test('Q-details-04: currencyIn is the input', async () => {
    const { currencyIn } = (await price(at())).details
    expect(currencyIn).toMatchObject({ amount: '100000000', currency: { chainId: 8_453, symbol: 'USDC' } })
    const exact = await price(at(), { amount: 50_000_000n, more: { tradeType: 'EXACT_OUTPUT' } })
    expect(units(exact.details.currencyIn)).toBe(50_000_000n + units(exact.fees.relayer))
  })

  test('Q-details-05: currencyOut is the output', async () => {
    const { fees, details } = await price(at())
    expect(details.currencyOut).toMatchObject({ currency: { chainId: 10, symbol: 'USDC' } })
    expect(units(details.currencyOut)).toBe(100_000_000n - units(fees.relayer))
    const exact = await price(at(), { amount: 50_000_000n, more: { tradeType: 'EXACT_OUTPUT' } })
    expect(exact.details.currencyOut.amount).toBe('50000000')
  })

  test('Q-details-06: totalImpact is the output less the input in value, fees included', async () => {
    const { details } = await price(at(), { more: { appFees } })
    const { totalImpact, currencyIn, currencyOut } = details
    const usd = Number(currencyOut.amountUsd) - Number(currencyIn.amountUsd)
    expect(Number(totalImpact.usd)).toBeCloseTo(usd, 5)
    expect(usd).toBeLessThan(-1)
    expect(totalImpact.percent).toBe(usd.toFixed(2))
  })

  test('Q-details-07: swapImpact is that of the swap without fees', async () => {
    const bridge = await price(at(), { more: { appFees } })
    expect(bridge.details.swapImpact).toEqual({ usd: '0.000000', percent: '0.00' })
    const { swapImpact, totalImpact } = (await price(at(), swap)).details
    expect(Number(swapImpact.usd)).toBeLessThan(0)
    expect(Number(swapImpact.usd)).toBeGreaterThan(Number(totalImpact.usd))
  })

  test('Q-details-08: rate is the output for one unit of input, and varies with the fees', async () => {
    const rateOf = async (wish: Wish) => {
      const { rate, currencyIn, currencyOut } = (await price(at(), wish)).details
      const expected = Number(currencyOut.amountFormatted) / Number(currencyIn.amountFormatted)
      expect(Number(rate)).toBeCloseTo(expected, 8)
      return Number(rate)
    }
    expect(await rateOf({ more: { appFees } })).toBeLessThan(await rateOf({}))
    await rateOf({ receive: 'native' })
  })

  test('Q-details-09: slippageTolerance is one budget, spent on the origin or on the destination', async () => {
    const { slippageTolerance, currencyIn, currencyOut } = (await price(at(), swap)).details
    const { total, origin, destination } = slippageTolerance
    expect([total, origin.percent, destination.percent]).toEqual(['50', '0.50', '0.50'])
    // Each is the whole budget of its side, in its currency.
    const allowed = units(currencyOut) - BigInt(currencyOut.minimumAmount)
    expect(BigInt(destination.value) - allowed).toBeLessThanOrEqual(1n)
    expect(Number(origin.value) / Number(currencyIn.amount)).toBeCloseTo(0.005, 4)
    expect(Number(origin.usd)).toBeCloseTo(Number(destination.usd), 1)
  })

  test('Q-details-10: timeEstimate is a number of seconds', async () => {
    const { timeEstimate } = (await price(at())).details
    expect(timeEstimate).toBeGreaterThan(0)
    expect(timeEstimate).toBeLessThan(60)
  })

  test.each([
    ['a token', 'USDC', '12345678'],
    ['the native currency', 'native', '7000000000000000001'],
  ] as const)(
    'Q-details-11: userBalance is what the user has of the input currency: %s',
    async (_of, pay, has) => {
      const { address: user } = newWallet()
      const { chain } = at().network.chains.base
      const { USDC } = at().network.deployment.base.tokens
      const gift =
        pay === 'native'
          ? { to: user, valueWei: BigInt(has) }
          : { to: USDC, data: encodeTransfer(user, BigInt(has)) }
      await chain.send(userOf(at().network, 4), [{ what: 'gift', ...gift }])
      const told = async () =>
        (await price(at(), { pay, amount: pay === 'native' ? 10n ** 18n : 10_000_000n, more: { user } }))
          .details.userBalance
      await expect.poll(told, patience).toBe(has)
    },
  )
}
