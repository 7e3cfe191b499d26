// Goal: an operator sees that a service answers late, not at all, or with errors that nobody foresaw. Method: quote-api
// as an operator runs it, with a small pool of connections, under load and Prometheus with our rules; its database is
// held up as a long change of a table holds it, or has lost a table.
import type { Database } from '@causeway/database'
import { chainPlans, servicePlans, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { fires, patienceMs } from '../support/firing.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'
import { type SessionBed, startSessionBed } from '../support/sessionBed.ts'

/** More than a process works on at a time. */
const floodCallers = 600
/** Longer than a metric waits for a connection of the pool. */
const scrapeSeconds = 5
const patience = { patienceMs }
let bed: SessionBed
let database: Database
let prometheus: Prometheus

vi.setConfig({ testTimeout: 3 * patienceMs })

beforeAll(async () => {
  bed = await startSessionBed(
    { DATABASE_POOL_SIZE: '2' },
    { services: servicePlans.filter(({ name }) => name === 'quote-api') },
  )
  database = await bed.openDatabase()
  prometheus = await startPrometheus(bed.targets, scrapeSeconds)
})
afterAll(async () => {
  await prometheus?.stop()
  await database?.close()
  await bed?.stop()
})

/** @returns the status; 0 where no answer came */
async function quoteOnce(): Promise<number> {
  const { keys, deployment } = bed.session.network
  const [user] = keys.users
  const answer = await fetch(`${bed.url}/quote`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      user: user?.address,
      recipient: user?.address,
      amount: '60000000',
      tradeType: 'EXACT_INPUT',
      originChainId: chainPlans.base.chainId,
      destinationChainId: chainPlans.optimism.chainId,
      originCurrency: deployment.base.tokens.USDC,
      destinationCurrency: deployment.optimism.tokens.USDC,
    }),
  }).catch(() => undefined)
  await answer?.text()
  return answer?.status ?? 0
}

/** Callers that each ask for one quote after the other while something happens. */
async function whileAsking(callers: number, happens: () => Promise<void>): Promise<void> {
  let isOver = false
  const asking = Array.from({ length: callers }, async () => {
    while (!isOver) {
      await quoteOnce()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
  try {
    await happens()
  } finally {
    isOver = true
    await Promise.all(asking)
  }
}

test('QuotesFailed and ServiceAnswers5xx where the table of orders is gone', async () => {
  expect(await quoteOnce()).toBe(200)
  const nothingFires = async () => (await prometheus.alerts()).length === 0
  await waitUntil('jobs are led and nothing fires', nothingFires, patience)
  await database.query('alter table orders rename to orders_away')
  try {
    // One is enough to be told of.
    expect(await quoteOnce()).toBe(500)
    await fires(prometheus, 'QuotesFailed')
    await whileAsking(2, () => fires(prometheus, 'ServiceAnswers5xx', { service: 'quote-api' }))
  } finally {
    await database.query('alter table orders_away rename to orders')
  }
})

test('DatabasePoolFull, QuotesSlow and ServiceSheds where something holds the table of orders', async () => {
  await waitUntil('quotes are answered again', async () => (await quoteOnce()) === 200, patience)
  const held = (happens: () => Promise<void>) =>
    database.transaction(async (tx) => {
      // Whoever changes a table by hand has no such bound.
      await tx.query('set local idle_in_transaction_session_timeout = 0')
      await tx.query('lock table orders in access exclusive mode')
      await happens()
    })
  await held(async () => {
    await whileAsking(16, async () => {
      await fires(prometheus, 'DatabasePoolFull')
      await fires(prometheus, 'QuotesSlow')
    })
    await whileAsking(floodCallers, () => fires(prometheus, 'ServiceSheds', { service: 'quote-api' }))
  })
})
