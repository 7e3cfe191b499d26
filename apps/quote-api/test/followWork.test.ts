// Goal: a follower acts on nothing but what it read, once, and only while it leads. Method: the frame over rows of a
// real database; an adversary changes them between reading and lock, takes the lead, throws and aborts.
import { UpstreamUnavailableError } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { lockAddress, takeLeftAgain } from '../src/requests/depositAddresses/addressStore.ts'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { type Follower, followWork, stepWork } from '../src/requests/work/followWork.ts'
import { addWork, lockWork, lockWorkOf } from '../src/requests/work/workStore.ts'
import { orderMigrations, orderNamed } from './orderSupport/orders.ts'
import { bytesOf } from './settlementSupport/requestDriver.ts'

let server: TestDatabase
beforeAll(async () => {
  const directories = [{ name: 'ledger', path: ledgerMigrations }, orderMigrations]
  server = await startTestDatabase({ directories })
  await server.database.query(
    'create table job (id bigint primary key, state text not null, tx_hash text, steps int not null default 0)',
  )
  await server.database.query('create table lead (epoch bigint not null)')
})
afterAll(async () => {
  await server?.stop()
})
beforeEach(async () => {
  await server.database.query('delete from job')
  await server.database.query('delete from lead')
  await server.database.query('delete from put_aside')
  await server.database.query('insert into lead values (1)')
})

type Row = { readonly id: bigint; readonly state: string; readonly tx_hash: string | null }

/** Follows every row; what it saw of row 7 is `seen 7`. The adversary acts where a chain would be read. */
function followerOf(
  meanwhile: (id: bigint, signal: AbortSignal) => Promise<unknown> = async () => undefined,
  seenBy: (steps: { readonly id: bigint; readonly seen: string }) => void = () => undefined,
): Follower<bigint, Row, string> {
  const rowsOf = (where: string, value: unknown) =>
    server.database.query<Row>(`select id, state, tx_hash from job where ${where}`, [value])
  return {
    atOnce: 3,
    list: async (limit) =>
      (await rowsOf('state <> $1 order by id', 'done')).slice(0, limit).map(({ id }) => id),
    async read(id, signal) {
      const [row] = await rowsOf('id = $1', id)
      await meanwhile(id, signal)
      return row && { rowVersion: [row.state, row.tx_hash ?? undefined], facts: `seen ${id}` }
    },
    async lock(tx, id) {
      const [row] = await tx.query<Row>('select id, state, tx_hash from job where id = $1 for update', [id])
      return row?.state === 'done' ? undefined : row
    },
    versionOf: ({ state, tx_hash }) => [state, tx_hash ?? undefined],
    async step(tx, { id }, seen) {
      await tx.query(`update job set state = 'done', steps = steps + 1 where id = $1`, [id])
      seenBy({ id, seen })
    },
  }
}

function runWith(epoch = 1n) {
  const stop = new AbortController()
  const run = {
    signal: stop.signal,
    async fence(tx: { query(text: string): Promise<readonly object[]> }) {
      const [row] = await tx.query('select epoch from lead for share')
      if (row === undefined || !('epoch' in row) || row.epoch !== epoch)
        throw new Error('somebody else leads')
    },
  }
  return { run, stop }
}

async function add(...ids: readonly number[]): Promise<void> {
  for (const id of ids)
    await server.database.query(`insert into job (id, state) values ($1, 'reported')`, [id])
}
const follow = (follower: Follower<bigint, Row, string>, { run } = runWith()) =>
  followWork(server.database, run, follower)
async function stepsOf(): Promise<Record<string, number>> {
  const rows = await server.database.query<{ id: bigint; steps: bigint }>(
    'select id, steps from job order by id',
  )
  return Object.fromEntries(rows.map(({ id, steps }) => [String(id), Number(steps)]))
}

describe('what is due', () => {
  test('is stepped once each, by what was seen of it', async () => {
    await add(1, 2, 3, 4, 5)
    const seen: string[] = []
    const follower = followerOf(undefined, (step) => seen.push(`${step.id}: ${step.seen}`))
    await follow(follower)
    await follow(follower)
    expect(seen.sort()).toEqual(['1: seen 1', '2: seen 2', '3: seen 3', '4: seen 4', '5: seen 5'])
    expect(await stepsOf()).toEqual({ 1: 1, 2: 1, 3: 1, 4: 1, 5: 1 })
  })

  test('is read some at once, while nothing is locked', async () => {
    await add(1, 2, 3, 4, 5, 6, 7)
    let [open, most] = [0, 0]
    let meet = () => {}
    const met = new Promise<void>((resolve) => {
      meet = resolve
    })
    await follow(
      followerOf(async (id) => {
        open += 1
        most = Math.max(most, open)
        // The first waits for a second, which never comes where one is read after another.
        if (open === 2) meet()
        await met
        // It would wait for a lock that the follower held.
        await server.database.query(`update job set steps = steps where id = $1`, [id])
        open -= 1
      }),
    )
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(3)
    expect(Object.values(await stepsOf())).toEqual([1, 1, 1, 1, 1, 1, 1])
  })

  test('is asked for with a bound, and what is nothing to follow is left', async () => {
    await add(1, 2)
    const limits: number[] = []
    const follower = followerOf()
    await follow({
      ...follower,
      list(limit) {
        limits.push(limit)
        return follower.list(limit)
      },
      read: async (id, signal, readApart) => (id === 1n ? undefined : follower.read(id, signal, readApart)),
    })
    expect(limits).toEqual([500])
    expect(await stepsOf()).toEqual({ 1: 0, 2: 1 })
  })

  test('and is followed by two at the same moment is stepped once', async () => {
    await add(...Array.from({ length: 12 }, (_, index) => index))
    await Promise.all([follow(followerOf()), follow(followerOf()), follow(followerOf())])
    expect(Object.values(await stepsOf())).toEqual(Array.from({ length: 12 }, () => 1))
  })
})

