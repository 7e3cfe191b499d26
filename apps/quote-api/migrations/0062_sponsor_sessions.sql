-- Wallets that are signed in to read what they sponsor. A row comes of a signature alone, so strangers make none.
create table sponsor_session (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  -- Of the challenge that was signed: the same one opens no second session while this row lives.
  challenge_hash bytea not null unique check (octet_length(challenge_hash) = 32),
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  issued_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null check (expires_at > issued_at),
  ended_at timestamptz
);
create index on sponsor_session (wallet);
comment on table sponsor_session is 'Sign-ins of sponsors to the read-only console; their tokens are kept as hashes.';
