-- What solvers have paid and no oracle attested yet, against the caps of their own; told with each question for work.
create table solver_exposure (
  -- 0: all chains together.
  chain_id bigint primary key check (chain_id >= 0),
  paid_micro_usd numeric(78, 0) not null check (paid_micro_usd >= 0),
  max_micro_usd numeric(78, 0) not null check (max_micro_usd >= 0),
  told_at timestamptz not null default clock_timestamp()
);
