-- From the user's deposit to the end of a request. Every movement of a request is one transaction that
-- writes here, in `orders.status` and in the ledger together.

-- How far each chain was read for deposits.
create table deposit_cursor (
  chain_id bigint primary key,
  scanned_to numeric(39, 0) not null check (scanned_to >= 0),
  -- Hash of that block: another one there means that the chain was reorganized below.
  scanned_hash text not null
);

-- Deposits that name an order, one row per place on a chain; one that moves to another block is a new row.
create table deposit_seen (
  id bigint primary key generated always as identity,
  chain_id bigint not null,
  tx_hash text not null,
  -- Tells deposits of one transaction apart, as attestations count them.
  onchain_index text not null,
  block_number numeric(39, 0) not null,
  block_hash text not null,
  block_time timestamptz not null,
  order_id bytea not null check (octet_length(order_id) = 32),
  request_id bytea not null references orders on delete cascade,
  depositor text not null,
  currency text not null,
  amount numeric(78, 0) not null,
  -- seen: not acted on. taken: it pays its request. refund_due, refunded, ignored: see `reason`.
  -- orphaned: its block left the chain.
  state text not null default 'seen' check (state in
    ('seen', 'taken', 'refund_due', 'refunded', 'ignored', 'orphaned')),
  reason text,
  -- No reorganization can take it back any more.
  is_final boolean not null default false,
  seen_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (chain_id, tx_hash, onchain_index, block_hash)
);
create index deposit_seen_request on deposit_seen (request_id);
create index deposit_seen_open on deposit_seen (chain_id) where not is_final and state <> 'orphaned';
create index deposit_seen_waiting on deposit_seen (chain_id) where state = 'seen';

-- What the solver has to do. Rows stay: they are the record of what was asked for.
create table work_item (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('fill', 'refund', 'permit', 'sweep', 'claim')),
  -- Absent for claims.
  request_id bytea references orders on delete cascade,
  -- Tells items of one kind for one request apart, and claims from each other.
  subject text not null default '',
  chain_id bigint not null,
  payload json not null,
  state text not null default 'open' check (state in ('open', 'reported', 'done', 'failed', 'cancelled')),
  tx_hash text,
  -- Why the solver could not do it, as it said last.
  reason text,
  attempts int not null default 0 check (attempts >= 0),
  -- Not offered to the solver, and not looked at once reported, before this.
  not_before timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check (state <> 'reported' or tx_hash is not null)
);
create unique index work_item_subject on work_item (kind, coalesce(request_id, ''), subject);
create index work_item_open on work_item (created_at, id) where state = 'open';
create index work_item_reported on work_item (kind, not_before) where state = 'reported';
create index work_item_request on work_item (request_id) where request_id is not null;
-- One transaction does one piece of work.
create unique index work_item_transaction on work_item (chain_id, tx_hash) where tx_hash is not null;

-- One row per request whose deposit was acted on.
create table settlement (
  request_id bytea primary key references orders on delete cascade,
  deposit_id bigint not null references deposit_seen,
  -- filling: the solver is to fill. filled: success, not yet attested. refunding: the solver is to refund.
  -- settled, refunded: ends. parked: an operator must look, `parked_reason` says why.
  stage text not null check (stage in ('filling', 'filled', 'refunding', 'settled', 'refunded', 'parked')),
  -- The deposit fits the order: no other one can take its place while it stands.
  is_bound boolean not null,
  fill_tx text,
  refund_tx text,
  -- The signatures that the ledger moved on, and what they sign.
  evidence json,
  parked_reason text,
  attempts int not null default 0,
  next_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((stage = 'parked') = (parked_reason is not null))
);
create index settlement_due on settlement (stage, next_at) where stage in ('filling', 'filled', 'refunding');
create index settlement_parked on settlement (updated_at) where stage = 'parked';
create index settlement_deposit on settlement (deposit_id);

-- A terminal state never flips, whoever writes.
create function orders_keep_end() returns trigger language plpgsql as $$
begin
  raise exception 'the status % of a request is final', old.status using errcode = '23514';
end $$;
create trigger orders_keep_end before update of status on orders for each row
  when (old.status in ('success', 'refund') and new.status <> old.status)
  execute function orders_keep_end();
