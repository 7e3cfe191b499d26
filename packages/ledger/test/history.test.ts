// Goal: everybody whose money moves can read how, event by event, and the events add up to the balance;
// app fees are owed once per request, in their own currency. Method: the migrated schema, real holds.
import type { TestDatabase } from '@causeway/database'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accrueAppFees,
  type BalanceEvent,
  balanceEvents,
  type CurrencyFilter,
  createLedger,
  enqueue,
  finishOutbox,
  listAppFeeClaims,
  openAppFeeClaim,
  readClaimableAppFees,
  takeOutbox,
} from '../src/index.ts'
import { fund, holdNamed, noCaps, requestIdOf, startLedgerBed } from './support/ledgerBed.ts'

let bed: TestDatabase
const ledger = createLedger({ caps: noCaps })

beforeAll(async () => {
  bed = await startLedgerBed()
})
afterAll(() => bed?.stop())

const weth = { chainId: 10, address: '0xaa', symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 }

async function useMoney(sponsor: string): Promise<void> {
  await fund(bed.database, sponsor, 100n)
  for (const name of ['posted', 'voided', 'free']) {
    await bed.database.transaction((tx) =>
      ledger.reserve(tx, holdNamed(`${sponsor} ${name}`, { sponsor, amountMicroUsd: 30n })),
    )
  }
  const idOf = (name: string) => requestIdOf(`${sponsor} ${name}`)
  await ledger.post(bed.database, { requestId: idOf('posted'), amountMicroUsd: 20n, evidence: {} })
  await ledger.void(bed.database, { requestId: idOf('voided'), reason: 'test' })
  await ledger.post(bed.database, { requestId: idOf('free'), amountMicroUsd: 0n, evidence: {} })
}

describe('the money history of a sponsor', () => {
  test('tells every change with the balance after it, newest first', async () => {
    await useMoney('told')
    const { events, cursor } = await balanceEvents(bed.database, { wallet: 'told', limit: 50 })
    expect(cursor).toBeUndefined()
    expect(events.map(({ context, delta, balanceAfter }) => [context, delta, balanceAfter])).toEqual([
      ['unset-pending-amount', 30n, 80n],
      ['unset-pending-amount', 30n, 50n],
      ['pay-fees', -20n, 20n],
      ['unset-pending-amount', 30n, 40n],
      ['set-pending-amount', -30n, 10n],
      ['set-pending-amount', -30n, 40n],
      ['set-pending-amount', -30n, 70n],
      ['balance-topup', 100n, 100n],
    ])
    expect(events[0]).toMatchObject({ asset: undefined, requestId: requestIdOf('told free') })
    expect(events[0]?.createdAt).toBeInstanceOf(Date)
  })

  test('is the same page by page, whatever the page size, and by filter', async () => {
    await useMoney('paged')
    const { events: all } = await balanceEvents(bed.database, { wallet: 'paged', limit: 50 })
    for (const limit of [1, 3, 8]) {
      const pages = []
      let cursor: bigint | undefined
      do {
        const page = await balanceEvents(bed.database, {
          wallet: 'paged',
          limit,
          ...(cursor !== undefined && { cursor }),
        })
        pages.push(...page.events)
        cursor = page.cursor
      } while (cursor !== undefined)
      expect(pages).toEqual(all)
    }
    const paid = await balanceEvents(bed.database, { wallet: 'paged', limit: 50, context: 'pay-fees' })
    expect(paid.events).toEqual(all.filter(({ context }) => context === 'pay-fees'))
    const requestId = requestIdOf('paged posted')
    const one = await balanceEvents(bed.database, { wallet: 'paged', limit: 50, requestId })
    expect(one.events).toEqual(all.filter((event) => event.requestId === requestId))
    expect(one.events).toHaveLength(3)
  })

  test('is filtered by chain and currency, sponsor money on request', async () => {
    await useMoney('by currency')
    const own = { wallet: 'by currency', limit: 50 }
    const asset = { ...weth, address: '0xabcdef' }
    await accrueAppFees(bed.database, {
      requestId: requestIdOf('by currency fee'),
      asset,
      fees: [{ recipient: 'by currency', amount: 9n }],
    })
    const filtered = async (currency: CurrencyFilter) =>
      (await balanceEvents(bed.database, { ...own, currency })).events
    const { events: all } = await balanceEvents(bed.database, own)
    const isFee = (event: BalanceEvent) => event.context === 'app-fee'
    const { chainId } = asset
    expect(await filtered({ withSponsorMoney: true })).toEqual(all)
    expect(await filtered({ chainId, withSponsorMoney: false })).toEqual(all.filter(isFee))
    expect(await filtered({ address: '0xABCdef', withSponsorMoney: false })).toEqual(all.filter(isFee))
    expect(await filtered({ address: '0xab', withSponsorMoney: true })).toEqual(
      all.filter((event) => !isFee(event)),
    )
    expect(await filtered({ chainId: chainId + 1, withSponsorMoney: false })).toEqual([])
  })

  test('of an unknown wallet is empty', async () => {
    expect(await balanceEvents(bed.database, { wallet: 'unknown', limit: 5 })).toEqual({
      events: [],
      cursor: undefined,
    })
  })
})

