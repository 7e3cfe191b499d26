-- Addresses that are paid instead of the depository. What lies at one is swept into the depository for the
-- order of its request; the terms are what the address was derived from.
create table deposit_address (
  address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
  chain_id bigint not null,
  order_signer text not null,
  sweeper text not null,
  depositor text not null,
  nonce bytea not null check (octet_length(nonce) = 32),
  -- The newest request that its payments are for.
  request_id bytea not null references orders on delete cascade,
  -- The sweep that is asked for; nothing else is decided about the address until it ended.
  sweep_id uuid references work_item on delete set null,
  -- Tells the sweeps of one request apart.
  sweeps int not null default 0,
  -- Money was seen that no quote takes and no refund is worth its gas; told once, looked at again with more.
  left_reason text,
  created_at timestamptz not null default clock_timestamp(),
  -- When it was quoted or swept last: the longer ago, the rarer it is looked at.
  active_at timestamptz not null default clock_timestamp(),
  look_at timestamptz not null default clock_timestamp()
);
create index deposit_address_due on deposit_address (chain_id, look_at);
create index deposit_address_request on deposit_address (request_id);
create index deposit_address_sweeping on deposit_address (chain_id) where sweep_id is not null;

-- The request that took the place of this one before anything was paid for it.
alter table orders add column superseded_by bytea references orders on delete set null
  check (superseded_by <> request_id);
