import type { SqlTx } from '@causeway/core'
import type { LedgerFinding } from '@causeway/ledger'

/**
 * Finds requests whose input, fees, debit or payment are not what their deposit gives (at most 20). Reads only.
 * @source rule L-10
 */
export function findBookedDeposits(tx: SqlTx): Promise<readonly LedgerFinding[]> {
  return findRows(tx, selectDiffering, {
    invariant: 'I10',
    problem: 'A request booked something else than its deposit.',
  })
}

/**
 * Finds deposits that left or came back to their chain and are booked otherwise (at most 20). Reads only.
 * @source rule L-26
 */
export function findUnbookedLosses(tx: SqlTx): Promise<readonly LedgerFinding[]> {
  return findRows(tx, selectUnbookedLosses, {
    invariant: 'I11',
    problem: 'A deposit that left its chain is not booked as what it is.',
  })
}

/** Makes a finding of each row that the query selects; its columns are the figures, as text. */
async function findRows(
  tx: SqlTx,
  select: string,
  finding: Pick<LedgerFinding, 'invariant' | 'problem'>,
): Promise<readonly LedgerFinding[]> {
  const rows = await tx.query<{ figures: LedgerFinding['figures'] }>(`
    select (select json_object_agg(key, value) from json_each_text(row_to_json(found))) as figures
    from (${select}) found`)
  return rows.map(({ figures }) => ({ ...finding, figures }))
}

/**
 * Compares the books of every settled request with its deposit. `bound` joins them, `due` computes what the
 * request owes by the rules that `bookedFor` and `paidFor` have in code, and `booked` adds what the books
 * have. The rules are written again in SQL, so that a bug in one is found by the other. Settlements older
 * than `bookedInput` are left out.
 *
 * `basis` is the input that fees, debit and payment were quoted for; no input above it is booked. For a lower
 * input the debit shrinks in proportion, rounded up by `+ basis - 1`. The payment then lies between `least`,
 * which `least_input` buys, and `expected`. `bookedInput` is stored for fills alone, whose deposit is not
 * below `least_input`, so the divisor is above 0. Where no work item asks to pay, no payment is compared.
 */
const selectDiffering = `
  with bound as (
    select s.request_id, d.amount as deposited, o.quoted, (o.quoted ->> 'feeBasis')::numeric as basis,
      (s.evidence ->> 'bookedInput')::numeric as input,
      (o.order_data -> 'inputs' -> 0 -> 'payment' ->> 'amount')::numeric as least_input,
      (o.order_data -> 'output' -> 'payments' -> 0 ->> 'minimumAmount')::numeric as least,
      (o.order_data -> 'output' -> 'payments' -> 0 ->> 'expectedAmount')::numeric as expected
    from settlement s join deposit_seen d on d.id = s.deposit_id join orders o on o.request_id = s.request_id
    where s.stage = 'settled' and s.evidence ->> 'bookedInput' is not null),
  due as (
    select b.*, fees.owed as fees_owed, coalesce(div(p.debit_micro_usd * b.input + b.basis - 1, b.basis), 0) as debit_owed,
      case when b.input >= b.basis then b.expected
        else b.least + div((b.expected - b.least) * greatest(b.input - b.least_input, 0), b.basis - b.least_input)
      end as payment_owed
    from bound b left join request_sponsorship p on p.request_id = b.request_id
    cross join lateral (
      select coalesce(sum(div(b.input * (fee ->> 'feeBps')::numeric, 10000)), 0) as owed
      from json_array_elements(b.quoted -> 'appFees') fee) fees),
  booked as (
    select d.*, coalesce(f.amount, 0) as fees_accrued, coalesce(h.posted_amount, 0) as debited,
      coalesce((w.payload -> 'payments' -> 0 ->> 'amount')::numeric, d.payment_owed) as asked_to_pay
    from due d
    left join lateral (
      select sum(t.amount) as amount from transfer t where t.request_id = d.request_id and t.code = 'app_fee') f on true
    left join hold h on h.request_id = d.request_id and h.state = 'posted'
    left join work_item w on w.request_id = d.request_id and w.kind = 'fill')
  select '0x' || encode(request_id, 'hex') as request, deposited, input as booked, fees_accrued, fees_owed, debited,
    debit_owed, asked_to_pay, payment_owed
  from booked
  where input <> least(deposited, basis) or fees_accrued <> fees_owed or debited <> debit_owed
    or asked_to_pay <> payment_owed
  limit 20`

/** SQL: two rows of `deposit_seen` are equal except for block and index. */
const isAlike = (one: string, other: string) =>
  `(${one}.chain_id, ${one}.tx_hash, ${one}.request_id, ${one}.currency, ${one}.amount)
    = (${other}.chain_id, ${other}.tx_hash, ${other}.request_id, ${other}.currency, ${other}.amount)`

/**
 * SQL: position of a deposit among equal ones of its transaction. The index itself is no identity: it counts events of a
 * block, so that it changes when a reorganization puts the transaction into another one.
 */
const ordinalOf = (row: string) =>
  `(select count(*) from deposit_seen e where ${isAlike('e', row)} and e.block_hash = ${row}.block_hash
    and e.onchain_index::numeric < ${row}.onchain_index::numeric)`

/** SQL: rows `d` and `t` of `deposit_seen` have the same deposit in two blocks. */
export const isSameDeposit = `(${isAlike('t', 'd')} and t.block_hash <> d.block_hash
  and ${ordinalOf('t')} = ${ordinalOf('d')})`

/**
 * SQL: a fill or a refund was paid for deposit `d`, and no block of its chain has the deposit any more. The
 * job that books losses and returns finds them by this condition, too.
 * @source rule L-25
 */
export const isLostDeposit = `(d.state = 'orphaned'
  and not exists (select from deposit_seen t where ${isSameDeposit} and t.state <> 'orphaned')
  and exists (select from work_item w where w.request_id = d.request_id and w.state = 'done'
    and (w.kind = 'refund' and w.subject = d.id::text
      or w.kind = 'fill' and exists (select from settlement s where s.deposit_id = d.id))))`

/** Age from which a loss that is not booked counts as forgotten; the job may still book a younger one. */
const bookedWithin = `interval '5 minutes'`

/**
 * Deposits whose booked loss differs from their state. `loss_turns` counts bookings of losses and returns,
 * so it is odd while a loss is booked. One commit writes it and the booking, so they must always agree; the
 * state of the deposit must agree with it after `bookedWithin`.
 */
const selectUnbookedLosses = `
  with booked as (
    select evidence ->> 'depositId' as deposit,
      sum(case code when 'deposit_lost' then amount else -amount end) as amount
    from transfer where code in ('deposit_lost', 'deposit_found') group by 1)
  select d.id as deposit, '0x' || encode(d.request_id, 'hex') as request, d.state, d.amount as deposited,
    coalesce(b.amount, 0) as booked
  from deposit_seen d left join booked b on b.deposit = d.id::text
  where (d.state = 'orphaned' or d.loss_turns > 0)
    and (coalesce(b.amount, 0) <> case d.loss_turns % 2 when 1 then d.amount else 0 end
      or (d.loss_turns % 2 = 1) <> ${isLostDeposit} and d.updated_at < clock_timestamp() - ${bookedWithin})
  limit 20`
