-- Double entry in integer smallest units. Every change of an account is a transfer, written once and
-- never changed; the counters of an account are the sum of its transfers, kept for speed and checked.

create table asset (
  id int primary key generated always as identity,
  -- Absent for the unit of account of sponsor money, which custody may hold on several chains.
  chain_id numeric(20, 0),
  address text,
  symbol text not null,
  name text not null,
  decimals smallint not null check (decimals between 0 and 36),
  check ((chain_id is null) = (address is null)),
  unique (chain_id, address)
);

-- Asset 1, the first row: sponsor money, micro-USDC.
insert into asset (symbol, name, decimals) values ('USDC', 'USD Coin', 6);

create table account (
  id bigint primary key generated always as identity,
  kind text not null check (kind in ('custody', 'sponsor', 'solver_earned', 'suspense', 'app_fee',
    'app_fee_due', 'payout_clearing', 'adjustment', 'bad_debt')),
  -- Lower-case address, `chainId:token`, shard number or reason.
  owner text not null check (owner <> ''),
  asset_id int not null references asset,
  -- Side on which the balance grows: C for what is owed or earned, D for what is owned.
  normal_side char(1) not null check (normal_side in ('D', 'C')),
  limited boolean not null,
  frozen boolean not null default false,
  debits_posted numeric(39, 0) not null default 0 check (debits_posted >= 0),
  credits_posted numeric(39, 0) not null default 0 check (credits_posted >= 0),
  debits_pending numeric(39, 0) not null default 0 check (debits_pending >= 0),
  credits_pending numeric(39, 0) not null default 0 check (credits_pending >= 0),
  version bigint not null default 0,
  unique (kind, owner, asset_id),
  -- Lets a transfer prove that both of its accounts are in its asset.
  unique (id, asset_id),
  constraint no_overdraft check (not limited or case normal_side
    when 'C' then debits_posted + debits_pending <= credits_posted
    else credits_posted + credits_pending <= debits_posted end)
) with (fillfactor = 50);

create table transfer (
  -- Derived from the fact behind it: a repetition collides here.
  id uuid primary key,
  -- Transfers of one account are numbered in the order of its row lock.
  seq bigint generated always as identity unique,
  debit_account bigint not null,
  credit_account bigint not null,
  asset_id int not null,
  amount numeric(39, 0) not null check (amount >= 0),
  kind text not null check (kind in ('posted', 'pending', 'post', 'void', 'expire')),
  pending_id uuid references transfer,
  code text not null,
  request_id bytea check (octet_length(request_id) = 32),
  chain_event_id bigint,
  actor text not null,
  -- Why, with what proof; the text as it was given.
  evidence json,
  body_hash bytea not null check (octet_length(body_hash) = 32),
  -- What the account may spend after this transfer; absent where the transfer does not change it.
  debit_after numeric(39, 0),
  credit_after numeric(39, 0),
  created_at timestamptz not null default clock_timestamp(),
  foreign key (debit_account, asset_id) references account (id, asset_id),
  foreign key (credit_account, asset_id) references account (id, asset_id),
  check (debit_account <> credit_account),
  check ((pending_id is not null) = (kind in ('post', 'void', 'expire'))),
  check (amount > 0 or kind in ('post', 'void', 'expire'))
);
create unique index transfer_resolved_once on transfer (pending_id) where pending_id is not null;
create unique index transfer_one_per_event on transfer (chain_event_id, code)
  where chain_event_id is not null and kind in ('posted', 'pending');
create index transfer_debits on transfer (debit_account, seq) where debit_after is not null;
create index transfer_credits on transfer (credit_account, seq) where credit_after is not null;

create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger transfer_append_only before update or delete on transfer
  for each row execute function ledger_refuse_change();
create trigger transfer_no_truncate before truncate on transfer
  for each statement execute function ledger_refuse_change();

