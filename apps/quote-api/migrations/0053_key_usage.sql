-- How often a key was answered, by what. Figures for integrators: no money and no limit depends on them.
create table key_usage (
  -- The same answers three times, each kept as long as its granularity reaches back.
  granularity text not null check (granularity in ('minutely', 'hourly', 'daily')),
  -- Without a reference: counting must not wait for who changes a key.
  api_key_id text not null,
  starts_at timestamptz not null,
  -- The pattern of a route, or 'unknown'.
  endpoint text not null,
  status_code smallint not null,
  -- Empty where there is none: a part of the primary key cannot be absent.
  error_code text not null,
  answers bigint not null check (answers > 0),
  primary key (granularity, api_key_id, starts_at, endpoint, status_code, error_code)
);
create index key_usage_age on key_usage (granularity, starts_at);

-- The last batch that each process wrote. One whose answer was lost is sent again and counts once.
create table key_usage_writer (
  writer uuid primary key,
  sequence bigint not null,
  written_at timestamptz not null default clock_timestamp()
);
