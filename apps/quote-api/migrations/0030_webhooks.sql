-- Where integrators are told what becomes of their requests, and what they are still to be told.

-- One endpoint per key.
create table webhook_endpoint (
  api_key_id text primary key references api_key,
  url text not null check (length(url) between 1 and 2048),
  -- The signing secret and the headers of the integrator: whoever reads the database or a backup of it can
  -- forge no message with them. Encrypted under the pepper that is named.
  sealed bytea not null,
  pepper_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);

-- Messages on their way. The outbox holds them until they are handed over, in the order of what happened.
create table webhook_delivery (
  -- Stays the same however often the message is sent.
  event_id uuid primary key,
  seq bigint not null generated always as identity,
  api_key_id text not null references webhook_endpoint on delete cascade,
  request_id bytea not null check (octet_length(request_id) = 32),
  -- The text that is signed and sent, byte for byte.
  body text not null,
  -- failed: given up after the last retry.
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
  attempts int not null default 0 check (attempts >= 0),
  next_at timestamptz not null default clock_timestamp(),
  -- Why the last attempt failed.
  problem text,
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  check ((state = 'waiting') = (finished_at is null))
);
create index webhook_delivery_due on webhook_delivery (api_key_id, next_at, seq) where state = 'waiting';
create index webhook_delivery_order on webhook_delivery (request_id, seq) where state = 'waiting';
create index webhook_delivery_failed on webhook_delivery (api_key_id) where state = 'failed';
create index webhook_delivery_finished on webhook_delivery (finished_at) where state <> 'waiting';
