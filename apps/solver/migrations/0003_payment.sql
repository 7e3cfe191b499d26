-- What left the fill wallets, until oracles attest it. Written with the record that pays it.
create table payment (
  record_id text not null,
  attempt int not null,
  kind text not null check (kind in ('fill', 'refund', 'claim')),
  chain_id bigint not null,
  -- At the prices of the moment when it was signed; no later price changes it.
  micro_usd numeric(40, 0) not null check (micro_usd >= 0),
  -- What is known of it before it is sent: calls, code (an account with code is paid), or the currencies that it pays.
  traits text[] not null,
  -- What oracles are asked about it. Null: none attests it, as a claim, or a refund that does not settle its order.
  asked json,
  -- signed: not final yet. paid: final. void: it has no effect and never will.
  state text not null default 'signed' check (state in ('signed', 'paid', 'attested', 'refused', 'void')),
  -- Of a final payment: its transaction, as its chain spells it.
  transaction_id text,
  -- The last answer of the oracles: the code of a refusal, or why there is none yet.
  said text,
  tries int not null default 0,
  -- How often in a row enough oracles refused it for it never to be attested.
  refusals int not null default 0,
  next_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  -- An operator looked at it: it counts no more.
  accepted_at timestamptz,
  primary key (record_id, attempt)
);
create index payment_counted on payment (chain_id) where accepted_at is null and state in ('signed', 'paid', 'refused');
create index payment_asked on payment (next_at) where state = 'paid' and asked is not null;
