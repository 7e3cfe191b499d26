import type { Invariant } from './finding.ts'

/**
 * An SQL statement that returns one row per violation of an invariant; its columns become the figures of the
 * finding. Each check is one statement, so that it sees one snapshot. Some return 20 rows at most. A transfer
 * of the kind `posted` moves money at once. A `pending` one holds it, until one `post`, `void` or `expire`
 * (its `pending_id`) ends it; of these only `post` moves money, by its own amount. docs/concepts/ledger.md
 * describes I1 to I9.
 */
export type InvariantCheck = {
  readonly invariant: Invariant
  readonly problem: string
  /** True if it replays all history; the others read only counters and open rows. */
  readonly isReplaying: boolean
  readonly sql: string
}

const balanced: InvariantCheck = {
  invariant: 'I1',
  problem: 'Debits and credits of an asset differ.',
  isReplaying: false,
  // A hold is pending on the sponsor's account alone, so that reserving changes one row. Pending debits
  // therefore exceed pending credits by `held`, the sum of the holds. Asset 1 is that of sponsors' money.
  sql: `
    with sums as (
      select asset_id, sum(debits_posted) as debits_posted, sum(credits_posted) as credits_posted,
        sum(debits_pending) as debits_pending, sum(credits_pending) as credits_pending
      from account group by asset_id),
    held as (select coalesce(sum(amount), 0) as amount from hold where state = 'reserved')
    select s.*, case when s.asset_id = 1 then h.amount else 0 end as held
    from sums s, held h
    where s.debits_posted <> s.credits_posted
      or s.debits_pending <> s.credits_pending + case when s.asset_id = 1 then h.amount else 0 end`,
}

const countersReplay: InvariantCheck = {
  invariant: 'I2',
  problem: 'The counters of an account are not the sum of its transfers.',
  isReplaying: true,
  // dp, cp: debits and credits posted; dh, ch: debits and credits that are still held (pending). A sponsor's
  // hold is no credit, as in `balanced`.
  sql: `
    with open_pending as (
      select p.* from transfer p
      where p.kind = 'pending' and not exists (select from transfer r where r.pending_id = p.id)),
    sums as (
      select account_id, sum(dp) as dp, sum(cp) as cp, sum(dh) as dh, sum(ch) as ch from (
        select debit_account as account_id, amount as dp, 0::numeric as cp, 0::numeric as dh, 0::numeric as ch
          from transfer where kind in ('posted', 'post')
        union all select credit_account, 0, amount, 0, 0 from transfer where kind in ('posted', 'post')
        union all select debit_account, 0, 0, amount, 0 from open_pending
        union all select credit_account, 0, 0, 0, amount from open_pending where code <> 'sponsor_hold'
      ) parts group by account_id)
    select a.id as account, a.kind, a.owner, a.debits_posted, coalesce(s.dp, 0) as debits_replayed,
      a.credits_posted, coalesce(s.cp, 0) as credits_replayed, a.debits_pending,
      coalesce(s.dh, 0) as debits_open, a.credits_pending, coalesce(s.ch, 0) as credits_open
    from account a left join sums s on s.account_id = a.id
    where (a.debits_posted, a.credits_posted, a.debits_pending, a.credits_pending)
      is distinct from (coalesce(s.dp, 0), coalesce(s.cp, 0), coalesce(s.dh, 0), coalesce(s.ch, 0))`,
}

const balancesReplay: InvariantCheck = {
  invariant: 'I2',
  problem: 'A transfer records another balance than its account had after it.',
  isReplaying: true,
  // A post frees its whole pending amount and takes what it posts: the change is their difference. The
  // recorded balance is null where the transfer does not change what the account may spend. Only accounts
  // that credits raise (`C`) are replayed.
  sql: `
    with changes as (
      select t.debit_account as account_id, t.seq, t.debit_after as recorded,
        coalesce(p.amount, 0) - t.amount as change
      from transfer t left join transfer p on p.id = t.pending_id where t.debit_after is not null
      union all
      select t.credit_account, t.seq, t.credit_after, t.amount from transfer t where t.credit_after is not null),
    replayed as (
      select c.*, sum(change) over (partition by account_id order by seq) as balance
      from changes c join account a on a.id = c.account_id where a.normal_side = 'C')
    select account_id as account, seq as transfer_seq, recorded, balance as replayed
    from replayed where recorded <> balance order by seq limit 20`,
}

