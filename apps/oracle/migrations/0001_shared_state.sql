-- What the processes of one oracle share: what it signed of each cap, which orders are settled, which chains are halted.

-- Whose it is. To another key, what this one signed would be signed by itself, and free.
create table oracle_owner (
  is_only boolean primary key default true check (is_only),
  signer text not null,
  environment text not null,
  since timestamptz not null default clock_timestamp()
);

-- What is signed again without counting, by the key of the execution or withdrawal. Forgotten after thirty days.
create table signed_value (
  key bytea not null check (length(key) = 32),
  hub_token numeric(78, 0) not null,
  amount numeric(78, 0) not null check (amount >= 0),
  signed_at timestamptz not null default clock_timestamp(),
  primary key (key, hub_token)
);
create index signed_value_age on signed_value (signed_at);

-- What was signed of each token, by minutes since 1970. Forgotten after two hours.
create table signed_minute (
  hub_token numeric(78, 0) not null,
  minute int not null check (minute >= 0),
  amount numeric not null check (amount >= 0),
  primary key (hub_token, minute)
);

-- Which deposits of an order were settled by which payment. Never forgotten: the hub cannot tell it.
create table settled_order (
  order_id bytea primary key check (length(order_id) = 32),
  claims json not null,
  settled_at timestamptz not null default clock_timestamp()
);

-- What waits above a cap for the operator, and what he let go. Rows that are done show who released them.
create table held_execution (
  n bigint primary key generated always as identity,
  id text not null,
  kind text not null,
  key text not null,
  lets text[] not null,
  reason text not null,
  since timestamptz not null default clock_timestamp(),
  released_at timestamptz,
  -- cli:<account> of the machine.
  released_by text,
  done_at timestamptz
);
create unique index held_execution_open on held_execution (id) where done_at is null;

-- Chains for which nothing is signed until the operator says so. Rows that are cleared show who cleared them.
create table halted_chain (
  n bigint primary key generated always as identity,
  chain text not null,
  block_number numeric(78, 0),
  known_hash text,
  found_hash text,
  halted_at timestamptz not null default clock_timestamp(),
  cleared_at timestamptz,
  -- cli:<account> of the machine.
  cleared_by text
);
create unique index halted_chain_open on halted_chain (chain) where cleared_at is null;
