import { formatAmount } from '@causeway/core'
import fc from 'fast-check'
import { parseUnits } from 'viem'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import type { MoneyHistory } from '../../requests/history/moneyHistory.ts'
import { balancesToWire } from '../wire/balances.ts'

const currency = {
  chainId: 8_453,
  address: `0x${'dc'.repeat(20)}`,
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
}
const checksummed = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

/** Balance of the wallet with the checksum. */
const balanceOf = (availableMicroUsd: bigint) => ({
  balances: {
    sponsorCurrency: currency,
    topUpAddress: undefined,
    readBalance: async (sponsor: string) => ({
      sponsor,
      availableMicroUsd: sponsor === checksummed.toLowerCase() ? availableMicroUsd : 0n,
      heldMicroUsd: 2n,
      pendingMicroUsd: 4n,
    }),
  },
})

const owing = (owed: Awaited<ReturnType<MoneyHistory['claimable']>>): MoneyHistory => ({
  events: async () => ({ events: [], cursor: undefined }),
  spendable: async () => 0n,
  claimable: async () => owed,
  statement: async () => ({ isClosed: false, accounts: [] }),
  claims: async () => ({ claims: [], cursor: undefined }),
})

async function read(wallet: string) {
  const app = await testApp()
  return app.inject({ method: 'GET', url: `/app-fees/${wallet}/balances` })
}

describe('GET /app-fees/{wallet}/balances', () => {
  test('of a wallet that nobody knows is a record of zero', async () => {
    const answer = await read(`0x${'12'.repeat(20)}`)
    const zero = { amount: '0', amountFormatted: '0.0', amountUsd: '0.000000', minimumAmount: '0' }
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ currency, ...zero, balances: [{ currency, ...zero }] })
  })

  test.each([
    ['lower case', checksummed.toLowerCase()],
    ['upper case', `0x${checksummed.slice(2).toUpperCase()}`],
    ['its checksum', checksummed],
  ])('reads a wallet in %s', async (_what, wallet) => {
    const app = await testApp(balanceOf(1n))
    const answer = await app.inject({ method: 'GET', url: `/app-fees/${wallet}/balances` })
    expect(answer.json()).toMatchObject({
      amount: '1',
      pending: { amount: '4' },
      held: { amount: '2' },
      totalBalanceUsd: 0.000003,
      availableBalanceUsd: 0.000001,
    })
  })

  test('Q-5: lists the app fees that can be claimed behind the record, which they do not change', async () => {
    const asset = { chainId: 99, address: '0xaa', symbol: 'OLD', name: 'Delisted', decimals: 2 }
    const app = await testApp({ moneyHistory: owing([{ asset, amount: 150n }]) })
    const answer = await app.inject({ method: 'GET', url: `/app-fees/0x${'12'.repeat(20)}/balances` })
    const owed = { currency: asset, amount: '150', amountFormatted: '1.5', minimumAmount: '150' }
    const { amount, totalBalanceUsd, balances } = answer.json()
    expect([amount, totalBalanceUsd]).toEqual(['0', 0])
    expect(balances).toMatchObject([{ amount: '0' }, owed])
  })

  test('Q-5: names the kind of each entry, where sponsorship balance and app fees are both in USDC', async () => {
    const app = await testApp({ ...balanceOf(7n), moneyHistory: owing([{ asset: currency, amount: 7n }]) })
    const answer = await app.inject({ method: 'GET', url: `/app-fees/${checksummed}/balances` })
    const { balances, ...record } = answer.json()
    const same = { currency, amount: '7', amountFormatted: '0.000007', minimumAmount: '7' }
    expect(balances).toEqual([
      { ...same, kind: 'sponsorship', amountUsd: '0.000007' },
      { ...same, kind: 'app_fees' },
    ])
    // The record is that of the interface document: no member of it changes.
    expect(record).toMatchObject({ ...same, amountUsd: '0.000007' })
    expect(record).not.toHaveProperty('kind')
  })

  test.each([
    ['a wrong checksum', checksummed.replace('aA', 'AA'), 'INVALID_ADDRESS'],
    ['too few digits', '0x1234', 'INVALID_REQUEST'],
    ['no hex', `0x${'zz'.repeat(20)}`, 'INVALID_REQUEST'],
    ['another family', 'So11111111111111111111111111111111111111112', 'INVALID_REQUEST'],
  ])('refuses %s', async (_what, wallet, errorCode) => {
    const answer = await read(wallet)
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toMatchObject({ errorCode, statusCode: 400, errorData: expect.any(String) })
  })

  test('writes every amount so that it reads back to the same integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), (availableMicroUsd) => {
        const balance = { sponsor: 'x', availableMicroUsd, heldMicroUsd: 0n, pendingMicroUsd: 0n }
        const { amount, amountFormatted, amountUsd } = balancesToWire(balance, currency, [])
        expect(BigInt(amount)).toBe(availableMicroUsd)
        expect(parseUnits(amountFormatted, 6)).toBe(availableMicroUsd)
        expect(amountUsd).toMatch(/^\d+\.\d{6}$/)
        expect(parseUnits(amountUsd, 6)).toBe(availableMicroUsd)
        expect(amountFormatted).toBe(formatAmount(availableMicroUsd, 6))
      }),
      { endOnFailure: true },
    )
  })
})
