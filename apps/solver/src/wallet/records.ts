import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import type { Fence } from '@causeway/database'
import { readAppFeesOf } from './appFees.ts'
import { type Charge, reserve, settleCharges } from './budgets.ts'
import { type Exposure, expose, settleExposure } from './exposure.ts'
import { readSettlementKeys, type SettlementKey } from './paymentProofs.ts'
import { type KeptRecord, parseRecord, serializeRecord } from './signedRecord.ts'

/** The stop switch is thrown: nothing new is signed. */
export class StoppedError extends Error {
  constructor() {
    super('the stop switch is thrown')
    this.name = 'StoppedError'
  }
}

/** Another process has begun the same work. */
export class AlreadyBegunError extends Error {
  constructor(id: string) {
    super(`${id} was begun by another process`)
    this.name = 'AlreadyBegunError'
  }
}

/** The order is recovered on the hub: nothing is paid for it any more. */
export class OrderClosedError extends Error {
  constructor() {
    super('the order is recovered on the hub')
    this.name = 'OrderClosedError'
  }
}

/**
 * Everything that was ever signed for the fill wallets, in PostgreSQL. Each write of a record is fenced: a process that has
 * lost its lease writes nothing.
 */
export interface Records {
  /**
   * Records of a wallet on a chain that still need attention, by nonce: open ones, and settled ones whose nonce a
   * reorganization has freed again.
   * @param latestCount nonces below are used
   */
  active(wallet: string, chainId: number, latestCount: number): Promise<readonly KeptRecord[]>
  /** The newest attempt at a work item or chore. */
  latest(id: string): Promise<KeptRecord | undefined>
  /** All records that were signed for an order or a claim, oldest first. */
  ofPayment(paymentId: Hex): Promise<readonly KeptRecord[]>
  /** App fees that the fill of an order owes, in smallest units of its deposit's currency. */
  appFeesOf(orderId: Hex): Promise<bigint>
  /** Failed records that were not reported to the service, at most 100. */
  untold(wallet: string): Promise<readonly KeptRecord[]>
  /** The first nonce that neither the chain nor a record has used. */
  nextNonce(wallet: string, chainId: number, latestCount: number): Promise<number>
  /**
   * Keeps a new record and takes what it may cost from the budgets. Resolves when it would survive a power loss.
   * @throws StoppedError, OrderClosedError, AlreadyBegunError, BudgetSpentError, UnattestedError
   */
  begin(record: KeptRecord, beginning: Beginning): Promise<void>
  /**
   * @param more.costWei of what was mined: the gas that was reserved for it is corrected
   * @param more.charges what the change may cost beyond what was reserved. @throws BudgetSpentError
   */
  save(record: KeptRecord, fence: Fence, more?: SaveOptions): Promise<void>
  /** Number of a wallet's records that are not at their end. */
  openCount(wallet: string): Promise<number>
  /**
   * Keeps for ever that nothing is signed for an order any more. What was signed before goes on.
   * @returns all records that were signed for it
   */
  closeOrder(orderId: Hex): Promise<readonly KeptRecord[]>
  /** True after `closeOrder`. */
  isClosed(orderId: Hex): Promise<boolean>
  /** Keys under which the hub settles what was paid for an order, by id and attempt of its record. */
  settlementKeys(orderId: Hex): Promise<readonly SettlementKey[]>
}

export type Beginning = {
  readonly charges: readonly Charge[]
  /** All that was signed for the same payment id when this was judged. */
  readonly past: readonly KeptRecord[]
  /** Present for payments alone. */
  readonly exposure?: Exposure | undefined
  readonly fence: Fence
}

export type SaveOptions = {
  readonly costWei?: bigint | undefined
  readonly charges?: readonly Charge[]
}

type Row = { readonly record: unknown }

export function createRecords(database: SqlDatabase): Records {
  const read = async (condition: string, values: readonly unknown[]) =>
    (await database.query<Row>(`select record from signed_record where ${condition}`, values)).map(
      ({ record }) => parseRecord(record),
    )
  return {
    active: (wallet, chainId, latestCount) =>
      read(`wallet = $1 and chain_id = $2 and (outcome = 'open' or nonce >= $3) order by nonce, attempt`, [
        wallet,
        chainId,
        latestCount,
      ]),
    async latest(id) {
      const [record] = await read('id = $1 order by attempt desc limit 1', [id])
      return record
    },
    ofPayment: (paymentId) => read('payment_id = $1 order by created_at, attempt', [paymentId]),
    appFeesOf: (orderId) => readAppFeesOf(database, orderId),
    untold: (wallet) =>
      read(
        `wallet = $1 and not is_failure_reported and outcome in ('reverted', 'cancelled', 'lost')
         order by created_at limit 100`,
        [wallet],
      ),
    async nextNonce(wallet, chainId, latestCount) {
      const [row] = await database.query<{ next: bigint | null }>(
        'select max(nonce) + 1 as next from signed_record where wallet = $1 and chain_id = $2',
        [wallet, chainId],
      )
      return Math.max(latestCount, Number(row?.next ?? 0n))
    },
    begin: (record, beginning) => database.transaction((tx) => begin(tx, record, beginning)),
    async save(record, fence, { costWei, charges = [] } = {}) {
      await database.transaction(async (tx) => {
        await fence(tx)
        await update(tx, record)
        await reserve(tx, record, charges)
        if (record.outcome !== 'open') await settleCharges(tx, record, costWei)
        await settleExposure(tx, record)
      })
    },
    async closeOrder(orderId) {
      await database.transaction(async (tx) => {
        await lockPayment(tx, orderId)
        await tx.query('insert into closed_order (order_id) values ($1) on conflict do nothing', [orderId])
      })
      return read('payment_id = $1 order by created_at, attempt', [orderId])
    },
    isClosed: (orderId) => isClosedOrder(database, orderId),
    settlementKeys: (orderId) => readSettlementKeys(database, orderId),
    async openCount(wallet) {
      const [row] = await database.query<{ count: bigint }>(
        `select count(*) as count from signed_record where wallet = $1 and outcome = 'open'`,
        [wallet],
      )
      return Number(row?.count ?? 0n)
    },
  }
}

