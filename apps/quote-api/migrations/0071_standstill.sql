-- Since when whatever waits has made no progress: one list names it once that is longer than the limit. Without a row
-- the limit is five minutes.
create table standstill_limit (
  is_only boolean primary key default true check (is_only),
  seconds int not null check (seconds > 0)
);

alter table deposit_cursor
  -- When a newer block was read last.
  add column moved_at timestamptz not null default statement_timestamp(),
  -- Between two blocks, as the service is configured.
  add column pace_ms bigint not null default 0;

-- Deep enough since then, and not decided. Null: its confirmations are due.
alter table deposit_seen add column deep_since timestamptz;

alter table work_item
  -- Asked for, sent for the first time, or found in a block. Another try is no progress.
  add column waits_since timestamptz not null default statement_timestamp(),
  -- A block has the reported transaction, and it pays.
  add column is_included boolean not null default false;
update work_item set waits_since = created_at where state in ('open', 'reported');
create index work_item_failed_refund on work_item (request_id) where kind = 'refund' and state = 'failed';

alter table settlement
  -- Of a fill whose blocks are final: since when oracles, or our own endpoints, do not confirm it.
  add column unproven_since timestamptz,
  add column unproven_as text,
  add check ((unproven_since is null) = (unproven_as is null));

alter table deposit_address
  -- Something lies there; null: nothing does, or nothing becomes of it.
  add column held_since timestamptz,
  -- It is deep enough to be acted on.
  add column deep_since timestamptz;
create index deposit_address_held on deposit_address (request_id) where held_since is not null;

-- As before, and a transaction that reverted is a step of its own as soon as a block shows it.
create or replace function event_of_work() returns trigger language plpgsql as $$
declare
  state text := case
    when new.state = 'open' and new.withheld_at is not null then 'withheld'
    when new.state = 'open' and tg_op = 'UPDATE' then 'open_again'
    when tg_op = 'UPDATE' and new.state = 'reported' and old.state = 'reported' and new.reason = 'reverted'
      and old.reason is distinct from new.reason then 'reverted'
    else new.state end;
begin
  insert into request_event (request_id, part, state, reason, evidence)
    values (new.request_id, 'work', state, case when new.reason = 'reverted' and state in ('reverted', 'open_again')
      then 'TRANSACTION_REVERTED' end, json_build_object('kind', new.kind, 'subject', new.subject,
      'chainId', new.chain_id, 'transaction', new.tx_hash, 'said', new.reason, 'attempts', new.attempts));
  return null;
end $$;
drop trigger event_of_work on work_item;
create trigger event_of_work after update of state, tx_hash, withheld_at, reason on work_item for each row
  when (new.request_id is not null and (old.state <> new.state or old.tx_hash is distinct from new.tx_hash
    or (old.withheld_at is null) <> (new.withheld_at is null)
    or (new.state = 'reported' and new.reason = 'reverted' and old.reason is distinct from new.reason)))
  execute function event_of_work();
