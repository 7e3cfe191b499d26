// Goal: whenever a process dies between reading a block and moving the cursor, nothing is lost and nothing is booked twice.
// Method: each run is repeated over a real database and dies one step later each time, at each question to a chain, before
// each statement, whose session PostgreSQL ends, and behind each commit, until a run lives to its end.

import { type SqlDatabase, type SqlWriteTx, UpstreamUnavailableError } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { createLedger, ledgerMigrations } from '@causeway/ledger'
import { createBlockTree, startScriptedChain } from '@causeway/localnet'
import { TransactionTooLargeError } from '@causeway/rpc'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createReadMemory } from '../src/chainReadings/readMemory.ts'
import { watchTopUps } from '../src/money/topUps/watchTopUps.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { readDepositCursor } from '../src/requests/settlement/deposits/depositCursor.ts'
import { findFinalDeposits } from '../src/requests/settlement/finding/findFinalDeposits.ts'
import { findNewDeposits } from '../src/requests/settlement/finding/findNewDeposits.ts'
import { retryPutAside } from '../src/requests/settlement/finding/foundDeposits.ts'
import { followWork, versionOfWork } from '../src/requests/work/followWork.ts'
import { listPutAside } from '../src/requests/work/putAsideStore.ts'
import { addWork, lockWorkOf, readWorkOf, updateWork } from '../src/requests/work/workStore.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import { chainId, order, scriptedChain } from './settlementSupport/scriptedDeposits.ts'
import { chainOver, hexOf, topUpTransaction } from './topUpSupport/scriptedTopUps.ts'

const run = { fence: async () => undefined, signal: new AbortController().signal }

let server: TestDatabase
beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  const pool = { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 }
  server = await startTestDatabase({ directories, pool })
  await createOrderStore({ database: server.database }).save(order)
  await server.database.query('create table booked (id bigint not null)')
})
afterAll(() => server?.stop())

async function empty(): Promise<void> {
  for (const table of ['deposit_seen', 'deposit_cursor', 'put_aside', 'work_item', 'booked'])
    await server.database.query(`delete from ${table}`)
}
beforeEach(empty)

/** A process that does `steps` steps and then nothing more. */
function mortal(steps: number) {
  let done = 0
  const isDead = () => {
    done += 1
    return done > steps
  }
  const live = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isDead()) throw new Error('killed')
    return work()
  }
  const database: SqlDatabase = {
    ...server.database,
    query: (...asked) => live(() => server.database.query(...asked)),
    async transaction(work, options) {
      const answer = await server.database.transaction(async (tx) => {
        const dying: SqlWriteTx = {
          ...tx,
          async query(...asked) {
            if (isDead()) await tx.query('select pg_terminate_backend(pg_backend_pid())')
            return tx.query(...asked)
          },
        }
        return work(dying)
      }, options)
      return live(async () => answer)
    },
  }
  return { database, live, isOver: () => done > steps }
}

/** @param attempt one run and its rerun. @returns how many steps the run has that lived */
async function killAtEach(attempt: (process: ReturnType<typeof mortal>) => Promise<void>): Promise<number> {
  for (let steps = 0; ; steps += 1) {
    await empty()
    const process = mortal(steps)
    await attempt(process)
    if (!process.isOver()) return steps
  }
}

const dies = (work: Promise<unknown>) => work.catch(() => undefined)

const kept = async () =>
  (await server.database.query<{ tx_hash: string }>('select tx_hash from deposit_seen')).map(
    ({ tx_hash }) => tx_hash,
  )
const aside = async () =>
  (await listPutAside(server.database)).map(({ transactionId }) => transactionId).toSorted()

test.each(['process', 'session'])(
  'F-78: a %s that ends at any step of a look at deposits loses none, puts each aside and keeps each once',
  async (ended) => {
    const steps = await killAtEach(async ({ database, live }) => {
      const at = scriptedChain()
      const memory = createReadMemory(() => 0)
      const looks = (over: SqlDatabase, remembered: typeof memory, ask: typeof live = (work) => work()) => {
        const context = { database: over, announce: async () => undefined, observe: () => undefined }
        const { depositPass, deposits, finalHeight } = at.chain
        const chain: typeof at.chain = {
          ...at.chain,
          finalHeight: (...asked) => ask(() => finalHeight(...asked)),
          depositPass: (...asked) => ask(() => depositPass(...asked)),
          deposits: (...asked) => ask(() => deposits(...asked)),
        }
        const newest = () => ({ head: at.head(), askedAtSeconds: 5, memory: remembered })
        return {
          young: () => findNewDeposits(context, chain, newest(), run),
          final: () => findFinalDeposits(context, chain, newest(), run),
        }
      }
      const dying = looks(database, memory, live)
      const whole = looks(server.database, ended === 'session' ? memory : createReadMemory(() => 0))
      await looks(
        server.database,
        createReadMemory(() => 0),
      ).young()
      at.failures.set('large', new TransactionTooLargeError({ chainId: 'base', transactionId: 'large' }))
      at.failures.set('silent', new UpstreamUnavailableError('silence'))
      at.hidden.add('late')
      at.mine('one', 'large', 'silent', 'late')
      at.grow(40)
      await dies(dying.young())
      at.hidden.clear()
      await dies(dying.final())
      const { finalTo = 0n } = (await readDepositCursor(server.database, chainId)) ?? {}
      const passed = finalTo > 200n ? ['large', 'late', 'one', 'silent'] : []
      expect([...(await kept()), ...(await aside())]).toEqual(expect.arrayContaining(passed))
      await whole.young()
      await whole.final()
      expect((await kept()).toSorted()).toEqual(['late', 'one'])
      expect(await aside()).toEqual(['large', 'silent'])
    })
    expect(steps).toBeGreaterThan(20)
  },
)

