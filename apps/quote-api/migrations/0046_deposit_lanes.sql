-- Deposits that wait keep no other one waiting: each is looked at again when it is due, what pays its order goes
-- before dust, and what waits for a market goes behind both.
alter table deposit_seen
  -- 0 pays its order, or the order was quoted with a key; 1 the others; 2 waits for something but its depth
  add column lane smallint not null default 1 check (lane between 0 and 2),
  add column looks int not null default 0 check (looks >= 0),
  add column due_at timestamptz not null default clock_timestamp();

create index deposit_seen_due on deposit_seen (chain_id, lane, due_at) where state = 'seen';
drop index deposit_seen_waiting_first;
