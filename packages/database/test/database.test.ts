// Goal: what the pool promises its callers. Method: a real server, killed and stalled where needed.
import { type SqlWriteTx, UpstreamUnavailableError } from '@causeway/core'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createDatabase,
  DatabaseOverloadedError,
  startTestDatabase,
  type TestDatabase,
} from '../src/index.ts'

let testDatabase: TestDatabase
beforeAll(async () => {
  testDatabase = await startTestDatabase({ pool: { poolSize: 2, queueMax: 3, statementTimeoutMs: 300 } })
  await testDatabase.database.query('create table items (id bigint primary key, amount numeric)')
})
afterAll(async () => {
  await testDatabase.stop()
})

const sleepAll = (seconds: number) => testDatabase.database.query('select pg_sleep($1)', [seconds])

test('numeric and int8 are exact bigints, alone and in arrays', async () => {
  const big = 2n ** 255n + 1n
  const [row] = await testDatabase.database.query(
    `select $1::numeric as amount, 9223372036854775807::int8 as id, -5::numeric as negative,
       null::numeric as missing, array[1, $1]::numeric[] as amounts, array[[1], [2]]::int8[] as ids,
       7::int4 as small, '\\x0102'::bytea as bytes, '{"a":[1]}'::jsonb as document`,
    [big],
  )
  expect(row).toEqual({
    amount: big,
    id: 9223372036854775807n,
    negative: -5n,
    missing: null,
    amounts: [1n, big],
    ids: [[1n], [2n]],
    small: 7,
    bytes: Buffer.from([1, 2]),
    document: { a: [1] },
  })
})

test.each(['1.5', '1.0', "'NaN'", "'Infinity'"])('a numeric column that holds %s throws', async (literal) => {
  await expect(testDatabase.database.query(`select ${literal}::numeric as amount`)).rejects.toThrow(
    RangeError,
  )
  expect(await testDatabase.database.query('select 1 as one')).toEqual([{ one: 1 }])
})

test('a transaction commits what it did, or nothing', async () => {
  const { database } = testDatabase
  const result = await database.transaction(async (tx) => {
    await tx.query('insert into items values (1, 10)')
    return tx.query('select amount from items where id = 1')
  })
  expect(result).toEqual([{ amount: 10n }])
  const failing = database.transaction(async (tx) => {
    await tx.query('insert into items values (2, 20)')
    throw new Error('after the insert')
  })
  await expect(failing).rejects.toThrow('after the insert')
  expect(await database.query('select id from items order by id')).toEqual([{ id: 1n }])
})

test('a transaction whose failure was swallowed does not claim to have committed', async () => {
  const swallowing = testDatabase.database.transaction(async (tx) => {
    await tx.query('insert into items values (3, 30)')
    await tx.query('insert into items values (3, 30)').catch(() => {})
    return 'done'
  })
  await expect(swallowing).rejects.toThrow('rolled back')
  expect(await testDatabase.database.query('select id from items where id = 3')).toEqual([])
})

test('statements sent without waiting are seen by the next one and commit with it', async () => {
  const amounts = await testDatabase.database.transaction(async (tx) => {
    tx.send('insert into items values (10, 1)')
    tx.send('update items set amount = amount + $1 where id = 10', [4n])
    const rows = await tx.query('select amount from items where id = 10')
    tx.send('update items set amount = amount * 2 where id = 10')
    return rows
  })
  expect(amounts).toEqual([{ amount: 5n }])
  expect(await testDatabase.database.query('select amount from items where id = 10')).toEqual([
    { amount: 10n },
  ])
})

test('the error of a sent statement is that of its transaction, whatever fails because of it', async () => {
  const { database } = testDatabase
  const atTheEnd = database.transaction(async (tx) => {
    tx.send('insert into items values (11, 1)')
    tx.send('insert into items values (11, 2)')
  })
  await expect(atTheEnd).rejects.toMatchObject({ code: '23505' })
  const before = database.transaction(async (tx) => {
    tx.send('insert into items values (11, 1)')
    tx.send('insert into items values (11, 2)')
    tx.send('insert into items values (12, 1)')
    await tx.query('select 1')
  })
  await expect(before).rejects.toMatchObject({ code: '23505' })
  expect(await database.query('select id from items where id in (11, 12)')).toEqual([])
})

test('a snapshot sees one moment', async () => {
  const { database } = testDatabase
  await database.query('insert into items values (14, 1)')
  const amountOf = (tx: Pick<SqlWriteTx, 'query'>) => tx.query('select amount from items where id = 14')
  const read = async (tx: SqlWriteTx) => {
    const before = await amountOf(tx)
    await database.query('update items set amount = 2 where id = 14')
    return [before, await amountOf(tx)]
  }
  const seen = await database.transaction(read, { isSnapshot: true, opensWithRead: true })
  expect(seen).toEqual([[{ amount: 1n }], [{ amount: 1n }]])
  expect(await amountOf(database)).toEqual([{ amount: 2n }])
})

test('a statement that is planned each time is kept nowhere, in a transaction neither', async () => {
  const database = createDatabase({ connectionString: testDatabase.connectionString, poolSize: 1 })
  const eachTime = { isPlannedEachTime: true }
  await database.query('select $1::int as alone', [1], eachTime)
  await database.transaction(async (tx) => {
    await tx.query('select $1::int as inside', [1], eachTime)
    await tx.query('select $1::int as kept', [1])
  })
  expect(await database.query('select statement from pg_prepared_statements')).toEqual([
    { statement: 'select $1::int as kept' },
  ])
  await database.close()
})