describe('nothing is done to a row', () => {
  test.each([
    ['has another state', `update job set state = 'open' where id = $1`],
    ['names another transaction', `update job set tx_hash = '0xother' where id = $1`],
    ['is gone', 'delete from job where id = $1'],
  ])('that %s by the time it is locked', async (_what, change) => {
    await add(1, 2)
    await follow(followerOf(async (id) => id === 1n && (await server.database.query(change, [id]))))
    expect(await stepsOf()).toMatchObject({ 2: 1 })
    expect((await stepsOf())[1] ?? 0).toBe(0)
  })

  test('once somebody else leads: what was begun is not committed', async () => {
    await add(1, 2)
    const follower = followerOf(() => server.database.query('update lead set epoch = 2'))
    await expect(follow(follower)).rejects.toThrow('2 requests could not be followed')
    expect(await stepsOf()).toEqual({ 1: 0, 2: 0 })
  })

  test('whose step fails after it wrote', async () => {
    await add(1, 2)
    const follower = followerOf()
    const failing = follow({
      ...follower,
      async step(tx, row, seen) {
        await follower.step(tx, row, seen)
        if (row.id === 1n) throw new Error('half done')
      },
    })
    await expect(failing).rejects.toThrow('1 requests could not be followed')
    expect(await stepsOf()).toEqual({ 1: 0, 2: 1 })
  })
})

test('one that fails keeps nobody else, and every failure is told', async () => {
  await add(1, 2, 3, 4, 5, 6)
  const follower = followerOf(async (id) => {
    if (id % 2n === 0n) throw new Error(`chain of ${id} is down`)
  })
  const failure = await follow(follower).catch((error: unknown) => error)
  if (!(failure instanceof AggregateError)) throw new Error('it did not fail')
  expect(failure.errors.map(String).sort()).toEqual([2, 4, 6].map((id) => `Error: chain of ${id} is down`))
  expect(await stepsOf()).toEqual({ 1: 1, 2: 0, 3: 1, 4: 0, 5: 1, 6: 0 })
})

test('an abort ends it: nothing more is begun, and what was being read is not written', async () => {
  await add(...Array.from({ length: 20 }, (_, index) => index))
  const ending = runWith()
  let begun = 0
  const follower = followerOf(async (_id, signal) => {
    expect(signal).toBe(ending.run.signal)
    begun += 1
    if (begun === 5) ending.stop.abort()
  })
  await follow(follower, ending)
  expect(begun).toBeLessThanOrEqual(5 + 2)
  const steps = Object.values(await stepsOf()).reduce((sum, count) => sum + count, 0)
  expect(steps).toBeLessThan(5)
  await follow(followerOf())
  expect(Object.values(await stepsOf())).toEqual(Array.from({ length: 20 }, () => 1))
})

