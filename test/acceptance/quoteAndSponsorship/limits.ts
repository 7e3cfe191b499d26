// Limits, and what sponsorship does not cover.
import { expect, test } from 'vitest'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { claimableBy, type FilledRequest, sendSteps } from '../support/filledRequest.ts'
import {
  bodyOf,
  newUser,
  price,
  quote,
  quoteOf,
  refusalOf,
  type Sponsor,
  type Wish,
} from '../support/quoteRequests.ts'
import type { QuoteWorld } from '../support/quoteWorld.ts'
import {
  fromSolana,
  fundedPayer,
  quoteSolana,
  solUsd,
  tokenRent,
  toSolana,
} from '../support/solanaRequests.ts'

export function describeLimits(
  at: () => QuoteWorld,
  sponsor: () => Sponsor,
  filled: () => FilledRequest,
): void {
  const swap = (slippageTolerance: string): Wish => ({ receive: 'native', more: { slippageTolerance } })

  test.each(['0', '1', '9999', '10000'])(
    'Q-limits-01: a slippage tolerance of %s basis points is taken for what it says',
    async (total) => {
      const { slippageTolerance, currencyOut } = (await price(at(), swap(total))).details
      expect(slippageTolerance.total).toBe(total)
      const least = (BigInt(currencyOut.amount) * (10_000n - BigInt(total))) / 10_000n
      expect(BigInt(currencyOut.minimumAmount) - least).toBeLessThanOrEqual(1n)
    },
  )

  test.each(['-1', '10001', '1.5'])('Q-limits-01: one of %s is refused', async (total) => {
    const refusal = await refusalOf(at(), '/price', bodyOf(at(), swap(total)))
    expect([refusal.status, refusal.message]).toEqual([400, expect.stringContaining('slippageTolerance')])
  })

  test('Q-limits-02: app fees are basis points: 100 are one percent', async () => {
    const appFees = [{ recipient: newUser(), fee: '100' }]
    const { fees } = await price(at(), { amount: 250_000_000n, more: { appFees } })
    expect(fees.app).toMatchObject({ amount: '2500000', amountUsd: '2.500000' })
  })

  test('Q-limits-03: maxSubsidizationAmount is USDC with 6 decimals', async () => {
    const more = { subsidizeFees: true, maxSubsidizationAmount: '12345' }
    const { subsidized } = (await quote(at(), { more }, sponsor().headers)).fees
    expect(subsidized).toMatchObject({ amount: '12345', amountUsd: '0.012345' })
  })

  test('Q-limits-04: the rent of a Solana token account is about 0.002 SOL', async () => {
    const { rent } = await quoteSolana(
      at(),
      toSolana(at(), { subsidizeFees: true, subsidizeRent: true }),
      sponsor(),
    )
    const lamports = (rent.usd / solUsd) * 1e9
    expect(lamports).toBeGreaterThanOrEqual(tokenRent)
    expect(lamports).toBeLessThan(tokenRent + 1e9 / solUsd / 1e5)
  })

  test('Q-limits-05: gas of the origin is not covered, on no chain, but by a depositFeePayer', async () => {
    const subsidizeFees = true
    const { fees } = await quote(at(), { more: { subsidizeFees } }, sponsor().headers)
    const solana = await quoteSolana(at(), fromSolana(at(), { subsidizeFees }), sponsor())
    for (const { gas, relayer, subsidized } of [fees, solana.quote.fees]) {
      expect(BigInt(gas.amount)).toBeGreaterThan(0n)
      expect(subsidized.amount).toBe(relayer.amount)
    }
    const depositFeePayer = fundedPayer(at()).publicKey.toBase58()
    const { quote: paid } = await quoteSolana(at(), fromSolana(at(), { depositFeePayer }))
    expect(paid.fees.gas.amount).toBe('0')
  })

  test('Q-limits-06: app fees accrue to their recipient, and never come from the sponsor', async () => {
    const { app, spent, quote: asked } = filled()
    expect(asked.fees.app.amount).toBe('1000000')
    expect([spent.toString(), asked.fees.subsidized]).toEqual([asked.fees.relayer.amount, asked.fees.relayer])
    const usdc = at().network.deployment.base.tokens.USDC.toLowerCase()
    expect(await claimableBy(at(), app)).toMatchObject([{ amount: '1000000', currency: { address: usdc } }])
    expect(await claimableBy(at(), newUser())).toEqual([])
  })

  test('Q-limits-07: the first approval of a permit flow costs its user gas; what follows is sponsored', async () => {
    const user = userOf(at().network, 2)
    const more = { user: user.address, subsidizeFees: true, usePermit: true }
    const ask = () => quoteOf(at(), bodyOf(at(), { pay: 'USDX', receive: 'USDC', more }), sponsor().headers)
    const kinds = ({ steps }: Awaited<ReturnType<typeof ask>>) => steps.map(({ kind }) => kind)
    const first = await ask()
    expect(kinds(first)).toEqual(['transaction', 'signature'])
    expect(BigInt(first.fees.gas.amount)).toBeGreaterThan(0n)
    expect(first.fees.subsidized).toEqual(first.fees.relayer)
    await sendSteps(at(), user, first.steps.slice(0, 1))
    let later = await ask()
    await expect
      .poll(async () => {
        later = await ask()
        return kinds(later)
      })
      .toEqual(['signature'])
    expect([later.fees.gas.amount, later.fees.subsidized]).toEqual(['0', later.fees.relayer])
  })
}
