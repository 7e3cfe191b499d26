// Goal: what is old goes, and nothing that money, a person or the books still need. Attacks: every way in which a
// request is open while it is old; a deposit that comes between the look and the deletion; a setting that reaches the
// ledger. Method: a real database, real holds, rows of every kind at every age; the replay of the books afterwards.

import type { Hex, HoldRequest, SqlRow, SqlTx } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { createHttpMetrics } from '@causeway/http'
import { createLedger, ledgerMigrations, readStatement, verifyLedger } from '@causeway/ledger'
import { createLogger } from '@causeway/service'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRetention } from '../src/compose/retention.ts'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import { firstId, previewRetention, removePage } from '../src/requests/retention/removableRequests.ts'
import { pepperText } from './accessSupport/accessService.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { orderMigrations } from './orderSupport/orders.ts'
import { createSponsor, type TestSponsor } from './sponsorSupport/sponsors.ts'

const settings = { quotesDays: 60, requestsDays: 200 }
let bed: TestDatabase
let sponsor: TestSponsor
let count = 0

beforeAll(async () => {
  bed = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
  sponsor = await createSponsor(bed.database, 1_000_000_000n)
})
afterAll(() => bed?.stop())
beforeEach(async () => {
  await bed.database.query('truncate orders cascade')
})

type Aged = {
  readonly days: number
  readonly status?: string
  /** Since anything became of it. */
  readonly updatedDays?: number
  readonly keptDays?: number
}

/** A request of that age, under an id that begins with its time as all do. */
async function store({ days, status = 'waiting', updatedDays, keptDays = days - 31 }: Aged): Promise<Buffer> {
  count += 1
  const [row] = await bed.database.query<{ request_id: Buffer }>(
    `insert into orders (request_id, order_id, user_address, recipient, origin_chain_id, destination_chain_id, quoted,
       order_data, order_signature, steps_digest, status, created_at, updated_at, expires_at, deadline, keep_until)
     select decode(lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || lpad(to_hex($2::int), 52, '0'), 'hex'),
       sha256($1::text::bytea), 'a user', 'a recipient', 8453, 10, '{}', '{}', decode(repeat('11', 65), 'hex'),
       sha256($1::text::bytea), $3, at, now() - interval '1 day' * $4::numeric, at, now() - interval '1 day' * ($5::numeric + 30),
       now() - interval '1 day' * $5::numeric
     from (select now() - interval '1 day' * $6::numeric as at) a returning request_id`,
    [`order ${count}`, count, status, updatedDays ?? null, keptDays, days],
  )
  if (row === undefined) throw new Error('it is stored')
  return row.request_id
}

const hexOf = (id: Buffer): Hex => `0x${id.toString('hex')}`

async function depositOf(
  id: Buffer,
  state: string,
  tx: Pick<SqlTx, 'query'> = bed.database,
): Promise<bigint> {
  const [row] = await tx.query<{ id: bigint }>(
    `insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
       request_id, depositor, currency, amount, state, is_final)
     select 8453, $2, '0', 1, '0xb', now(), order_id, request_id, '0xd', '0xc', 1, $3, true from orders
     where request_id = $1 returning id`,
    [id, `0x${id.toString('hex')}${state}`, state],
  )
  if (row === undefined) throw new Error('it is stored')
  return row.id
}

async function settle(id: Buffer, stage: string, deposit = 'taken'): Promise<void> {
  const depositId = await depositOf(id, deposit)
  await bed.database.query(
    `insert into settlement (request_id, deposit_id, stage, is_bound, parked_reason)
     values ($1, $2, $3, true, case when $3 = 'parked' then 'FILLED_LATE' end)`,
    [id, depositId, stage],
  )
}

async function workOf(id: Buffer, state: string): Promise<void> {
  await bed.database.query(
    `insert into work_item (kind, request_id, chain_id, payload, state, tx_hash)
     values ('fill', $1, 10, '{}', $2, case when $2 in ('reported', 'done') then encode($1, 'hex') end)`,
    [id, state],
  )
}

async function addressOf(
  id: Buffer,
  more: { readonly activeDays: number; readonly left?: string },
): Promise<void> {
  await bed.database.query(
    `insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, left_reason,
       active_at)
     values ('0x' || encode(substr(sha256($1), 1, 20), 'hex'), 8453, '', '', '', $1, $1, $2,
       now() - interval '1 day' * $3::int)`,
    [id, more.left ?? null, more.activeDays],
  )
}

