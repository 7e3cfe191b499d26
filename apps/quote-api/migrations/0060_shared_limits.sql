-- Windows of rate limits that all replicas count in. What a crash of the server loses is a second of counting, so
-- nothing is written ahead.
create unlogged table limit_window (
  bucket text not null check (length(bucket) between 1 and 40),
  -- A hash: addresses of callers are nobody's to read here.
  caller bytea not null check (length(caller) = 16),
  ends_at timestamptz not null,
  -- Of all replicas together in one window.
  allowed int not null check (allowed > 0),
  taken int not null check (taken between 0 and allowed),
  -- Of what was wanted last, how much was granted.
  granted int not null check (granted >= 0),
  primary key (bucket, caller)
);
create index on limit_window (ends_at);
