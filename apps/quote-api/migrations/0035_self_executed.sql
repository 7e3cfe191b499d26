-- Transactions that users say they executed a request with, where they do it all alone. Nothing is believed
-- until the chain shows it.
create table said_transaction (
  request_id bytea not null references orders on delete cascade,
  chain_id bigint not null,
  tx_hash text not null,
  -- said: not seen in a block yet. executed, reverted: it is the quoted call with that place. other: it is
  -- something else, or never came.
  state text not null default 'said' check (state in ('said', 'executed', 'reverted', 'other')),
  call_index int check (call_index >= 0),
  attempts int not null default 0 check (attempts >= 0),
  next_at timestamptz not null default clock_timestamp(),
  said_at timestamptz not null default clock_timestamp(),
  primary key (request_id, tx_hash),
  check ((state in ('executed', 'reverted')) = (call_index is not null))
);
create index said_transaction_due on said_transaction (next_at) where state = 'said';
-- One transaction executes one request.
create unique index said_transaction_once on said_transaction (chain_id, tx_hash)
  where state in ('executed', 'reverted');
