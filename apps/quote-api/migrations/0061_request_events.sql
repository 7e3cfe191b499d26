-- What became of each request that something was paid for: one row per change, written with the change itself by
-- whoever made it. Rows are never changed, and go with their request.
create table request_event (
  id bigint primary key generated always as identity,
  -- No foreign key: it would lock the order of whatever changes, after rows that are locked behind it elsewhere.
  request_id bytea not null check (octet_length(request_id) = 32),
  at timestamptz not null default clock_timestamp(),
  -- What changed.
  part text not null check (part in ('deposit', 'work', 'stage', 'status', 'transaction', 'said', 'release')),
  -- Its state from now on.
  state text not null,
  reason text,
  evidence json not null
);
create index request_event_request on request_event (request_id, id);

create function forget_events() returns trigger language plpgsql as $$
begin
  delete from request_event where request_id = old.request_id;
  return null;
end $$;
create trigger forget_events after delete on orders for each row execute function forget_events();

create function event_of_deposit() returns trigger language plpgsql as $$
declare
  evidence json := json_build_object('chainId', new.chain_id, 'transaction', new.tx_hash, 'index', new.onchain_index,
    'block', new.block_number::text, 'blockHash', new.block_hash, 'currency', new.currency,
    'amount', new.amount::text, 'depositor', new.depositor);
begin
  if tg_op = 'INSERT' or old.state <> new.state then
    insert into request_event (request_id, part, state, reason, evidence)
      values (new.request_id, 'deposit', new.state, new.reason, evidence);
  end if;
  if tg_op = 'UPDATE' and new.is_final and not old.is_final then
    insert into request_event (request_id, part, state, evidence)
      values (new.request_id, 'deposit', 'final', evidence);
  end if;
  return null;
end $$;
create trigger event_of_new_deposit after insert on deposit_seen for each row execute function event_of_deposit();
create trigger event_of_deposit after update of state, is_final on deposit_seen for each row
  when (old.state <> new.state or old.is_final <> new.is_final) execute function event_of_deposit();

create function event_of_work() returns trigger language plpgsql as $$
declare
  state text := case
    when new.state = 'open' and new.withheld_at is not null then 'withheld'
    when new.state = 'open' and tg_op = 'UPDATE' then 'open_again'
    else new.state end;
begin
  insert into request_event (request_id, part, state, evidence)
    values (new.request_id, 'work', state, json_build_object('kind', new.kind, 'subject', new.subject,
      'chainId', new.chain_id, 'transaction', new.tx_hash, 'said', new.reason, 'attempts', new.attempts));
  return null;
end $$;
create trigger event_of_new_work after insert on work_item for each row
  when (new.request_id is not null) execute function event_of_work();
create trigger event_of_work after update of state, tx_hash, withheld_at on work_item for each row
  when (new.request_id is not null and (old.state <> new.state or old.tx_hash is distinct from new.tx_hash
    or (old.withheld_at is null) <> (new.withheld_at is null)))
  execute function event_of_work();

create function event_of_stage() returns trigger language plpgsql as $$
begin
  insert into request_event (request_id, part, state, reason, evidence)
    values (new.request_id, 'stage', new.stage, new.parked_reason, json_build_object('deposit', new.deposit_id::text,
      'fillTransaction', new.fill_tx, 'refundTransaction', new.refund_tx,
      'proof', case when new.stage = 'settled' then new.evidence end));
  return null;
end $$;
create trigger event_of_new_stage after insert on settlement for each row execute function event_of_stage();
create trigger event_of_stage after update of stage on settlement for each row
  when (old.stage <> new.stage) execute function event_of_stage();

create function event_of_status() returns trigger language plpgsql as $$
begin
  insert into request_event (request_id, part, state, reason, evidence)
    values (new.request_id, 'status', new.status, case when new.status in ('refund', 'failure') then new.fail_reason
      else coalesce(new.refund_fail_reason, new.fail_reason) end, '{}');
  return null;
end $$;
create trigger event_of_status after update of status, refund_fail_reason on orders for each row
  when (old.status <> new.status or old.refund_fail_reason is distinct from new.refund_fail_reason)
  execute function event_of_status();

create function event_of_transaction() returns trigger language plpgsql as $$
begin
  insert into request_event (request_id, part, state, evidence)
    values (new.request_id, 'transaction', new.role, json_build_object('chainId', new.chain_id,
      'transaction', new.tx_hash, 'block', new.block_number::text));
  return null;
end $$;
create trigger event_of_transaction after insert on request_transaction for each row
  execute function event_of_transaction();

create function event_of_said() returns trigger language plpgsql as $$
begin
  insert into request_event (request_id, part, state, evidence)
    values (new.request_id, 'said', new.state, json_build_object('chainId', new.chain_id, 'transaction', new.tx_hash));
  return null;
end $$;
create trigger event_of_new_said after insert on said_transaction for each row execute function event_of_said();
create trigger event_of_said after update of state on said_transaction for each row
  when (old.state <> new.state) execute function event_of_said();

create function event_of_release() returns trigger language plpgsql as $$
begin
  insert into request_event (request_id, part, state, evidence)
    values (new.request_id, 'release', new.resolution, '{}');
  return null;
end $$;
create trigger event_of_release after insert or update on deny_release for each row
  execute function event_of_release();

-- What earlier releases kept of the times: when each thing came, and its last state.
insert into request_event (request_id, at, part, state, reason, evidence)
select request_id, at, part, state, reason, evidence from (
  select request_id, seen_at as at, 'deposit' as part, 'seen' as state, null::text as reason,
      json_build_object('chainId', chain_id, 'transaction', tx_hash, 'index', onchain_index,
        'block', block_number::text, 'blockHash', block_hash, 'currency', currency, 'amount', amount::text,
        'depositor', depositor) as evidence
    from deposit_seen
  union all select request_id, updated_at, 'deposit', state, reason,
      json_build_object('chainId', chain_id, 'transaction', tx_hash, 'index', onchain_index,
        'block', block_number::text, 'blockHash', block_hash, 'currency', currency, 'amount', amount::text,
        'depositor', depositor)
    from deposit_seen where state <> 'seen'
  union all select request_id, created_at, 'work', 'open', null, json_build_object('kind', kind, 'subject', subject,
      'chainId', chain_id)
    from work_item where request_id is not null
  union all select request_id, updated_at, 'work', state, null, json_build_object('kind', kind, 'subject', subject,
      'chainId', chain_id, 'transaction', tx_hash, 'said', reason, 'attempts', attempts)
    from work_item where request_id is not null and state <> 'open'
  union all select request_id, seen_at, 'transaction', role, null, json_build_object('chainId', chain_id,
      'transaction', tx_hash, 'block', block_number::text)
    from request_transaction
  union all select request_id, said_at, 'said', state, null, json_build_object('chainId', chain_id,
      'transaction', tx_hash)
    from said_transaction
  union all select request_id, updated_at, 'stage', stage, parked_reason, json_build_object(
      'deposit', deposit_id::text, 'fillTransaction', fill_tx, 'refundTransaction', refund_tx,
      'proof', case when stage = 'settled' then evidence end)
    from settlement
  union all select request_id, coalesce(updated_at, created_at), 'status', status,
      case when status in ('refund', 'failure') then fail_reason else coalesce(refund_fail_reason, fail_reason) end, '{}'
    from orders where status <> 'waiting'
  union all select request_id, released_at, 'release', resolution, null, '{}' from deny_release
) earlier order by at;
