-- Top-ups: token transfers to custody as chains report them, and what the ledger made of them.

-- One row per sighting of one token log. A block that is dropped and comes back is a second sighting.
create table chain_event (
  id bigint primary key generated always as identity,
  chain_id numeric(20, 0) not null,
  tx_hash bytea not null check (octet_length(tx_hash) = 32),
  log_index int not null check (log_index >= 0),
  -- Position inside the receipt: unlike the log index it stays when another block includes the transaction.
  tx_log_ordinal int not null check (tx_log_ordinal >= 0),
  block_number numeric(20, 0) not null,
  block_hash bytea not null check (octet_length(block_hash) = 32),
  sighting int not null check (sighting >= 0),
  token bytea not null check (octet_length(token) = 20),
  from_addr bytea not null check (octet_length(from_addr) = 20),
  to_addr bytea not null check (octet_length(to_addr) = 20),
  value numeric(39, 0) not null check (value > 0),
  tail bytea check (octet_length(tail) = 32),
  -- `ok`, `ok_trailing`, or why it is suspended.
  parse text not null,
  -- Lower-case wallet that is credited; absent for suspended money.
  credited_owner text,
  state text not null default 'seen' check (state in ('seen', 'final', 'orphaned', 'reversed')),
  -- Who received suspended money in the end.
  claimed_owner text,
  seen_at timestamptz not null default clock_timestamp(),
  final_at timestamptz,
  claimed_at timestamptz,
  unique (chain_id, block_hash, tx_hash, log_index, sighting),
  check ((credited_owner is not null) = (parse in ('ok', 'ok_trailing'))),
  check ((final_at is not null) = (state in ('final', 'reversed'))),
  check ((claimed_owner is not null) = (claimed_at is not null)),
  check (claimed_owner is null or (credited_owner is null and final_at is not null))
);
-- The credit itself: a transfer of a transaction counts once, wherever the transaction is included.
create unique index chain_event_live on chain_event (chain_id, tx_hash, tx_log_ordinal)
  where state in ('seen', 'final');
create index chain_event_seen on chain_event (chain_id, to_addr, token) where state = 'seen';
create index chain_event_final on chain_event (chain_id, block_number) where state = 'final';
create index chain_event_owner on chain_event (credited_owner, id) where state = 'seen';
create index chain_event_suspense on chain_event (id)
  where state = 'final' and credited_owner is null and claimed_owner is null;

alter table transfer add foreign key (chain_event_id) references chain_event;

-- How far one custody account was read. Moves in the transaction that stores what was read.
create table chain_cursor (
  chain_id numeric(20, 0) not null,
  custody bytea not null check (octet_length(custody) = 20),
  token bytea not null check (octet_length(token) = 20),
  -- Last block read near the head, for top-ups that are shown as pending.
  scanned_to numeric(20, 0) not null,
  -- Last final block whose top-ups are settled; -1 with an empty hash before the first.
  final_to numeric(20, 0) not null,
  final_hash bytea not null check (octet_length(final_hash) in (0, 32)),
  -- Set when a final block changed: nothing is read until an operator resumes.
  halted_at timestamptz,
  halted_reason text,
  primary key (chain_id, custody, token),
  check ((halted_at is null) = (halted_reason is null))
);

create function top_up_transfer_id(_event chain_event, _tag text) returns uuid language sql stable as $$
  select ledger_transfer_id(_tag, concat_ws(':', (_event).chain_id, encode((_event).block_hash, 'hex'),
    encode((_event).tx_hash, 'hex'), (_event).log_index, (_event).sighting))
$$;

create function top_up_account(_event chain_event, _kind text) returns bigint language sql as $$
  select ledger_account(_kind, (_event).chain_id || ':0x' || encode((_event).token, 'hex'), 1)
$$;

-- Every function below raises when the ledger refuses what cannot be refused.
create function top_up_require(_answer text, _accepted text[]) returns void language plpgsql as $$
begin
  if _answer <> all(_accepted) then
    raise exception 'the ledger answered % to a top-up', _answer using errcode = 'data_exception';
  end if;
end $$;

-- Drops a sighting whose block is not canonical. Answers: orphaned, not_seen.
create function orphan_event(_id bigint) returns text language plpgsql as $$
declare e chain_event;
begin
  update chain_event set state = 'orphaned' where id = _id and state = 'seen' returning * into e;
  if not found then return 'not_seen'; end if;
  if e.credited_owner is not null then
    perform top_up_require(ledger_resolve(top_up_transfer_id(e, 'deposit'), 'void', 0, 'top-ups'), '{done}');
  end if;
  return 'orphaned';
end $$;

-- Stores one sighting; with an owner its amount becomes pending. `_replace`: a sighting of the same transfer
-- that is not final and says something else gives way. Answers: seen, known, elsewhere (the same transfer
-- is live in another block), differs (same block, other content).
create function credit_event(_chain numeric, _tx bytea, _log_index int, _ordinal int, _block numeric,
    _block_hash bytea, _token bytea, _from bytea, _to bytea, _value numeric, _tail bytea, _parse text,
    _owner text, _replace boolean, out answer text, out event_id bigint) language plpgsql as $$
declare
  live chain_event;
  e chain_event;
