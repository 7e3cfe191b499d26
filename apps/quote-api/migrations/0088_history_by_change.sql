-- The filters of a list again, for lists by the last change: sorting what a filter finds takes longer the more it
-- finds, and looking through the changes takes longer the fewer it finds.
create index orders_changed_user on orders
    (api_key_id, lower(user_address), coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_changed_recipient on orders
    (api_key_id, lower(recipient), coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_changed_status on orders
    (api_key_id, status, coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_changed_origin on orders
    (api_key_id, origin_chain_id, coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_changed_destination on orders
    (api_key_id, destination_chain_id, coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_changed_referrer on orders
    (api_key_id, (quoted ->> 'referrer'), coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting' and quoted ->> 'referrer' is not null;
create index orders_changed_type on orders
    (api_key_id, request_type(quoted, order_data, origin_chain_id, destination_chain_id),
    coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status <> 'waiting';
create index orders_changed_failed on orders
    (api_key_id, coalesce(fail_reason, 'UNKNOWN'), coalesce(updated_at, created_at) desc, request_id desc)
  where api_key_id is not null and status in ('failure', 'refund');
