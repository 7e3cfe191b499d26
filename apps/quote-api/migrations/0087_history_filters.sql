-- Lists show requests, which are quotes that something was paid for. Their indexes hold nothing else, so that a
-- quote pays for none of them.
create function request_type(quoted json, order_data json, origin_chain_id bigint, destination_chain_id bigint)
returns text language sql immutable parallel safe as $$
  select case
    when json_array_length(order_data -> 'output' -> 'calls') > 0 then 'Call'
    when quoted ->> 'operation' <> 'swap' then initcap(quoted ->> 'operation')
    when origin_chain_id = destination_chain_id then 'Same-chain Swap'
    else 'Crosschain Swap' end
$$;

create index orders_paid on orders (api_key_id, created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_paid_changed on orders (api_key_id, coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_paid_user on orders (api_key_id, lower(user_address), created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_paid_recipient on orders (api_key_id, lower(recipient), created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_paid_status on orders (api_key_id, status, created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_paid_origin on orders (api_key_id, origin_chain_id, created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_paid_destination on orders (api_key_id, destination_chain_id, created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_paid_referrer on orders (api_key_id, (quoted ->> 'referrer'), created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting' and quoted ->> 'referrer' is not null;
create index orders_paid_type on orders (api_key_id,
    request_type(quoted, order_data, origin_chain_id, destination_chain_id), created_at desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_failed on orders (api_key_id, coalesce(fail_reason, 'UNKNOWN'), created_at desc, request_id desc)
  where api_key_id is not null and status in ('failure', 'refund');
-- Requests whose status does not tell yet that something was paid.
create index deposit_seen_unsettled on deposit_seen (request_id) where state in ('seen', 'held', 'refund_due');
create index work_item_permits on work_item (request_id) where kind = 'permit' and state in ('open', 'reported');

-- A change shows its transaction before it takes its time: who reads changes in their order waits for the
-- transactions that are open, and would pass by one that has taken its time and cannot be seen.
create function stamp_change() returns trigger language plpgsql as $$
begin
  perform pg_current_xact_id();
  new.updated_at := clock_timestamp();
  return new;
end $$;
create trigger stamp_change before update of updated_at on orders for each row
  when (new.updated_at >= statement_timestamp()) execute function stamp_change();