function holdFor(id: Buffer): HoldRequest {
  return {
    requestId: hexOf(id),
    sponsor: sponsor.wallet,
    apiKeyId: sponsor.keyId,
    user: `user ${count}`,
    recipient: 'a recipient',
    originChainId: 8_453,
    destinationChainId: 10,
    components: ['execution'],
    amountMicroUsd: 50_000n,
    lifetimeSeconds: 90,
    requoteKey: hexOf(id),
  }
}

async function reserve(id: Buffer, end?: 'post' | 'void'): Promise<void> {
  const ledger = createLedger()
  const requestId = hexOf(id)
  await bed.database.transaction(async (tx) => {
    expect(await ledger.reserve(tx, holdFor(id))).toMatchObject({ status: 'reserved' })
    if (end === 'post')
      await ledger.post(tx, { requestId, amountMicroUsd: 40_000n, evidence: { signed: true } })
    if (end === 'void') await ledger.void(tx, { requestId, reason: 'test' })
  })
}

async function acted(id: Buffer, daysAgo: number): Promise<void> {
  await bed.database.query(
    `insert into admin_action (actor, action, subject, details, done_at)
     values ('cli:test', 'requests.retry', '0x' || encode($1, 'hex'), '{}', now() - interval '1 day' * $2::int)`,
    [id, daysAgo],
  )
}

async function left(): Promise<readonly string[]> {
  const rows = await bed.database.query<{ request_id: Buffer }>('select request_id from orders')
  return rows.map(({ request_id }) => hexOf(request_id))
}

async function runRetention(retained: Parameters<typeof createRetention>[0]['settings'] = settings) {
  const [job] = createRetention({
    database: bed.database,
    settings: retained,
    metrics: createHttpMetrics({ service: 'quote-api' }),
    logger: createLogger({ service: 'quote-api', level: 'silent' }),
  })
  await job?.run({ fence: async () => {}, signal: new AbortController().signal })
}

/** Every row of every table that the ledger's migrations made. */
async function books(): Promise<string> {
  const tables = ['account', 'app_fee_claim', 'asset', 'chain_cursor', 'chain_event', 'checkpoint', 'hold']
  const more = [
    'hold_at_deposit',
    'key_load',
    'ledger_halt',
    'operator_action',
    'outbox',
    'policy',
    'policy_usage',
  ]
  const all = [...tables, ...more, 'statement_close', 'transfer', 'admin_action', 'api_key', 'api_key_secret']
  const rows = await Promise.all(
    all.map((table) =>
      bed.database.query<{ rows: string | null }>(
        `select string_agg(md5(row_to_json(t)::text), ' ' order by row_to_json(t)::text) as rows from ${table} t`,
      ),
    ),
  )
  return JSON.stringify(rows.map(([row], index) => [all[index], row?.rows]))
}

const old = { days: 400, status: 'success', updatedDays: 399 }

describe('goes once it is old enough', () => {
  test.each<[string, () => Promise<Buffer>]>([
    ['a quote that nobody paid', () => store({ days: 61.5, keptDays: 1 })],
    [
      'a request that was filled and paid for by its sponsor',
      async () => {
        const id = await store(old)
        await reserve(id, 'post')
        await settle(id, 'settled')
        await workOf(id, 'done')
        return id
      },
    ],
    [
      'a request that was refunded',
      async () => {
        const id = await store({ ...old, status: 'refund' })
        await reserve(id, 'void')
        await settle(id, 'refunded', 'refunded')
        await workOf(id, 'cancelled')
        return id
      },
    ],
    [
      'a quote by an address that nobody paid for as long',
      async () => {
        const id = await store({ days: 61.5, keptDays: 1 })
        await addressOf(id, { activeDays: 61 })
        return id
      },
    ],
    [
      'a request of which only dust is known',
      async () => {
        const id = await store({ days: 400 })
        await depositOf(id, 'ignored')
        return id
      },
    ],
    [
      'a request that an operator dealt with as long ago',
      async () => {
        const id = await store(old)
        await settle(id, 'settled')
        await acted(id, 201)
        return id
      },
    ],
  ])('%s', async (_what, make) => {
    const young = await store({ days: 1, keptDays: -29 })
    const id = await make()
    expect(await left()).toContain(hexOf(id))
    await runRetention()
    expect(await left()).toEqual([hexOf(young)])
    for (const table of ['settlement', 'deposit_seen', 'work_item', 'deposit_address'])
      expect(await bed.database.query(`select from ${table} where request_id = $1`, [id])).toEqual([])
  })

  test('a quote whose place a newer one took, and the newer one', async () => {
    const [older, newer] = [await store({ days: 90 }), await store({ days: 80 })]
    await bed.database.query('update orders set superseded_by = $2 where request_id = $1', [older, newer])
    await runRetention()
    expect(await left()).toEqual([])
  })
})

