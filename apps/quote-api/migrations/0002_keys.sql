-- What an integrator holds: the name under which policies, holds and history are kept. It outlives its
-- secrets, so that changing a secret loses none of them.
create table api_key (
  id text primary key check (id ~ '^[a-z2-7]{10}$'),
  label text not null check (length(label) between 1 and 100),
  -- Lower-case sponsorship wallet: one per key, many keys per wallet.
  wallet text check (wallet ~ '^0x[0-9a-f]{40}$'),
  wallet_linked_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz,
  check ((wallet is null) = (wallet_linked_at is null))
);
create index api_key_wallet on api_key (wallet) where wallet is not null;

-- What is presented. Only a keyed hash of it exists here; `handle` is its public part.
create table api_key_secret (
  handle text primary key check (handle ~ '^[a-z2-7]{10}$'),
  api_key_id text not null references api_key,
  hash bytea not null unique check (octet_length(hash) = 32),
  pepper_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Refused from then on; set when a successor is issued.
  retire_at timestamptz
);
create index api_key_secret_of_key on api_key_secret (api_key_id);

-- A wallet asked to be linked. Deleted by its first use, whatever comes of it.
create table wallet_challenge (
  nonce_hash bytea primary key check (octet_length(nonce_hash) = 32),
  api_key_id text not null references api_key,
  wallet text not null check (wallet ~ '^0x[0-9a-f]{40}$'),
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  check (expires_at > issued_at)
);
create index wallet_challenge_of_key on wallet_challenge (api_key_id, issued_at);

-- Who changed what, written in the transaction that changed it.
create table admin_action (
  id bigint primary key generated always as identity,
  done_at timestamptz not null default clock_timestamp(),
  actor text not null check (length(actor) between 1 and 100),
  action text not null,
  subject text not null,
  details jsonb not null
);
create index admin_action_subject on admin_action (subject, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
end $$;
create trigger admin_action_is_append_only before update or delete on admin_action
  for each row execute function refuse_change();
create trigger admin_action_is_kept before truncate on admin_action
  for each statement execute function refuse_change();