test('a lock that the first statement takes lasts until the end', async () => {
  const { database } = testDatabase
  await database.query('insert into items values (13, 1)')
  const tryToLock = () => database.query('select id from items where id = 13 for update nowait')
  const locking = database.transaction(
    async (tx) => {
      await tx.query('select id from items where id = 13 for update')
      await expect(tryToLock()).rejects.toBeInstanceOf(UpstreamUnavailableError)
    },
    { opensWithRead: true },
  )
  await locking
  expect(await tryToLock()).toEqual([{ id: 13n }])
})

test('a transaction that has ended refuses statements', async () => {
  let kept: SqlWriteTx | undefined
  await testDatabase.database.transaction(async (tx) => {
    kept = tx
  })
  await expect(kept?.query('select 1')).rejects.toThrow('has ended')
  expect(() => kept?.send('select 1')).toThrow('has ended')
})

test("a statement's own failure keeps its SQLSTATE and its connection", async () => {
  const { database } = testDatabase
  const pidOf = async () => (await database.query('select pg_backend_pid() as pid'))[0]?.['pid']
  const before = await pidOf()
  const duplicate = database.query('insert into items values (1, 1)')
  await expect(duplicate).rejects.toMatchObject({ code: '23505' })
  expect(await pidOf()).toBe(before)
})

test('a statement is planned once per connection', async () => {
  const single = createDatabase({ connectionString: testDatabase.connectionString, poolSize: 1 })
  for (const id of [1, 2, 3]) await single.query('select $1::int as id', [id])
  expect(
    await single.query("select from pg_prepared_statements where statement like 'select $1%'"),
  ).toHaveLength(1)
  await single.close()
})

test('many different texts do not fill the server with plans', async () => {
  const single = createDatabase({ connectionString: testDatabase.connectionString, poolSize: 1 })
  for (let index = 0; index < 250; index += 1) {
    expect(await single.query(`select $1::int + ${index} as sum`, [1])).toEqual([{ sum: 1 + index }])
  }
  const [row] = await single.query('select count(*) as plans from pg_prepared_statements')
  expect(row).toEqual({ plans: 200n })
  await single.close()
})

test('a migration under a running service costs one retryable answer', async () => {
  const { connectionString, database } = testDatabase
  const single = createDatabase({ connectionString, poolSize: 1 })
  await database.query('create table changing (a int)')
  const read = () => single.query('select * from changing where a = $1', [1])
  await read()
  await database.query('alter table changing add column b int')
  await expect(read()).rejects.toBeInstanceOf(UpstreamUnavailableError)
  expect(await read()).toEqual([])
  await single.close()
})

test('a late statement is an unavailable upstream, and the next one works', async () => {
  await expect(sleepAll(2)).rejects.toBeInstanceOf(UpstreamUnavailableError)
  await testDatabase.database.ping()
})

test('more callers than may wait are refused at once', async () => {
  const running = [sleepAll(0.2), sleepAll(0.2), sleepAll(0), sleepAll(0), sleepAll(0)]
  const refused = await sleepAll(0).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(DatabaseOverloadedError)
  expect(refused).toMatchObject({ kind: 'overloaded', retryable: true })
  await Promise.all(running)
})

test('a caller that waits too long for a connection is told so', async () => {
  const { connectionString } = testDatabase
  const single = createDatabase({ connectionString, poolSize: 1, acquireTimeoutMs: 500 })
  const long = single.query('select pg_sleep(1.5)')
  await expect(single.query('select 1')).rejects.toBeInstanceOf(UpstreamUnavailableError)
  await long
  await single.close()
})

test('a backend that is killed inside a transaction is an unavailable upstream, then all is well', async () => {
  const { database, connectionString } = testDatabase
  const admin = new pg.Client({ connectionString })
  await admin.connect()
  const cut = database.transaction(async (tx) => {
    await tx.query('insert into items values (4, 40)')
    const [row] = await tx.query('select pg_backend_pid() as pid')
    await admin.query('select pg_terminate_backend($1)', [row?.['pid']])
    await tx.query('select 1')
  })
  await expect(cut).rejects.toBeInstanceOf(UpstreamUnavailableError)
  await admin.end()
  expect(await database.query('select id from items where id = 4')).toEqual([])
})

test('no server at all is an unavailable upstream', async () => {
  const url = new URL(testDatabase.connectionString)
  url.port = '1'
  const absent = createDatabase({ connectionString: url.href })
  await expect(absent.ping()).rejects.toBeInstanceOf(UpstreamUnavailableError)
  await expect(absent.transaction(async () => 1)).rejects.toBeInstanceOf(UpstreamUnavailableError)
  await absent.close()
})

test('errors that reach callers name neither server nor password', async () => {
  const url = new URL(testDatabase.connectionString)
  url.port = '1'
  const absent = createDatabase({ connectionString: url.href })
  const error: unknown = await absent.ping().catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(UpstreamUnavailableError)
  if (error instanceof Error) expect(error.message).not.toMatch(/127\.0\.0\.1|postgres|:1/)
  expect(JSON.stringify(error)).not.toContain(url.password)
  await absent.close()
})