describe('stays, however old it is', () => {
  const with_ = (aged: Aged, more: (id: Buffer) => Promise<void>) => async () => {
    const id = await store(aged)
    await more(id)
    return id
  }
  test.each<[string, () => Promise<Buffer>]>([
    ['a quote below its age', () => store({ days: 59, keptDays: 1 })],
    ['a quote whose order may still be deposited for', () => store({ days: 400, keptDays: -1 })],
    ['a request that ended lately, though it is old', () => store({ ...old, updatedDays: 199 })],
    [
      'one with a deposit that nothing was decided about',
      with_({ days: 400 }, async (id) => void (await depositOf(id, 'seen'))),
    ],
    [
      'one with a deposit that a denied account sent',
      with_({ days: 400 }, async (id) => void (await depositOf(id, 'held'))),
    ],
    ['one that is owed a refund', with_(old, async (id) => void (await depositOf(id, 'refund_due')))],
    ...['filling', 'filled', 'refunding', 'parked'].map((stage): [string, () => Promise<Buffer>] => [
      `one that is ${stage}`,
      with_(old, (id) => settle(id, stage)),
    ]),
    ...['open', 'reported'].map((state): [string, () => Promise<Buffer>] => [
      `one with work that is ${state}`,
      with_(old, (id) => workOf(id, state)),
    ]),
    ['one whose sponsor holds money for it', with_(old, (id) => reserve(id))],
    [
      'one whose integrator is still to be told',
      with_(old, async (id) => {
        await bed.database.query(
          `insert into webhook_endpoint (api_key_id, url, sealed, pepper_id) values ($1, 'u', '\\x', 'v1')
           on conflict do nothing`,
          [sponsor.keyId],
        )
        await bed.database.query(
          `insert into webhook_delivery (event_id, api_key_id, request_id, body)
           values (gen_random_uuid(), $1, $2, '{}')`,
          [sponsor.keyId, id],
        )
      }),
    ],
    [
      'one of which a transaction was told that no block has',
      with_(old, async (id) => {
        await bed.database.query(
          `insert into said_transaction (request_id, chain_id, tx_hash) values ($1, 10, '0x')`,
          [id],
        )
      }),
    ],
    ['one whose address was used since', with_({ days: 400 }, (id) => addressOf(id, { activeDays: 59 }))],
    [
      'one at whose address money lies',
      with_({ days: 400 }, (id) => addressOf(id, { activeDays: 400, left: 'AMOUNT_TOO_LOW_TO_REFUND' })),
    ],
    ['one that an operator dealt with since', with_(old, (id) => acted(id, 199))],
  ])('%s', async (_what, make) => {
    const id = await make()
    await runRetention()
    expect(await left()).toEqual([hexOf(id)])
    const preview = await previewRetention(bed.database, settings)
    expect(preview.reduce((sum, { removable }) => sum + removable, 0)).toBe(0)
  })
})

test('O-183: each age counts alone: without one, what it is for stays for ever', async () => {
  const quote = await store({ days: 5_000 })
  const ended = await store({ ...old, days: 5_000, updatedDays: 4_900 })
  const config = loadConfig({ ENVIRONMENT: 'local' }, repositoryRoot)
  expect(createRetention({ ...jobParts(), settings: config.retention })).toEqual([])
  await runRetention({ quotesDays: undefined, requestsDays: 30 })
  expect(await left()).toEqual([hexOf(quote)])
  const another = await store({ ...old, days: 5_000, updatedDays: 4_900 })
  await runRetention({ quotesDays: 1, requestsDays: undefined })
  expect(await left()).toEqual([hexOf(another)])
  expect(ended).not.toEqual(another)
})

const jobParts = () => ({
  database: bed.database,
  metrics: createHttpMetrics({ service: 'quote-api' }),
  logger: createLogger({ service: 'quote-api', level: 'silent' }),
})

