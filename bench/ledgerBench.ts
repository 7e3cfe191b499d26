// P9: reservations of one hot sponsor as the service makes them (batches, policy and caps decided, one commit
// per batch) against the plain single-statement reservation on 4 connections; and again on a long history.
import type { HoldRequest } from '@causeway/core'
import { createDatabase, type Database, startTestDatabase } from '@causeway/database'
import {
  createLedger,
  ledgerMigrations,
  openAccount,
  transferId,
  verifyLedger,
  writeCheckpoints,
  writeTransfer,
} from '../packages/ledger/src/index.ts'
import { median } from './load.ts'
import type { BenchRow } from './row.ts'

const rounds = 5
const batchSize = 128
const batchesPerRound = 40
const singlesPerRound = 1_200
const singleConnections = 4
const pastTransfers = 1_000_000
const goal = 4

/** Balance for everything that a run reserves, with the default caps in force. */
const balanceMicroUsd = 10n ** 15n

/** The conditional update and both inserts in one statement: the cheapest reservation without a batch. */
const singleReservation = `
  with taken as (
    update account set debits_pending = debits_pending + $2, version = version + 1
    where id = $3 and not frozen and credits_posted - debits_posted - debits_pending >= $2 returning id),
  t as (
    insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, code, request_id, actor, body_hash)
    select $1, id, $4, 1, $2, 'pending', 'sponsor_hold', $5, 'bench', sha256($5) from taken returning id)
  insert into hold (id, request_id, attempt, sponsor, solver, api_key_id, user_key, recipient_key,
    origin_chain_id, destination_chain_id, components, requote_key, amount, lifetime_seconds, expires_at, created_at)
  select id, $5, 0, $3, $4, 'single', $6, $6, 8453, 10, '{execution}', $6, $2, 90,
    clock_timestamp() + interval '90 seconds', clock_timestamp() from t returning id`

/** @throws Error when a reservation is refused: speed alone is nothing */
export async function benchLedger(): Promise<readonly BenchRow[]> {
  const bed = await startTestDatabase({
    durable: true,
    directories: [{ name: 'ledger', path: ledgerMigrations }],
    pool: { statementTimeoutMs: 600_000 },
  })
  const singles = createDatabase({ connectionString: bed.connectionString, poolSize: singleConnections })
  try {
    const { batch, single } = await prepare(bed.database, singles)
    const fresh = await measure(batch, single)
    await writeHistory(bed.database)
    const grown = await measure(batch, single)
    const auditSeconds = await timeAudit(bed.database)
    const speeds = ({ batched, alone }: Speeds) =>
      `${batched.toFixed(0)}/s in batches of ${batchSize}, ${alone.toFixed(0)}/s one by one on ${singleConnections} connections`
    return [
      {
        id: 'P9',
        name: 'ledger reservations on one hot sponsor against single-statement ones',
        value: speeds(fresh),
        limit: `≥ ${goal}`,
        ratio: fresh.batched / fresh.alone,
        goal,
        atLeast: true,
      },
      {
        id: 'P9-growth',
        name: `ledger reservations after ${pastTransfers.toLocaleString('en')} past transfers against those before`,
        value: speeds(grown),
        limit: '≥ 0.8',
        ratio: grown.batched / fresh.batched,
        goal: 0.8,
        atLeast: true,
      },
      {
        id: 'P9-audit',
        name: `all invariants replayed over ${pastTransfers.toLocaleString('en')} past transfers, hash chain included`,
        value: `${auditSeconds.toFixed(1)} s`,
        limit: '≤ 1 × 600 s, the time of one statement of the audit',
        ratio: auditSeconds / 600,
        goal: 1,
        atLeast: false,
      },
    ]
  } finally {
    await singles.close()
    await bed.stop()
  }
}

/** History that was written in bulk records no true balances: what is found there is not looked at. */
async function timeAudit(database: Database): Promise<number> {
  const startedAt = process.hrtime.bigint()
  await writeCheckpoints(database)
  await verifyLedger(database)
  return Number(process.hrtime.bigint() - startedAt) / 1e9
}

type Work = () => Promise<number>
type Speeds = { readonly batched: number; readonly alone: number }