-- Index over the pending transfers that reserve sponsor money.
create table hold (
  id uuid primary key references transfer,
  request_id bytea not null check (octet_length(request_id) = 32),
  -- 0 for the quote's own hold; each fresh reservation for a late deposit is one more.
  attempt int not null check (attempt >= 0),
  sponsor bigint not null,
  solver bigint not null,
  api_key_id text not null,
  user_key text not null,
  recipient_key text not null,
  origin_chain_id bigint not null,
  destination_chain_id bigint not null,
  components text[] not null,
  requote_key text not null,
  amount numeric(39, 0) not null check (amount > 0),
  posted_amount numeric(39, 0) check (posted_amount between 0 and amount),
  state text not null default 'reserved' check (state in ('reserved', 'posted', 'voided', 'expired')),
  -- A deposit was seen: `expires_at` is then the last moment for its settlement.
  pinned boolean not null default false,
  lifetime_seconds int not null check (lifetime_seconds > 0),
  expires_at timestamptz not null,
  created_at timestamptz not null,
  resolved_at timestamptz,
  -- Version of the key's policy that counted this hold; absent where there was none.
  policy_version int,
  unique (request_id, attempt),
  check ((state = 'reserved') = (resolved_at is null)),
  check ((state = 'posted') = (posted_amount is not null))
) with (fillfactor = 70);
create unique index hold_one_living on hold (request_id) where state in ('reserved', 'posted');
-- Each of these states its own column in its predicate, as its queries do: then no other of them can serve a
-- query, and a planner without statistics does not read through the wrong one.
create index hold_due on hold (expires_at) where state = 'reserved' and expires_at > '-infinity';
create index hold_open_user on hold (user_key, sponsor)
  where state = 'reserved' and not pinned and user_key <> '';
create index hold_open_recipient on hold (recipient_key, sponsor)
  where state = 'reserved' and not pinned and recipient_key <> user_key;
create index hold_open_requote on hold (requote_key, sponsor)
  where state = 'reserved' and not pinned and requote_key <> '';

create table outbox (
  id bigint primary key generated always as identity,
  topic text not null check (topic <> ''),
  payload jsonb not null,
  created_at timestamptz not null default clock_timestamp(),
  done_at timestamptz
);
create index outbox_waiting on outbox (topic, id) where done_at is null;

-- What an account may spend: posted less held on its own side.
create function ledger_available(_account account) returns numeric language sql immutable as $$
  select case (_account).normal_side
    when 'C' then (_account).credits_posted - (_account).debits_posted - (_account).debits_pending
    else (_account).debits_posted - (_account).credits_posted - (_account).credits_pending end
$$;

-- SHA-256 of `tag:fact`, cut to a UUID of version 8.
create function ledger_transfer_id(_tag text, _fact text) returns uuid language sql immutable strict as $$
  select encode(set_byte(set_byte(d, 6, (get_byte(d, 6) & 15) | 128), 8, (get_byte(d, 8) & 63) | 128), 'hex')::uuid
  from (select substr(sha256(convert_to(_tag || ':' || _fact, 'UTF8')), 1, 16) as d) digest
$$;

-- The account's id; opens it when it is new. Side and limit follow from the kind.
create function ledger_account(_kind text, _owner text, _asset int) returns bigint language plpgsql as $$
declare found_id bigint;
begin
  select id into found_id from account where kind = _kind and owner = _owner and asset_id = _asset;
  if found_id is not null then return found_id; end if;
  insert into account (kind, owner, asset_id, normal_side, limited)
  values (_kind, _owner, _asset,
    case when _kind in ('custody', 'app_fee_due', 'bad_debt') then 'D' else 'C' end,
    _kind in ('sponsor', 'app_fee', 'payout_clearing'))
  on conflict (kind, owner, asset_id) do nothing;
  select id into strict found_id from account where kind = _kind and owner = _owner and asset_id = _asset;
  return found_id;
end $$;

-- Locks accounts in the one order that everybody keeps: sponsors first, then by id.
create function ledger_lock(_accounts bigint[]) returns void language sql as $$
  select from account where id = any(_accounts) order by (kind <> 'sponsor'), id for no key update
$$;

-- Writes a posted or pending transfer. Pending ones count on both accounts until they are resolved.
-- Answers: done, exists (equal id and body), conflict (equal id, other body), insufficient, frozen.
-- A frozen sponsor pays nothing but reversals.
create function ledger_transfer(_id uuid, _kind text, _debit bigint, _credit bigint, _amount numeric,
    _code text, _actor text, _request bytea default null, _event bigint default null,
    _evidence json default null) returns text language plpgsql as $$
