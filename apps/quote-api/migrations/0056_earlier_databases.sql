-- Before migrations were frozen some had other texts, and came in another order: databases of that time get here what
-- all others have.
-- older releases: run on, a column that is dropped is made again in the same transaction
do $$
begin
  -- 0001 of the first hours.
  if pg_get_indexdef('orders_keep_until'::regclass) not like '%brin%' then
    alter table orders set (toast_tuple_target = 8160);
    drop index orders_keep_until;
    create index orders_keep_until on orders using brin (keep_until);
  end if;

  -- 0040 of one merge.
  if pg_get_indexdef('work_item_open'::regclass) not like '%<> ''permit''%' then
    drop index work_item_open;
    create index work_item_open on work_item (created_at, id) where state = 'open' and kind <> 'permit';
    create index work_item_open_permit on work_item (created_at, id) where state = 'open' and kind = 'permit';
  end if;

  -- 0032 before there was a 0031: the same columns in another order, which dumps show.
  if (select attnum from pg_attribute where attrelid = 'orders'::regclass and attname = 'superseded_by')
    < (select attnum from pg_attribute where attrelid = 'orders'::regclass and attname = 'execution')
  then
    create temporary table moved on commit drop as
      select request_id, superseded_by, deposit_swap from orders
      where superseded_by is not null or deposit_swap is not null;
    alter table orders drop column superseded_by, drop column deposit_swap;
    alter table orders
      add column superseded_by bytea references orders on delete set null check (superseded_by <> request_id),
      add column deposit_swap jsonb;
    comment on column orders.deposit_swap is 'What a deposit address holds is swapped so before its deposit; null where it is deposited as it is.';
    update orders o set superseded_by = m.superseded_by, deposit_swap = m.deposit_swap
      from moved m where m.request_id = o.request_id;
    create index orders_superseded on orders (superseded_by) where superseded_by is not null;
  end if;
end $$;
