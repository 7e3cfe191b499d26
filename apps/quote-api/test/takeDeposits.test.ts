// Goal: what a deposit of a denied account gets does not depend on the moment at which it is decided. Method: one pass over
// a real database, in which the price of a refund falls between the look without locks and the one under them.
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { toStoredOrder } from '../src/requests/orders/storedOrder.ts'
import { takeDeposits } from '../src/requests/settlement/binding/takeDeposits.ts'
import type { SettlementChain } from '../src/requests/settlement/chain/settlementChain.ts'
import { recordDeposit } from '../src/requests/settlement/deposits/depositStore.ts'
import type { SettlementContext } from '../src/requests/settlement/settlementContext.ts'
import { testApp } from './fixtures/app.ts'
import { chainA, chainB, recipient, testRegistry, usdc, usdx, user } from './fixtures/market.ts'
import { hexOf, orderMigrations } from './orderSupport/orders.ts'

let bed: TestDatabase
beforeAll(async () => {
  bed = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
})
afterAll(() => bed?.stop())

/** Stores a quote of 100 USDC, with its order signed. @returns the order's id */
async function quoted() {
  const app = await testApp()
  await app.inject({
    method: 'POST',
    url: '/quote',
    payload: {
      user,
      recipient,
      originChainId: chainA,
      originCurrency: usdc,
      destinationChainId: chainB,
      destinationCurrency: usdc,
      amount: '100000000',
      tradeType: 'EXACT_INPUT',
    },
  })
  const [record] = app.stored
  await app.close()
  if (record?.quote.ordered === undefined) throw new Error('nothing was quoted')
  await createOrderStore({ database: bed.database }).save({
    ...toStoredOrder(record),
    orderSignature: hexOf('signature', 65),
  })
  return record.quote.ordered.orderId
}

test('O-179: a denied account gets no refund whose price falls while its deposit is decided', async () => {
  const { database } = bed
  const orderId = await quoted()
  const amount = 1_000n
  const deposit = {
    chainId: chainA,
    txHash: '0x0d',
    onchainIndex: '0',
    blockNumber: 10n,
    blockHash: '0xb10c',
    blockTimeSeconds: 1_000n,
    minedAfterSeconds: undefined,
    orderId,
    depositor: user,
    currency: usdx,
    amount,
  }
  await database.transaction((tx) => recordDeposit(tx, deposit))
  const chain = {
    chain: testRegistry().chainById.get(chainA),
    senders: async () => [],
    finalSeconds: async () => 2_000,
    // CAST: nothing else of the chain is read.
  } as unknown as SettlementChain
  const costs = [amount]
  const context = {
    database,
    chains: new Map([[chainA, chain]]),
    otherRefund: () => ({ state: 'priced', cost: costs.shift() ?? 0n }),
    screening: { deniedIn: () => 'depositor' },
    signatures: { of: async () => undefined },
    now: Date.now,
    observe: () => undefined,
    announce: async () => undefined,
    // CAST: nothing else is needed for a deposit in another currency.
  } as unknown as SettlementContext
  const canonical = new Map([[deposit.blockNumber, deposit.blockHash]])
  const run = { fence: async () => undefined, signal: new AbortController().signal }
  const pass = async () => {
    await takeDeposits(context, chain, { head: 100n, canonical, run })
    return database.query('select state from deposit_seen')
  }
  expect(await pass()).toEqual([{ state: 'seen' }])
  expect(await pass()).toEqual([{ state: 'held' }])
})
