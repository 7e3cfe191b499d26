-- What moves of the last 24 hours cost or earned by what they did to the solver's inventory: a reward from when its
-- deposit is bound, a cost once its order is filled. Rows end with their day, whatever becomes of their order.
create table skew_booking (
  request_id bytea primary key check (octet_length(request_id) = 32),
  -- Above zero: a cost that the order paid. Below: a reward that it earns.
  micro_usd bigint not null check (micro_usd <> 0),
  booked_at timestamptz not null default clock_timestamp()
);
create index skew_booking_day on skew_booking (booked_at) include (micro_usd);
-- What each process may promise as rewards, until the last quote that it answers under it has ended.
create table reward_claim (
  process uuid primary key,
  micro_usd bigint not null check (micro_usd >= 0),
  ends_at timestamptz not null
);
