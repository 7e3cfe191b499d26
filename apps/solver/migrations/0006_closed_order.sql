-- Orders that are recovered on the hub: nothing is signed for them any more. Written before their promise is used.
create table closed_order (
  order_id text primary key,
  closed_at timestamptz not null default clock_timestamp()
);