const nothingOverdrawn: InvariantCheck = {
  invariant: 'I3',
  problem: 'A limited account is overdrawn.',
  isReplaying: false,
  // `limited` is set for the kinds of accounts that may not spend more than they have.
  sql: `
    select a.id as account, a.kind, a.owner, ledger_available(a) as available
    from account a where limited and ledger_available(a) < 0`,
}

const holdsAreHeld: InvariantCheck = {
  invariant: 'I4',
  problem: 'What a sponsor has held is not the sum of its holds.',
  isReplaying: false,
  sql: `
    with held as (select sponsor, sum(amount) as amount from hold where state = 'reserved' group by sponsor)
    select a.id as account, a.owner, a.debits_pending, coalesce(h.amount, 0) as held
    from account a left join held h on h.sponsor = a.id
    where a.kind = 'sponsor' and a.debits_pending <> coalesce(h.amount, 0)`,
}

const loadsAreHeld: InvariantCheck = {
  invariant: 'I4',
  problem: 'The load of a key is not the sum of its unpinned holds.',
  isReplaying: false,
  sql: `
    with held as (
      select sponsor, api_key_id, count(*) as holds, sum(amount) as amount,
        coalesce(sum(amount) filter (where unsettled), 0) as unsettled
      from hold where state = 'reserved' and not pinned group by sponsor, api_key_id)
    select coalesce(l.sponsor, h.sponsor) as sponsor, coalesce(l.api_key_id, h.api_key_id) as api_key,
      coalesce(l.holds, 0) as load_holds, coalesce(h.holds, 0) as holds,
      coalesce(l.amount, 0) as load_amount, coalesce(h.amount, 0) as amount,
      coalesce(l.unsettled_amount, 0) as load_unsettled, coalesce(h.unsettled, 0) as unsettled
    from key_load l full join held h on h.sponsor = l.sponsor and h.api_key_id = l.api_key_id
    where (coalesce(l.holds, 0), coalesce(l.amount, 0), coalesce(l.unsettled_amount, 0))
      is distinct from (coalesce(h.holds, 0), coalesce(h.amount, 0), coalesce(h.unsettled, 0))`,
}

const resolvedOnce: InvariantCheck = {
  invariant: 'I5',
  problem: 'A hold and the transfers that made and ended it disagree.',
  isReplaying: true,
  // A hold has the id of the pending transfer that made it, and at most one transfer resolves that.
  sql: `
    with resolved as (
      select pending_id, count(*) as resolvers, min(kind) as kind, sum(amount) as amount
      from transfer where pending_id is not null group by pending_id)
    select coalesce(h.id, p.id) as hold, h.state, h.amount, p.amount as pending_amount, h.posted_amount,
      coalesce(r.resolvers, 0) as resolvers, r.kind as resolver, r.amount as resolved_amount
    from (select * from transfer where kind = 'pending' and code = 'sponsor_hold') p
    full join hold h on h.id = p.id
    left join resolved r on r.pending_id = coalesce(h.id, p.id)
    where h.id is null or p.id is null or h.amount <> p.amount or coalesce(r.resolvers, 0) > 1
      or h.state <> case r.kind when 'post' then 'posted' when 'void' then 'voided'
        when 'expire' then 'expired' else 'reserved' end
      or (h.state = 'posted' and h.posted_amount <> r.amount) limit 20`,
}

const topUpsCredited: InvariantCheck = {
  invariant: 'I6',
  problem: 'A final top-up and the credits for it disagree.',
  isReplaying: true,
  // Exactly one credit: the post to the wallet that the top-up names, or else to suspense. A reversal takes
  // the money back by a transfer of its own, so the credit of a reversed top-up remains.
  sql: `
    with credits as (
      select t.chain_event_id, count(*) as credits, sum(t.amount) as amount
      from transfer t join account a on a.id = t.credit_account
      where (a.kind = 'sponsor' and t.kind = 'post' and t.code = 'deposit_post')
        or (a.kind = 'suspense' and t.kind = 'posted')
      group by t.chain_event_id)
    select coalesce(e.id, c.chain_event_id) as chain_event, e.state, e.value,
      coalesce(c.credits, 0) as credits, coalesce(c.amount, 0) as credited
    from (select * from chain_event where state in ('final', 'reversed')) e
    full join credits c on c.chain_event_id = e.id
    where e.id is null or c.credits is distinct from 1 or c.amount <> e.value limit 20`,
}

