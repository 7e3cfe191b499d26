-- When the newest blocks of a chain were last read to their end for deposits. What cannot be seen is not sold.
create table deposit_sight (
  chain_id bigint primary key,
  read_at timestamptz not null default clock_timestamp(),
  -- So long it may not be read before quotes from it stop.
  patience_ms bigint not null check (patience_ms > 0)
);
-- Hash of the block final_to, which must never change.
alter table deposit_cursor add column final_hash text;