async function prepare(database: Database, singles: Database): Promise<{ batch: Work; single: Work }> {
  const ledger = createLedger()
  const sponsor = await openAccount(database, { kind: 'sponsor', owner: 'hot' })
  const solver = await openAccount(database, { kind: 'solver_earned', owner: '0' })
  await writeTransfer(database, {
    id: transferId('adjustment', 'bench'),
    kind: 'posted',
    debitAccount: await openAccount(database, { kind: 'adjustment', owner: 'bench' }),
    creditAccount: sponsor,
    amount: balanceMicroUsd,
    code: 'adjustment',
    actor: 'bench',
  })
  let count = 0
  const nextId = () => {
    count += 1
    return `${transferId('a', String(count))}${transferId('b', String(count))}`.replaceAll('-', '')
  }

  return {
    /** One batch in flight at a time, as the group commit of the service sends them. */
    async batch() {
      for (let index = 0; index < batchesPerRound; index += 1) {
        // A key of its own per batch: the cap on unpinned holds of one key stays out of the way.
        const requests = Array.from({ length: batchSize }, () => requestOf(nextId(), `key${count >> 9}`))
        const outcomes = await database.transaction((tx) => ledger.reserveBatch(tx, requests))
        if (outcomes.some(({ status }) => status !== 'reserved')) throw new Error('a reservation was refused')
      }
      return batchesPerRound * batchSize
    },
    async single() {
      const each = singlesPerRound / singleConnections
      const lane = async () => {
        for (let index = 0; index < each; index += 1) {
          const request = Buffer.from(nextId(), 'hex')
          const values = [transferId('single', String(count)), 1_000n, sponsor, solver, request, `u${count}`]
          const rows = await singles.query(singleReservation, values)
          if (rows.length !== 1) throw new Error('a reservation was refused')
        }
      }
      await Promise.all(Array.from({ length: singleConnections }, lane))
      return singlesPerRound
    },
  }
}

function requestOf(id: string, apiKeyId: string): HoldRequest {
  const user = `0x${id.slice(0, 40)}`
  return {
    requestId: `0x${id}`,
    sponsor: 'hot',
    apiKeyId,
    user,
    recipient: user,
    originChainId: 8453,
    destinationChainId: 10,
    components: ['execution', 'relay'],
    amountMicroUsd: 1_000n,
    lifetimeSeconds: 90,
    requoteKey: id,
  }
}

/** Median speeds of alternating rounds, after one of each that is not counted. */
async function measure(batch: Work, single: Work): Promise<Speeds> {
  const batched: number[] = []
  const alone: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const [first, second] = [await speedOf(batch), await speedOf(single)]
    if (round === 0) continue
    batched.push(first)
    alone.push(second)
  }
  return { batched: median(batched), alone: median(alone) }
}

async function speedOf(work: Work): Promise<number> {
  const startedAt = process.hrtime.bigint()
  const done = await work()
  return (done * 1e9) / Number(process.hrtime.bigint() - startedAt)
}

/** Holds that were made and voided, in bulk: what a sponsor leaves behind over time. */
async function writeHistory(database: Database): Promise<void> {
  const perStatement = 50_000
  for (let from = 0; from < pastTransfers / 2; from += perStatement) {
    await database.query(
      `with ids as (
         select ledger_transfer_id('past', n::text) as id, sha256(('past' || n)::bytea) as request
         from generate_series($1::int, $1 + $2 - 1) n),
       a as (select id from account where kind = 'sponsor' and owner = 'hot'),
       s as (select id from account where kind = 'solver_earned' and owner = '1'),
       made as (
         insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, code, request_id, actor,
           body_hash, debit_after)
         select i.id, a.id, s.id, 1, 1, 'pending', 'sponsor_hold', i.request, 'bench', i.request, 0
         from ids i, a, s),
       ended as (
         insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, pending_id, code,
           request_id, actor, body_hash, debit_after)
         select ledger_transfer_id('resolve', i.id::text), a.id, s.id, 1, 0, 'void', i.id, 'sponsor_void',
           i.request, 'bench', i.request, 0
         from ids i, a, s)
       insert into hold (id, request_id, attempt, sponsor, solver, api_key_id, user_key, recipient_key,
         origin_chain_id, destination_chain_id, components, requote_key, amount, state, lifetime_seconds,
         expires_at, created_at, resolved_at)
       select i.id, i.request, 0, a.id, s.id, 'past', 'u' || encode(substr(i.request, 1, 3), 'hex'), 'r', 8453, 10,
         '{execution}', 'past', 1, 'voided', 90, clock_timestamp(), clock_timestamp(), clock_timestamp()
       from ids i, a, s`,
      [from, perStatement],
    )
  }
  // A past that grew over months was vacuumed and written out on the way.
  await database.query('vacuum analyze transfer, hold, account, key_load')
  await database.query('checkpoint')
}