describe('a row whose transaction cannot be read', () => {
  const silence = new UpstreamUnavailableError('silence', {})
  /** Rows that the chain does not answer for, and what was read of it. */
  function strangers(isStrange: (id: bigint) => boolean) {
    const asked: bigint[] = []
    const follower = followerOf()
    const reading: typeof follower.read = (id, signal, readApart) =>
      readApart({ chainId: 1, transactionId: `0x${id}` }, async () => {
        asked.push(id)
        if (isStrange(id)) throw silence
        return follower.read(id, signal, readApart)
      })
    return { asked, follower: { ...follower, read: reading } }
  }
  const aside = () => server.database.query('select transaction_id, tries from put_aside order by 1')

  test('F-75: pauses alone: it fails no run, fills no page and is read at last', async () => {
    await server.database.query(`insert into job select n, 'reported' from generate_series(1, 601) n`)
    const { follower, asked } = strangers((id) => id <= 600n)
    const hour = `update put_aside set last_tried_at = now() + interval '1 hour'`
    await follow(follower)
    await server.database.query(hour)
    await follow(follower)
    expect(asked.filter((id) => id === 1n)).toHaveLength(1)
    expect((await stepsOf())[601]).toBe(1)
    expect(await aside()).toHaveLength(600)
    await server.database.query(`update put_aside set last_tried_at = now() - interval '1 hour'`)
    const healed = strangers(() => false)
    await follow(healed.follower)
    await follow(healed.follower)
    expect(new Set(Object.values(await stepsOf()))).toEqual(new Set([1]))
    expect(await aside()).toEqual([])
  }, 60_000)

  test('F-75: pauses from half a second to half a minute', async () => {
    await add(1)
    const { follower, asked } = strangers(() => true)
    const agoIs = (seconds: number) =>
      server.database.query(`update put_aside set last_tried_at = now() - $1 * interval '1 second'`, [
        seconds,
      ])
    for (const [index, pause] of [0, 0.5, 1, 2, 4, 8, 16, 30, 30].entries()) {
      await agoIs(pause - 0.3)
      await follow(follower)
      expect(asked).toHaveLength(index === 0 ? 1 : index)
      await agoIs(pause)
      await follow(follower)
      expect(asked).toHaveLength(index + 1)
    }
  })

  test('F-75: is put aside by nobody who does not lead, and not after an abort', async () => {
    await add(1)
    const { follower } = strangers(() => true)
    await expect(follow(follower, runWith(7n))).rejects.toThrow('1 requests')
    const ending = runWith()
    const read: typeof follower.read = (...args) => {
      ending.stop.abort()
      return follower.read(...args)
    }
    await expect(follow({ ...follower, read }, ending)).rejects.toThrow('1 requests')
    expect(await aside()).toEqual([])
  })

  test('F-75: that was put aside stays so for who does not lead', async () => {
    await add(1)
    await follow(strangers(() => true).follower)
    await server.database.query(`update put_aside set last_tried_at = now() - interval '1 hour'`)
    await expect(follow(strangers(() => false).follower, runWith(7n))).rejects.toThrow('1 requests')
    expect(await aside()).toHaveLength(1)
  })
})

test.each(['permit', 'refund', 'sweep', 'fill'] as const)(
  'who moves a %s and who moves its request lock in one order',
  async (kind) => {
    const { database } = server
    const order = orderNamed(`locks ${kind}`)
    await createOrderStore({ database }).save(order)
    const { requestId } = order
    // CAST: no schema looks at what is only locked.
    const work = { kind, requestId, chainId: 1, payload: {} as never }
    await database.transaction((tx) => addWork(tx, work))
    const [row] = await database.query<{ id: string }>('select id from work_item where request_id = $1', [
      bytesOf(requestId),
    ])
    const id = row?.id ?? ''
    const pause = () => new Promise((resolve) => setTimeout(resolve, 300))
    await Promise.all([
      database.transaction(async (tx) => {
        await lockWork(tx, id)
        await pause()
        await tx.query('update orders set updated_at = now() where request_id = $1', [bytesOf(requestId)])
      }),
      database.transaction(async (tx) => {
        await tx.query('select 1 from orders where request_id = $1 for update', [bytesOf(requestId)])
        await pause()
        await lockWorkOf(tx, work)
      }),
    ])
  },
)

test('who moves a deposit address and who moves its request lock in one order', async () => {
  const { database } = server
  const order = orderNamed('locks address')
  await createOrderStore({ database }).save(order)
  const id = bytesOf(order.requestId)
  await database.query(
    `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, currency, is_strict, left_reason)
     values ('0xa1', 1, '0x1', '0x2', '0x3', $1, $1, '0x0', false, 'denied')`,
    [id],
  )
  const pause = () => new Promise((resolve) => setTimeout(resolve, 300))
  await Promise.all([
    database.transaction(async (tx) => {
      await lockAddress(tx, '0xa1')
      await pause()
      await tx.query('update orders set updated_at = now() where request_id = $1', [id])
    }),
    database.transaction(async (tx) => {
      await tx.query('select 1 from orders where request_id = $1 for update', [id])
      await pause()
      await takeLeftAgain(tx, order.requestId)
    }),
  ])
})

describe('what hangs on no chain', () => {
  const stepper = {
    atOnce: 2,
    list: async (limit: number) => [1n, 2n, 3n].slice(0, limit),
    async step(tx: { query(text: string, values: readonly unknown[]): Promise<unknown> }, id: bigint) {
      await tx.query('update job set steps = steps + 1 where id = $1', [id])
      if (id === 2n) throw new Error('half done')
    },
  }

  test('is stepped in a transaction each: one that fails leaves nothing and keeps nobody else', async () => {
    await add(1, 2, 3)
    const stepping = stepWork(server.database, runWith().run, stepper)
    await expect(stepping).rejects.toThrow('1 requests could not be followed')
    expect(await stepsOf()).toEqual({ 1: 1, 2: 0, 3: 1 })
  })

  test('is not stepped by who does not lead, nor after an abort', async () => {
    await add(1, 3)
    await expect(stepWork(server.database, runWith(7n).run, stepper)).rejects.toThrow('3 requests')
    const ended = runWith()
    ended.stop.abort()
    await stepWork(server.database, ended.run, stepper)
    expect(await stepsOf()).toEqual({ 1: 0, 3: 0 })
  })
})