declare
  body bytea := sha256(convert_to(concat_ws('|', _kind, _debit, _credit, _amount, _code,
    encode(_request, 'hex'), _event), 'UTF8'));
  known bytea;
  d account;
  c account;
begin
  if _kind not in ('posted', 'pending') then raise exception 'a transfer is posted or pending'; end if;
  perform ledger_lock(array[_debit, _credit]);
  select body_hash into known from transfer where id = _id;
  if found then return case when known = body then 'exists' else 'conflict' end; end if;
  select * into strict d from account where id = _debit;
  select * into strict c from account where id = _credit;
  if d.kind = 'sponsor' and d.frozen and _code <> 'reversal' then return 'frozen'; end if;
  if d.limited and d.normal_side = 'C' and ledger_available(d) < _amount then return 'insufficient'; end if;
  if c.limited and c.normal_side = 'D' and ledger_available(c) < _amount then return 'insufficient'; end if;
  if _kind = 'posted' then
    update account set debits_posted = debits_posted + _amount, version = version + 1 where id = _debit returning * into d;
    update account set credits_posted = credits_posted + _amount, version = version + 1 where id = _credit returning * into c;
  else
    update account set debits_pending = debits_pending + _amount, version = version + 1 where id = _debit returning * into d;
    update account set credits_pending = credits_pending + _amount, version = version + 1 where id = _credit returning * into c;
  end if;
  insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, code, request_id,
    chain_event_id, actor, evidence, body_hash, debit_after, credit_after)
  values (_id, _debit, _credit, d.asset_id, _amount, _kind, _code, _request, _event, _actor, _evidence, body,
    case when _kind = 'posted' or d.normal_side = 'C' then ledger_available(d) end,
    case when _kind = 'posted' or c.normal_side = 'D' then ledger_available(c) end);
  return 'done';
end $$;

-- Posts (at most the pending amount) or voids a pending transfer that is no hold of a sponsored quote.
-- Answers: done, already_posted, already_voided, exceeds_pending, unknown.
create function ledger_resolve(_pending uuid, _kind text, _amount numeric, _actor text,
    _evidence json default null) returns text language plpgsql as $$
declare
  p transfer;
  earlier text;
  posted numeric := case when _kind = 'post' then _amount else 0 end;
  d account;
  c account;
begin
  if _kind not in ('post', 'void') then raise exception 'a pending transfer is posted or voided'; end if;
  select * into p from transfer where id = _pending and kind = 'pending' and code <> 'sponsor_hold';
  if not found then return 'unknown'; end if;
  perform ledger_lock(array[p.debit_account, p.credit_account]);
  select kind into earlier from transfer where pending_id = _pending;
  if found then return case earlier when 'post' then 'already_posted' else 'already_voided' end; end if;
  if posted < 0 or posted > p.amount then return 'exceeds_pending'; end if;
  update account set debits_pending = debits_pending - p.amount, debits_posted = debits_posted + posted,
    version = version + 1 where id = p.debit_account returning * into d;
  update account set credits_pending = credits_pending - p.amount, credits_posted = credits_posted + posted,
    version = version + 1 where id = p.credit_account returning * into c;
  insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, pending_id, code, request_id,
    chain_event_id, actor, evidence, body_hash, debit_after, credit_after)
  values (ledger_transfer_id('resolve', _pending::text), p.debit_account, p.credit_account, p.asset_id, posted,
    _kind, _pending, p.code || '_' || _kind, p.request_id, p.chain_event_id, _actor, _evidence,
    sha256(convert_to(concat_ws('|', _kind, posted, _pending), 'UTF8')),
    case when posted > 0 or d.normal_side = 'C' then ledger_available(d) end,
    case when posted > 0 or c.normal_side = 'D' then ledger_available(c) end);
  return 'done';
end $$;

select ledger_account('solver_earned', shard::text, 1) from generate_series(0, 15) shard;