test('F-78: a process that ends at any step of a new try leaves a transaction on the list or has kept it', async () => {
  const steps = await killAtEach(async ({ database, live }) => {
    const at = scriptedChain()
    at.mine('one')
    await server.database.query(
      `insert into put_aside (chain_id, transaction_id, purpose, reason, last_tried_at)
       values ($1, 'one', 'deposits', 'unanswered', now() - interval '1 day')`,
      [chainId],
    )
    const retry = (over: SqlDatabase, deposits: typeof at.chain.deposits) =>
      retryPutAside(
        {
          database: over,
          announce: async () => undefined,
          observe: () => undefined,
          chains: new Map([[chainId, { deposits, chain: { chainId } }]]),
        },
        run,
      )
    await dies(retry(database, (...asked) => live(() => at.chain.deposits(...asked))))
    expect([...(await kept()), ...(await aside())]).toEqual(['one'])
    await retry(server.database, at.chain.deposits)
    expect([await kept(), await aside()]).toEqual([['one'], []])
  })
  expect(steps).toBeGreaterThan(5)
})

test('F-78: a process that ends at any step of following a refund books it once, and forgets none', async () => {
  const { requestId } = order
  const named = { kind: 'refund', requestId } as const
  const steps = await killAtEach(async ({ database, live }) => {
    // CAST: no schema looks at a payload that nobody offers.
    const work = { ...named, chainId, payload: {} as never }
    await server.database.transaction((tx) => addWork(tx, work))
    const item = await readWorkOf(server.database, named)
    if (item === undefined) throw new Error('no work')
    await server.database.transaction((tx) => updateWork(tx, item.id, { state: 'reported', txHash: '0x01' }))
    let isSilent = true
    const follow = (over: SqlDatabase, ask: typeof live = (work) => work()) =>
      followWork(over, run, {
        atOnce: 1,
        list: async () => ((await readWorkOf(over, named))?.state === 'reported' ? [named] : []),
        read: async (_due, _signal, readApart) => {
          const reported = await readWorkOf(over, named)
          if (reported === undefined) return undefined
          await readApart({ chainId, transactionId: '0x01' }, () =>
            ask(async () => {
              if (isSilent) throw new UpstreamUnavailableError('silence')
            }),
          )
          return { rowVersion: versionOfWork(reported), facts: undefined }
        },
        lock: lockWorkOf,
        versionOf: versionOfWork,
        async step(tx, { id }) {
          await tx.query('insert into booked values (1)')
          await updateWork(tx, id, { state: 'done' })
        },
      })
    const makeDue = () =>
      server.database.query(`update put_aside set last_tried_at = now() - interval '1 day'`)
    await dies(follow(database, live))
    isSilent = false
    await makeDue()
    await dies(follow(database, live))
    const [booked] = await server.database.query<{ count: bigint }>('select count(*) as count from booked')
    expect((await readWorkOf(server.database, named))?.state).toBe(booked?.count === 1n ? 'done' : 'reported')
    await makeDue()
    await follow(server.database)
    expect(await server.database.query('select id from booked')).toEqual([{ id: 1n }])
    expect(await aside()).toEqual([])
  })
  expect(steps).toBeGreaterThan(10)
})

test('F-78: a process that ends at any step of a look at top-ups credits each once', async () => {
  const tree = createBlockTree()
  const scripted = await startScriptedChain({ chainId: 20_000, tree })
  const chain = chainOver([scripted.url], { chainId: 20_000 })
  onTestFinished(async () => {
    await chain.close()
    await scripted.stop()
  })
  const ledger = createLedger()
  let id = 0
  const look = (database: SqlDatabase) =>
    watchTopUps({
      chain,
      database,
      fromBlock: 0n,
      lateBlocks: 0n,
      memory: createReadMemory(() => 0),
      fence: run.fence,
      signal: run.signal,
      purpose: 'top-ups',
    })
  const steps = await killAtEach(async ({ database }) => {
    id += 1
    const owner = hexOf(0x9000_0000 + id, 20)
    tree.mine([topUpTransaction({ id: 70_000 + id, owner, value: 5n })])
    await dies(look(database))
    tree.finalize(tree.canonical().length - 1)
    await dies(look(database))
    await look(server.database)
    const balance = await server.database.transaction((tx) => ledger.balance(tx, owner))
    expect(balance).toMatchObject({ availableMicroUsd: 5n, pendingMicroUsd: 0n })
  })
  expect(steps).toBeGreaterThan(10)
})