begin
  select * into live from chain_event where chain_id = _chain and tx_hash = _tx and tx_log_ordinal = _ordinal
    and state in ('seen', 'final') for update;
  if found then
    event_id := live.id;
    answer := case
      when live.block_hash <> _block_hash or live.log_index <> _log_index then 'elsewhere'
      when (live.value, live.from_addr, live.to_addr, live.token, live.parse, live.block_number)
        is distinct from (_value, _from, _to, _token, _parse, _block)
        or live.credited_owner is distinct from _owner then 'differs'
      else 'known' end;
    if answer = 'known' or not _replace or live.state = 'final' then return; end if;
    perform orphan_event(live.id);
  end if;
  insert into chain_event (chain_id, tx_hash, log_index, tx_log_ordinal, block_number, block_hash, sighting,
    token, from_addr, to_addr, value, tail, parse, credited_owner)
  select _chain, _tx, _log_index, _ordinal, _block, _block_hash, count(*), _token, _from, _to, _value, _tail,
    _parse, _owner
  from chain_event where chain_id = _chain and block_hash = _block_hash and tx_hash = _tx and log_index = _log_index
  on conflict do nothing returning * into e;
  if not found then
    -- Another watcher was faster; its row is read again in the next pass.
    answer := 'known';
    return;
  end if;
  if _owner is not null then
    perform top_up_require(ledger_transfer(top_up_transfer_id(e, 'deposit'), 'pending', top_up_account(e, 'custody'),
      ledger_account('sponsor', _owner, 1), _value, 'deposit', 'top-ups', null, e.id), '{done}');
  end if;
  event_id := e.id;
  answer := 'seen';
end $$;

-- The sighting is final: its amount becomes spendable, or rests in suspense. Answers: final, not_seen.
create function finalize_event(_id bigint, _evidence json) returns text language plpgsql as $$
declare e chain_event;
begin
  update chain_event set state = 'final', final_at = clock_timestamp() where id = _id and state = 'seen'
  returning * into e;
  if not found then return 'not_seen'; end if;
  if e.credited_owner is not null then
    perform top_up_require(
      ledger_resolve(top_up_transfer_id(e, 'deposit'), 'post', e.value, 'top-ups', _evidence), '{done}');
  else
    perform top_up_require(ledger_transfer(top_up_transfer_id(e, 'suspense'), 'posted', top_up_account(e, 'custody'),
      top_up_account(e, 'suspense'), e.value, 'suspense', 'top-ups', null, e.id, _evidence), '{done}');
  end if;
  return 'final';
end $$;

-- Gives suspended money to a wallet, once.
-- Answers: claimed, already_claimed, not_suspended, not_final, unknown.
create function claim_event(_id bigint, _owner text, _actor text, _evidence json) returns text
    language plpgsql as $$
declare e chain_event;
begin
  select * into e from chain_event where id = _id for update;
  if not found then return 'unknown'; end if;
  if e.state <> 'final' then return case e.state when 'seen' then 'not_final' else 'unknown' end; end if;
  if e.credited_owner is not null then return 'not_suspended'; end if;
  if e.claimed_owner is not null then return 'already_claimed'; end if;
  perform top_up_require(ledger_transfer(top_up_transfer_id(e, 'suspense_claim'), 'posted',
    top_up_account(e, 'suspense'), ledger_account('sponsor', _owner, 1), e.value, 'suspense_claim', _actor, null,
    e.id, _evidence), '{done}');
  update chain_event set claimed_owner = _owner, claimed_at = clock_timestamp() where id = _id;
  return 'claimed';
end $$;

-- A chain took a final transfer back: takes it from whoever has it, as far as that is free, and counts the
-- rest as a loss. Only an operator does this. Answers: reversed, not_final.
create function reverse_event(_id bigint, _actor text, _evidence json) returns text language plpgsql as $$
declare
  e chain_event;
  payer account;
  taken numeric;
begin
  update chain_event set state = 'reversed' where id = _id and state = 'final' returning * into e;
  if not found then return 'not_final'; end if;
  select * into strict payer from account where id = case
    when coalesce(e.credited_owner, e.claimed_owner) is null then top_up_account(e, 'suspense')
    else ledger_account('sponsor', coalesce(e.credited_owner, e.claimed_owner), 1) end for no key update;
  taken := least(e.value, greatest(ledger_available(payer), 0));
  if taken > 0 then
    perform top_up_require(ledger_transfer(top_up_transfer_id(e, 'reversal'), 'posted', payer.id,
      top_up_account(e, 'custody'), taken, 'reversal', _actor, null, e.id, _evidence), '{done}');
  end if;
  if taken < e.value then
    perform top_up_require(ledger_transfer(top_up_transfer_id(e, 'reversal_loss'), 'posted',
      ledger_account('bad_debt', e.chain_id::text, 1), top_up_account(e, 'custody'), e.value - taken,
      'reversal_loss', _actor, null, e.id, _evidence), '{done}');
  end if;
  return 'reversed';
end $$;

-- Stops a chain and freezes everybody who was credited by the given events.
create function halt_top_ups(_chain numeric, _custody bytea, _token bytea, _reason text, _events bigint[])
    returns void language plpgsql as $$
begin
  update chain_cursor set halted_at = clock_timestamp(), halted_reason = _reason
    where chain_id = _chain and custody = _custody and token = _token and halted_at is null;
  perform ledger_lock(array_agg(a.id)) from account a where a.kind = 'sponsor' and a.owner in
    (select coalesce(credited_owner, claimed_owner) from chain_event where id = any(_events));
  update account set frozen = true, version = version + 1 where kind = 'sponsor' and not frozen and owner in
    (select coalesce(credited_owner, claimed_owner) from chain_event where id = any(_events));
end $$;