const custodyMirrorsChain: InvariantCheck = {
  invariant: 'I7',
  problem: 'Custody is not what final top-ups brought less what was paid out.',
  isReplaying: true,
  // A reversed top-up is in neither sum: its event is final no more, and its reversal is no payout.
  sql: `
    with arrived as (
      select chain_id || ':0x' || encode(token, 'hex') as owner, sum(value) as amount
      from chain_event where state = 'final' group by 1),
    paid as (
      select credit_account, sum(amount) as amount from transfer
      where kind in ('posted', 'post') and code not in ('reversal', 'reversal_loss') group by 1)
    select a.id as account, a.owner, a.debits_posted - a.credits_posted as custody,
      coalesce(v.amount, 0) as arrived, coalesce(p.amount, 0) as paid_out
    from account a left join arrived v on v.owner = a.owner left join paid p on p.credit_account = a.id
    where a.kind = 'custody'
      and a.debits_posted - a.credits_posted <> coalesce(v.amount, 0) - coalesce(p.amount, 0)`,
}

const clearingIsPending: InvariantCheck = {
  invariant: 'I7',
  problem: 'What waits for its payout is not the sum of the pending claims.',
  isReplaying: false,
  sql: `
    with waiting as (
      select asset_id, sum(ledger_available(a)) as amount from account a
      where kind = 'payout_clearing' group by asset_id),
    claimed as (
      select asset_id, sum(amount) as amount from app_fee_claim where status = 'pending' group by asset_id)
    select coalesce(w.asset_id, c.asset_id) as asset, coalesce(w.amount, 0) as waiting,
      coalesce(c.amount, 0) as claimed
    from waiting w full join claimed c on c.asset_id = w.asset_id
    where coalesce(w.amount, 0) <> coalesce(c.amount, 0)`,
}

const clearingEmpties: InvariantCheck = {
  invariant: 'I7',
  problem: 'A payout is older than a day and not seen on its chain.',
  isReplaying: false,
  sql: `
    select '0x' || encode(claim_id, 'hex') as claim, wallet, asset_id as asset, amount
    from app_fee_claim where status = 'pending' and created_at <= clock_timestamp() - interval '1 day' limit 20`,
}

const claimsMoveOnce: InvariantCheck = {
  invariant: 'I7',
  problem: 'A claim and the transfers that opened and ended it disagree.',
  isReplaying: true,
  // `fits`: a claim moves from `app_fee` to `payout_clearing`, and its end from there to `app_fee_due` if it
  // was paid, else back. If the lowest and the highest wallet of its transfers are the claim's, all are.
  sql: `
    with moved as (
      select t.request_id as claim_id,
        count(*) filter (where t.code = 'claim') as opened,
        sum(t.amount) filter (where t.code = 'claim') as amount,
        count(*) filter (where t.code <> 'claim') as ended,
        coalesce(sum(t.amount) filter (where t.code <> 'claim'), 0) as ended_amount,
        min(t.code) filter (where t.code <> 'claim') as code,
        bool_and(case when t.code = 'claim' then d.kind = 'app_fee' and c.kind = 'payout_clearing'
          else d.kind = 'payout_clearing'
            and c.kind = case t.code when 'claim_paid' then 'app_fee_due' else 'app_fee' end end) as fits,
        min(coalesce(case when d.kind = 'app_fee' then d.owner end,
          case when c.kind = 'app_fee' then c.owner end)) as first_wallet,
        max(coalesce(case when d.kind = 'app_fee' then d.owner end,
          case when c.kind = 'app_fee' then c.owner end)) as last_wallet
      from transfer t join account d on d.id = t.debit_account join account c on c.id = t.credit_account
      where d.kind = 'payout_clearing' or c.kind = 'payout_clearing' group by 1)
    select '0x' || encode(coalesce(f.claim_id, m.claim_id), 'hex') as claim, f.status, f.amount, m.opened,
      m.amount as opened_amount, m.ended, m.ended_amount, m.code
    from app_fee_claim f full join moved m on m.claim_id = f.claim_id
    where f.claim_id is null or m.claim_id is null or not m.fits or m.opened <> 1 or m.amount <> f.amount
      or m.first_wallet <> f.wallet or m.last_wallet <> f.wallet
      or m.ended <> case f.status when 'pending' then 0 else 1 end
      or m.ended_amount <> case f.status when 'pending' then 0 else f.amount end
      or m.code <> 'claim_' || f.status
    limit 20`,
}

