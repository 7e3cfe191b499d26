-- Chains on which nothing new is sold, signed or sent.
create table chain_stop (
  -- 0: every chain.
  chain_id bigint not null check (chain_id >= 0),
  -- operator: until an operator says go. solver: it pays nothing there, and is believed until ends_at.
  told_by text not null check (told_by in ('operator', 'solver')),
  reason text not null,
  actor text not null,
  since timestamptz not null default clock_timestamp(),
  ends_at timestamptz,
  primary key (chain_id, told_by),
  check ((told_by = 'operator') = (ends_at is null))
);
-- When other processes read the stops last, so that who stops a chain knows whom it reached.
create table stop_reader (
  reader text primary key,
  read_at timestamptz not null
);