test('O-185: the books are untouched to the last row, add up, and tell the same statement', async () => {
  for (let index = 0; index < 6; index += 1) {
    const id = await store(old)
    await reserve(id, index % 2 === 0 ? 'post' : 'void')
    await settle(id, index % 2 === 0 ? 'settled' : 'refunded')
  }
  const open = await store(old)
  await reserve(open)
  const dayMs = 86_400_000
  const today = Math.floor(Date.now() / dayMs) * dayMs
  const period = { from: new Date(today - dayMs), to: new Date(today + dayMs) }
  const statement = () =>
    readStatement(bed.database, { wallet: sponsor.wallet, ...period, groups: ['request', 'user'] })
  // The first question for a period that is over is kept among the books.
  const told = await statement()
  expect(told.accounts[0]?.lines.length).toBeGreaterThan(3)
  const before = await books()
  const preview = await previewRetention(bed.database, settings)
  expect(preview).toMatchObject([{ what: 'request', removable: 6, open: 1 }])
  expect(await books()).toBe(before)
  await runRetention()
  expect(await left()).toEqual([hexOf(open)])
  expect(await books()).toBe(before)
  expect(await statement()).toEqual(told)
  expect(await bed.database.transaction((tx) => verifyLedger(tx, { depth: 'all' }))).toEqual([])
  const { heldMicroUsd } = await bed.database.transaction((tx) => createLedger().balance(tx, sponsor.wallet))
  expect(heldMicroUsd).toBeGreaterThanOrEqual(50_000n)
})

describe('while others work', () => {
  const page = { after: firstId, limit: 10 }

  test('O-184: a request that is locked is left, and keeps nothing else waiting', async () => {
    const [one, other] = [await store({ days: 100 }), await store({ days: 99 })]
    await bed.database.transaction(async (tx) => {
      await depositOf(one, 'seen', tx)
      await bed.database.transaction((own) => removePage(own, settings, page))
    })
    expect(await left()).toEqual([hexOf(one)])
    expect(other).not.toEqual(one)
  })

  test('O-184: a deposit that is stored between the look and the lock keeps its request', async () => {
    const id = await store({ days: 400 })
    await bed.database.transaction(async (tx) => {
      let looks = 0
      const interrupted: SqlTx = {
        async query<Row extends SqlRow>(...asked: Parameters<SqlTx['query']>) {
          const rows = await tx.query<Row>(...asked)
          looks += 1
          if (looks === 1) await depositOf(id, 'seen')
          return rows
        },
      }
      expect(await removePage(interrupted, settings, page)).toMatchObject({ quotes: 0, requests: 0 })
    })
    expect(await left()).toEqual([hexOf(id)])
  })

  test('a walk goes on where its last page ended, and looks at no more than a page', async () => {
    for (let index = 0; index < 7; index += 1) await store({ days: 100 - index })
    const kept = await store({ days: 95.5, keptDays: -1 })
    const sizes: number[] = []
    let after: Buffer | undefined = firstId
    while (after !== undefined) {
      const from: Buffer = after
      const { quotes, last } = await bed.database.transaction((tx) =>
        removePage(tx, settings, { after: from, limit: 3 }),
      )
      sizes.push(quotes)
      after = last
    }
    expect(sizes).toEqual([3, 2, 2, 0])
    expect(await left()).toEqual([hexOf(kept)])
  })
})

test('the command tells what would go and what is open, and deletes nothing', async () => {
  await store({ days: 100 })
  await store({ days: 90 })
  const parked = await store(old)
  await settle(parked, 'parked')
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const command = async (variables: Record<string, string>) => {
    lines.length = 0
    // Without a pepper the command would make one in the folder of the local network.
    const given = { ENVIRONMENT: 'local', DATABASE_URL: bed.connectionString, API_KEY_PEPPERS: pepperText }
    const all = { ...given, ...variables }
    const code = await runCli({
      words: ['retention', 'show'],
      actor: 'cli:test',
      print: keep,
      complain: keep,
      signal: new AbortController().signal,
      config: async () => ({ config: loadConfig(all, repositoryRoot), variables: all }),
    })
    return [code, ...lines]
  }
  expect(await command({ RETENTION_QUOTES_DAYS: '60', RETENTION_REQUESTS_DAYS: '200' })).toEqual([
    0,
    'Quotes that nobody paid are deleted after 60 days, requests that ended after 200 days.',
    expect.stringMatching(/^what +deleted +kept, still open +oldest$/),
    expect.stringMatching(/^quote +2 +0 +\d{4}-/),
    expect.stringMatching(/^request +0 +1 +-$/),
  ])
  expect(await command({})).toEqual([
    0,
    'Quotes that nobody paid are deleted never, requests that ended never.',
    'Nothing is old enough.',
  ])
  expect(await left()).toHaveLength(3)
})

test.each([
  ['RETENTION_REQUESTS_DAYS', '29'],
  ['RETENTION_QUOTES_DAYS', '0'],
  ['RETENTION_WEBHOOKS_DAYS', '31'],
  ['RETENTION_QUOTES_DAYS', 'soon'],
])('%s=%s stops the start', (name, value) => {
  expect(() => loadConfig({ ENVIRONMENT: 'local', [name]: value }, repositoryRoot)).toThrow(name)
})
