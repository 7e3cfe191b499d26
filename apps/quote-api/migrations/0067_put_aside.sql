-- Transactions in blocks that cannot be read, each by its id, so that what stands beside them is. They are tried again.
create table put_aside (
  chain_id bigint not null,
  -- As the chain spells it.
  transaction_id text not null,
  -- What it is to be read for.
  purpose text not null,
  reason text not null,
  first_seen_at timestamptz not null default clock_timestamp(),
  last_tried_at timestamptz not null default clock_timestamp(),
  tries int not null default 1 check (tries > 0),
  primary key (chain_id, transaction_id, purpose)
);