/** Sums that payments of the last 24 hours took, by chain and currency; gas apart. In smallest units. */
export async function readDayOutflows(
  database: Pick<SqlDatabase, 'query'>,
): Promise<readonly { readonly chainId: number; readonly currency: string; readonly amount: bigint }[]> {
  const rows = await database.query<{ chain_id: bigint; currency: string; amount: bigint }>(
    `select chain_id, part ->> 'currency' as currency, sum((part ->> 'amount')::numeric)::numeric as amount
     from signed_record, json_array_elements(record -> 'payments') part
     where outcome = 'done' and kind in ('fill', 'refund', 'claim')
       and created_at > clock_timestamp() - interval '1 day'
     group by 1, 2`,
  )
  return rows.map(({ chain_id, currency, amount }) => ({ chainId: Number(chain_id), currency, amount }))
}

/** Values of the columns that `begin` inserts, in their order: `payment_id` is the record's `orderId`. */
function columnsOf(record: KeptRecord): readonly unknown[] {
  const { id, attempt, wallet, chainId, nonce, kind, orderId, outcome, failureReported } = record
  const stateColumns = [outcome, failureReported, serializeRecord(record)]
  return [id, attempt, wallet, chainId, nonce, kind, orderId ?? null, ...stateColumns]
}

/** Lets one transaction at a time decide about an order or claim, over all chains and processes. */
async function lockPayment(tx: SqlTx, paymentId: Hex): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [paymentId])
}

async function isClosedOrder(database: Pick<SqlDatabase, 'query'>, orderId: Hex): Promise<boolean> {
  const rows = await database.query('select from closed_order where order_id = $1', [orderId])
  return rows.length > 0
}

/** Compares the records of an order or claim with those it was judged by. @throws AlreadyBegunError, OrderClosedError */
async function requireUnchanged(tx: SqlTx, paymentId: Hex, past: readonly KeptRecord[]): Promise<void> {
  await lockPayment(tx, paymentId)
  if (await isClosedOrder(tx, paymentId)) throw new OrderClosedError()
  const rows = await tx.query<{ id: string; attempt: number; outcome: string }>(
    'select id, attempt, outcome from signed_record where payment_id = $1',
    [paymentId],
  )
  const fingerprint = (records: readonly { id: string; attempt: number; outcome: string }[]) =>
    records
      .map(({ id, attempt, outcome }) => `${id} ${attempt} ${outcome}`)
      .sort()
      .join()
  if (fingerprint(rows) !== fingerprint(past)) throw new AlreadyBegunError(paymentId)
}

/**
 * All in one transaction: a record without its charges, or a payment that passes a limit, is never kept.
 * Locks are taken in this order: lease, stop switch, order or claim, budgets, exposure.
 * @throws as `Records.begin`
 */
async function begin(tx: SqlTx, record: KeptRecord, beginning: Beginning): Promise<void> {
  const { charges, past, exposure, fence } = beginning
  await fence(tx)
  // The shared lock makes a stop wait for this transaction: once it is thrown, nothing more is signed.
  const [stop] = await tx.query<{ is_stopped: boolean }>('select is_stopped from stop_switch for share')
  if (stop?.is_stopped === true) throw new StoppedError()
  if (record.orderId !== undefined) await requireUnchanged(tx, record.orderId, past)
  const rows = await tx.query(
    `insert into signed_record (id, attempt, wallet, chain_id, nonce, kind, payment_id, outcome,
       is_failure_reported, record)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing returning id`,
    columnsOf(record),
  )
  if (rows.length === 0) throw new AlreadyBegunError(record.id)
  await reserve(tx, record, charges)
  if (exposure !== undefined) await expose(tx, record, exposure)
}

async function update(tx: SqlTx, record: KeptRecord): Promise<void> {
  const { id, attempt, outcome, failureReported } = record
  await tx.query(
    `update signed_record set outcome = $3, is_failure_reported = $4, record = $5, updated_at = clock_timestamp()
     where id = $1 and attempt = $2`,
    [id, attempt, outcome, failureReported, serializeRecord(record)],
  )
}
