-- Every answered quote. Written before the answer is sent, kept until the order can no longer matter.
create table orders (
  request_id bytea primary key check (octet_length(request_id) = 32),
  -- Absent where the user executes alone: no solver, no order.
  order_id bytea unique check (octet_length(order_id) = 32),
  user_address text not null,
  recipient text not null,
  origin_chain_id bigint not null,
  destination_chain_id bigint not null,
  api_key_id text,
  -- Amounts and currencies as quoted; amounts are decimal strings in smallest units.
  quoted json not null,
  -- `json`, not `jsonb`: the text stays exactly what was hashed.
  order_data json,
  order_signature bytea check (octet_length(order_signature) = 65),
  steps_digest bytea not null check (octet_length(steps_digest) = 32),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  deadline timestamptz not null,
  keep_until timestamptz not null,
  check ((order_id is null) = (order_data is null)),
  check ((order_id is null) = (order_signature is null)),
  check (keep_until > deadline)
);

create index orders_keep_until on orders (keep_until);
