// What chains and books must hold of requests whose services were killed and held up meanwhile.
import type { Database } from '@causeway/database'
import { waitUntil } from '@causeway/localnet'
import { expect } from 'vitest'
import { watchFills } from '../../apps/solver/test/support/solverBench.ts'
import { debitOf, type Life } from './requestLives.ts'
import type { SessionBed } from './sessionBed.ts'

const longWaitMs = 300_000

/** Settled or refunded to the last step, and debited once for a success and never for a refund. */
export async function endsWell(books: Database, life: Life): Promise<void> {
  const { wish, quote, status } = life
  const stage = status === 'success' ? 'settled' : 'refunded'
  await waitUntil(
    `${quote.requestId} is ${stage}`,
    async () => {
      const debit = await debitOf(books, life)
      if (debit.stage === 'parked') throw new Error(`${quote.requestId} is parked`)
      return debit.stage === stage
    },
    { patienceMs: longWaitMs },
  )
  const debit = await debitOf(books, life)
  expect(status, JSON.stringify(wish.body)).toBe(wish.isDoomed ? 'refund' : status)
  const owed = status === 'success' ? debit.quotedMicroUsd : 0n
  expect([debit.debitedMicroUsd, debit.posts], quote.requestId).toEqual([owed, owed > 0n ? 1 : 0])
}

/** Of every order: one fill and no refund, or one refund and no fill. */
export async function expectSingleFills(bed: SessionBed, done: readonly Life[]): Promise<void> {
  const { network } = bed.session
  const paid = {
    base: await watchFills(network, 'base')(),
    optimism: await watchFills(network, 'optimism')(),
  }
  for (const { wish, quote, status } of done) {
    const { orderId } = quote.protocol.v2
    const [fills, refunds] = [wish.to, wish.from].map((chain) =>
      [...paid[chain]].flatMap(([id, hashes]) => (id === orderId ? hashes : [])),
    )
    expect([fills?.length, refunds?.length], quote.requestId).toEqual(status === 'success' ? [1, 0] : [0, 1])
  }
}