describe('app fees', () => {
  const request = (name: string, amounts: readonly [string, bigint][]) => ({
    requestId: requestIdOf(name),
    asset: weth,
    fees: amounts.map(([recipient, amount]) => ({ recipient, amount })),
  })

  test('are owed once per request, added up per recipient, in the fee currency', async () => {
    const accrual = request('fees', [
      ['app one', 7n],
      ['app two', 0n],
      ['app one', 10n ** 18n],
    ])
    await accrueAppFees(bed.database, accrual)
    await accrueAppFees(bed.database, accrual)
    expect(await readClaimableAppFees(bed.database, 'app one')).toEqual([
      { asset: weth, amount: 10n ** 18n + 7n },
    ])
    expect(await readClaimableAppFees(bed.database, 'app two')).toEqual([])
    const { events } = await balanceEvents(bed.database, { wallet: 'app one', limit: 5 })
    expect(events).toMatchObject([{ asset: weth, delta: 10n ** 18n + 7n, context: 'app-fee' }])
  })

  test('of one request with other amounts are a conflict', async () => {
    await accrueAppFees(bed.database, request('differ', [['app three', 7n]]))
    const changed = accrueAppFees(bed.database, request('differ', [['app three', 8n]]))
    await expect(changed).rejects.toMatchObject({ code: 'APP_FEES_DIFFER' })
    expect(await readClaimableAppFees(bed.database, 'app three')).toEqual([{ asset: weth, amount: 7n }])
  })

  test('claims are listed newest first, page by page', async () => {
    await accrueAppFees(bed.database, request('claims', [['claimant', 6n]]))
    for (const amount of [1n, 2n, 3n]) {
      const claimId = requestIdOf(`claim ${amount}`)
      const claim = { claimId, wallet: 'claimant', recipient: 'payee', asset: weth, amount }
      await bed.database.transaction((tx) => openAppFeeClaim(tx, claim))
    }
    const first = await listAppFeeClaims(bed.database, { wallet: 'claimant', limit: 2 })
    expect(first.claims).toMatchObject([
      { amount: 3n, asset: weth, recipient: 'payee', status: 'pending', transactionHash: undefined },
      { amount: 2n },
    ])
    const { cursor = 0n } = first
    const second = await listAppFeeClaims(bed.database, { wallet: 'claimant', limit: 2, cursor })
    expect(second).toMatchObject({ claims: [{ amount: 1n }], cursor: undefined })
  })
})

describe('the outbox', () => {
  test('keeps what was committed until it is done, and gives it to one taker at a time', async () => {
    await enqueue(bed.database, 'topic', { n: 1 })
    await enqueue(bed.database, 'topic', { n: 2 })
    await enqueue(bed.database, 'other', { n: 3 })
    const rolledBack = bed.database.transaction(async (tx) => {
      await enqueue(tx, 'topic', { n: 4 })
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    await bed.database.transaction(async (tx) => {
      const taken = await takeOutbox(tx, 'topic', 1)
      expect(taken.map(({ payload }) => payload)).toEqual([{ n: 1 }])
      const beside = await bed.database.transaction((other) => takeOutbox(other, 'topic', 5))
      expect(beside.map(({ payload }) => payload)).toEqual([{ n: 2 }])
      await finishOutbox(
        tx,
        taken.map(({ id }) => id),
      )
    })
    const left = await bed.database.transaction((tx) => takeOutbox(tx, 'topic', 5))
    expect(left.map(({ payload }) => payload)).toEqual([{ n: 2 }])
  })
})
