-- Who writes for each wallet and chain. The leader holds an advisory lock; the epoch tells its writes from those
-- of one that was stopped and does not know it yet.
create table job_epoch (
  job text primary key,
  epoch bigint not null check (epoch > 0),
  -- Process that leads since; for operators.
  holder text not null,
  since timestamptz not null default clock_timestamp()
);

-- Every transaction that the fill wallet signed, kept before it is sent.
create table signed_record (
  -- Of the work item, or of the chore.
  id text not null,
  -- From 0; the next one begins only after this one can have no effect any more.
  attempt int not null check (attempt >= 0),
  wallet text not null,
  chain_id bigint not null,
  nonce bigint not null check (nonce >= 0),
  kind text not null,
  -- What the fill contract records: of a fill its order id, of a claim its own.
  payment_id text,
  outcome text not null,
  is_failure_reported boolean not null,
  record json not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (id, attempt)
);
create index signed_record_nonce on signed_record (wallet, chain_id, nonce);
create index signed_record_open on signed_record (wallet, chain_id) where outcome = 'open';
create index signed_record_untold on signed_record (wallet)
  where not is_failure_reported and outcome in ('reverted', 'cancelled', 'lost');
create index signed_record_payment on signed_record (payment_id) where payment_id is not null;

-- What was spent, so that the sums of an hour survive a restart. Reserved with the record, corrected once its
-- transaction is final.
create table budget_entry (
  id bigint primary key generated always as identity,
  budget text not null,
  amount numeric(78, 0) not null check (amount >= 0),
  record_id text not null,
  attempt int not null,
  at timestamptz not null default clock_timestamp(),
  unique (budget, record_id, attempt)
);
create index budget_entry_hour on budget_entry (budget, at);

-- The stop switch: one row.
create table stop_switch (
  is_only boolean primary key default true check (is_only),
  is_stopped boolean not null,
  reason text not null,
  changed_at timestamptz not null default clock_timestamp()
);