const postedWithinHold: InvariantCheck = {
  invariant: 'I8',
  problem: 'A request posted more than it held.',
  isReplaying: true,
  // All attempts of a request hold the same amount, and at most one of them is posted.
  sql: `
    with posted as (
      select request_id, sum(amount) as amount from transfer where code = 'sponsor_post' group by request_id)
    select '0x' || encode(p.request_id, 'hex') as request, p.amount as posted, max(h.amount) as held
    from posted p left join hold h on h.request_id = p.request_id
    group by p.request_id, p.amount having max(h.amount) is null or p.amount > max(h.amount) limit 20`,
}

const usageIsHeld: InvariantCheck = {
  invariant: 'I9',
  problem: 'The usage of a policy is not the sum of what it allowed.',
  isReplaying: true,
  // `ledger_usage_rows` lists the sums in which a hold counts: its users and all users, of its day and ever.
  // A hold counts if a policy allowed it, with its debit once it is posted, and no more once it is voided or
  // expired.
  sql: `
    with counted as (
      select h.api_key_id, r.subject, r.window_start, sum(coalesce(h.posted_amount, h.amount)) as used,
        count(*) as used_count
      from hold h, ledger_usage_rows(h.user_key, h.recipient_key, h.created_at) r
      where h.policy_version is not null and h.state in ('reserved', 'posted') group by 1, 2, 3)
    select coalesce(u.api_key_id, c.api_key_id) as api_key, coalesce(u.subject, c.subject) as subject,
      coalesce(u.window_start, c.window_start) as window_start,
      coalesce(u.used, 0) as used, coalesce(c.used, 0) as held,
      coalesce(u.used_count, 0) as used_count, coalesce(c.used_count, 0) as held_count
    from policy_usage u
    full join counted c on c.api_key_id = u.api_key_id and c.subject = u.subject
      and c.window_start = u.window_start
    where (coalesce(u.used, 0), coalesce(u.used_count, 0))
      is distinct from (coalesce(c.used, 0), coalesce(c.used_count, 0)) limit 20`,
}

const statementsReplay: InvariantCheck = {
  invariant: 'I2',
  problem: 'A closed statement says something else than its transfers.',
  isReplaying: true,
  // The difference of two closes of an account that follow each other must be the sum of the movements
  // between them.
  sql: `
    with closes as (
      select *, lag(upto_seq, 1, 0::bigint) over w as before, posted - lag(posted, 1, 0::numeric) over w as moved,
        held - lag(held, 1, 0::numeric) over w as held_more
      from statement_close window w as (partition by account order by ended_at))
    select c.account, c.ended_at, c.moved as told, sum(m.posted) as replayed, c.held_more as held_told,
      sum(m.held) as held_replayed
    from closes c left join lateral ledger_movements(c.account, c.before, c.upto_seq) m on true
    group by c.account, c.ended_at, c.moved, c.held_more
    having (c.moved, c.held_more) is distinct from (coalesce(sum(m.posted), 0), coalesce(sum(m.held), 0))`,
}

export const invariantChecks: readonly InvariantCheck[] = [
  balanced,
  countersReplay,
  balancesReplay,
  statementsReplay,
  nothingOverdrawn,
  holdsAreHeld,
  loadsAreHeld,
  resolvedOnce,
  topUpsCredited,
  custodyMirrorsChain,
  clearingIsPending,
  clearingEmpties,
  claimsMoveOnce,
  postedWithinHold,
  usageIsHeld,
]
