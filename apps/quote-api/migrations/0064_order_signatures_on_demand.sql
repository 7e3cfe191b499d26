-- Orders are signed when somebody asks for it or pays for them: a quote that nobody pays needs no signature.
-- older releases: run on, deposits of orders that are not signed yet wait for this release, or for its `orders sign`
do $$
declare
  named text;
begin
  -- Unnamed when it was made.
  select conname into strict named from pg_constraint
    where conrelid = 'orders'::regclass and contype = 'c'
      and pg_get_constraintdef(oid) like '%order_signature IS NULL%';
  execute format('alter table orders drop constraint %I', named);
end $$;
alter table orders add constraint orders_signature_of_order check (order_signature is null or order_id is not null);
comment on column orders.order_signature is 'Of the order''s solver over the order id; null until somebody asks for it or the order is paid for. Never changes.';
