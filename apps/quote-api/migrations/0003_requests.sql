-- Requests as their integrators look them up, and who pays for them.
alter table orders
  add column status text not null default 'waiting' check (status in
    ('waiting', 'depositing', 'pending', 'submitted', 'success', 'failure', 'refund', 'delayed')),
  add column fail_reason text,
  add column refund_fail_reason text,
  -- The order's own deposit address, where it has one.
  add column deposit_address text,
  -- When status or transactions changed last; absent until they do.
  add column updated_at timestamptz;

-- Histories list requests that were made with a key, so that quotes without one pay for no index.
create index orders_of_key on orders (api_key_id, created_at desc, request_id desc)
  where api_key_id is not null;
create index orders_of_user on orders (lower(user_address), created_at desc, request_id desc)
  where api_key_id is not null;
create index orders_deposit_address on orders (lower(deposit_address)) where deposit_address is not null;

-- What a request that asked about sponsorship got, written with its order and its hold.
create table request_sponsorship (
  request_id bytea primary key references orders on delete cascade,
  -- Absent where the user pays.
  sponsor text check (sponsor ~ '^0x[0-9a-f]{40}$'),
  debit_micro_usd numeric(39, 0) not null check (debit_micro_usd >= 0),
  -- Shares per fee in smallest units of the fee currency, cap and reason.
  quoted json not null,
  check ((sponsor is null) = (debit_micro_usd = 0))
);

-- Transactions seen for a request.
create table request_transaction (
  request_id bytea not null references orders on delete cascade,
  role text not null check (role in ('deposit', 'fill', 'refund')),
  chain_id bigint not null,
  -- As the family writes it: lower-case hex with 0x on EVM chains.
  tx_hash text not null,
  block_number numeric(39, 0),
  seen_at timestamptz not null default clock_timestamp(),
  primary key (request_id, role, chain_id, tx_hash)
);
create index request_transaction_hash on request_transaction (lower(tx_hash));
