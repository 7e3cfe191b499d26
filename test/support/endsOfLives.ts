// Invariants of chains and books for requests whose services were killed and held up meanwhile.

import { type Hex, UpstreamUnavailableError } from '@causeway/core'
import type { Database } from '@causeway/database'
import { waitUntil } from '@causeway/localnet'
import { expect } from 'vitest'
import { createRequestAdministration } from '../../apps/quote-api/src/operate/admin/requestAdministration.ts'
import { watchFills } from '../../apps/solver/test/support/solverBench.ts'
import { debitOf, type Life } from './requestLives.ts'
import type { SessionBed, UserChain } from './sessionBed.ts'

const longWaitMs = 300_000

/** Settled or refunded to the last step, and debited once for a success and never for a refund. */
export async function endsWell(books: Database, life: Life): Promise<void> {
  const { wish, quote, status } = life
  const stage = status === 'success' ? 'settled' : 'refunded'
  await waitUntil(
    `${quote.requestId} is ${stage}`,
    async () => {
      const debit = await debitOf(books, life).catch(ifAnswered)
      if (debit === undefined) return false
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

/** A database that does not answer in time says nothing of the books. */
function ifAnswered(error: unknown): undefined {
  if (!(error instanceof UpstreamUnavailableError)) throw error
}

/** Expects one fill or one refund for every order, never both. A failure reports all facts of the order. */
export async function expectSingleFills(
  bed: SessionBed,
  books: Database,
  done: readonly Life[],
): Promise<void> {
  const { network } = bed.session
  const paid = {
    base: await watchFills(network, 'base')(),
    optimism: await watchFills(network, 'optimism')(),
  }
  for (const { wish, quote, status } of done) {
    const { orderId } = quote.protocol.v2
    const hashesOn = (chain: UserChain) =>
      [...paid[chain]].flatMap(([id, hashes]) => (id === orderId ? hashes : []))
    const [fills, refunds] = [hashesOn(wish.to), hashesOn(wish.from)]
    const seen = [fills.length, refunds.length]
    const expected = status === 'success' ? [1, 0] : [0, 1]
    if (seen[0] === expected[0] && seen[1] === expected[1]) continue
    const requestId = hexToId(quote.requestId)
    const known = await createRequestAdministration(books).explain(requestId)
    const story = JSON.stringify({ wish, status, fills, refunds, known }, (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(seen, story).toEqual(expected)
  }
}

function hexToId(text: string): Hex {
  return `0x${text.slice(2)}`
}
