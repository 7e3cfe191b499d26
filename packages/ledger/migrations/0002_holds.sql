-- Holds of sponsored quotes. The sponsor's account row is the lock for everything that concerns its holds:
-- whoever has it sees all committed holds and nobody else changes one. It is taken before any other row.

-- Unpinned holds per key: what the caps on a key and on a balance look at.
create table key_load (
  sponsor bigint not null references account,
  api_key_id text not null,
  holds int not null check (holds >= 0),
  amount numeric(39, 0) not null check (amount >= 0),
  primary key (sponsor, api_key_id)
) with (fillfactor = 50);

-- Every version that a key's policy ever had; the highest rules.
create table policy (
  api_key_id text not null,
  version int not null check (version > 0),
  rules jsonb not null,
  actor text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (api_key_id, version)
);
create trigger policy_append_only before update or delete on policy
  for each row execute function ledger_refuse_change();

-- What a key with a policy used: in all (subject '') and per user; ever and per UTC day.
create table policy_usage (
  api_key_id text not null,
  subject text not null,
  window_start timestamptz not null,
  used numeric(39, 0) not null check (used >= 0),
  used_count bigint not null check (used_count >= 0),
  primary key (api_key_id, subject, window_start)
) with (fillfactor = 70);

-- The usage rows that one hold counts in.
create function ledger_usage_rows(_user text, _recipient text, _at timestamptz)
    returns table (subject text, window_start timestamptz) language sql immutable as $$
  select s.subject, w.window_start
  from (select '' union select _user union select _recipient) s (subject),
    (values ('-infinity'::timestamptz), (date_trunc('day', _at, 'UTC'))) w (window_start)
$$;

-- All that decides about new holds of one sponsor, read under its lock (or without, for a dry run). Every
-- lookup has an index; the settings keep a planner without fresh statistics from scanning history instead.
create function ledger_hold_facts(_sponsor text, _keys text[], _subjects text[], _requests bytea[],
    _requotes text[], _lock boolean) returns json language plpgsql set enable_seqscan = off set jit = off as $$
declare
  a account;
  moment timestamptz;
begin
  if _lock then
    select * into a from account where kind = 'sponsor' and owner = _sponsor and asset_id = 1 for no key update;
  else
    select * into a from account where kind = 'sponsor' and owner = _sponsor and asset_id = 1;
  end if;
  -- The statements below take their snapshots after the lock.
  moment := clock_timestamp();
  return json_build_object(
    'at', moment,
    'account', case when a.id is not null then json_build_object('id', a.id::text, 'frozen', a.frozen,
      'posted', (a.credits_posted - a.debits_posted)::text, 'held', a.debits_pending::text) end,
    'hasDue', exists (select from hold where state = 'reserved' and expires_at > '-infinity'
      and expires_at <= moment and sponsor = a.id),
    'total', (select json_build_array(coalesce(sum(holds), 0), coalesce(sum(amount), 0)::text)
      from key_load where sponsor = a.id),
    'keys', (select coalesce(json_agg(json_build_array(api_key_id, holds, amount::text)), '[]')
      from key_load where sponsor = a.id and api_key_id = any(_keys)),
    'users', (select coalesce(json_agg(json_build_array(s.subject, o.holds, o.amount::text)), '[]')
      from unnest(_subjects) s (subject), lateral (
        select count(*) as holds, sum(amount) as amount from (
          select amount from hold
          where sponsor = a.id and user_key = s.subject and user_key <> ''
            and state = 'reserved' and not pinned
          union all
          select amount from hold
          where sponsor = a.id and recipient_key = s.subject and state = 'reserved' and not pinned
            and recipient_key <> user_key
        ) open_holds) o
      where o.holds > 0),
    'known', (select coalesce(json_agg(json_build_object('request', encode(k.request_id, 'hex'), 'id', k.id,
        'attempt', k.attempt,
        'hash', (select encode(t.body_hash, 'hex') from transfer t where t.id = k.id),
        'posted', k.state = 'posted',
        'lives', k.state = 'reserved' and (k.pinned or k.expires_at > moment))), '[]')
      from (select distinct on (request_id) * from hold where request_id = any(_requests)
        order by request_id, attempt desc) k),
    'open', (select coalesce(json_agg(json_build_object('id', id, 'requote', requote_key, 'key', api_key_id,
        'user', user_key, 'recipient', recipient_key, 'amount', amount::text,
        'counted', policy_version is not null, 'today', created_at >= date_trunc('day', moment, 'UTC'))), '[]')
      from hold
      where sponsor = a.id and requote_key = any(_requotes) and requote_key <> ''
        and state = 'reserved' and not pinned),
    'policies', (select coalesce(json_agg(json_build_object('key', api_key_id, 'version', version,
        'rules', rules)), '[]')
      from (select distinct on (api_key_id) * from policy where api_key_id = any(_keys)
        order by api_key_id, version desc) newest),
    'usage', (select coalesce(json_agg(json_build_array(api_key_id, subject, window_start > '-infinity',
        used::text, used_count)), '[]')
      from policy_usage
      where api_key_id = any(_keys) and subject = any(array_append(_subjects, ''))
        and window_start in ('-infinity', date_trunc('day', moment, 'UTC'))));
end $$;

-- Ends reserved holds of one sponsor without a debit. The caller has the sponsor's lock.
create function ledger_release(_sponsor bigint, _ids uuid[], _kind text, _actor text, _reason text)
    returns int language sql as $$
  with h as (
    update hold set state = case _kind when 'void' then 'voided' else 'expired' end,
      resolved_at = clock_timestamp()
    where id = any(_ids) and sponsor = _sponsor and state = 'reserved' returning *),
  s as (select coalesce(sum(amount), 0) as amount from h),
  a as (
    update account set debits_pending = debits_pending - s.amount, version = version + 1
    from s where account.id = _sponsor and s.amount > 0
    returning account.credits_posted - account.debits_posted - account.debits_pending - s.amount as before),
  t as (
    insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, pending_id, code,
      request_id, actor, evidence, body_hash, debit_after)
    select ledger_transfer_id('resolve', h.id::text), h.sponsor, h.solver, 1, 0, _kind, h.id,
      'sponsor_' || _kind, h.request_id, _actor, json_build_object('reason', _reason),
      sha256(convert_to(concat_ws('|', _kind, 0, h.id), 'UTF8')),
      a.before + sum(h.amount) over (order by h.id)
    from h, a order by h.id),
  l as (
    update key_load k set holds = k.holds - d.holds, amount = k.amount - d.amount
    from (select api_key_id, count(*) as holds, sum(amount) as amount from h where not pinned group by 1) d
    where k.sponsor = _sponsor and k.api_key_id = d.api_key_id),
  u as (
    update policy_usage p set used = p.used - d.amount, used_count = p.used_count - d.holds
    from (select h.api_key_id, r.subject, r.window_start, sum(h.amount) as amount, count(*) as holds
      from h, ledger_usage_rows(h.user_key, h.recipient_key, h.created_at) r
      where h.policy_version is not null group by 1, 2, 3) d
    where p.api_key_id = d.api_key_id and p.subject = d.subject and p.window_start = d.window_start)
  select count(*)::int from h
$$;

-- Writes the holds that were decided on the facts of the same transaction, in their order, after the
-- superseded ones are freed.
create function ledger_hold_apply(_sponsor bigint, _superseded uuid[], _at timestamptz, _holds json)
    returns void language plpgsql as $$
begin
  if cardinality(_superseded) > 0 then
    perform ledger_release(_sponsor, _superseded, 'void', 'quote', 'requote');
  end if;
  with j as materialized (
    select * from json_to_recordset(_holds) as j (n int, id uuid, request text, attempt int, key text,
      "user" text, recipient text, origin bigint, destination bigint, components text[], requote text,
      amount numeric, seconds int, until timestamptz, policy int, hash text)),
  s as (select sum(amount) as amount from j),
  a as (
    update account set debits_pending = debits_pending + s.amount, version = version + 1
    from s where account.id = _sponsor
    returning account.credits_posted - account.debits_posted - account.debits_pending + s.amount as before),
  w as (select id, owner::int as shard from account where kind = 'solver_earned' and asset_id = 1),
  t as (
    insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, code, request_id, actor,
      body_hash, debit_after)
    select j.id, _sponsor, w.id, 1, j.amount, 'pending', 'sponsor_hold', decode(j.request, 'hex'), 'quote',
      decode(j.hash, 'hex'), a.before - sum(j.amount) over (order by j.n)
    from j join w on w.shard = get_byte(uuid_send(j.id), 15) % 16, a order by j.n),
  l as (
    insert into key_load (sponsor, api_key_id, holds, amount)
    select _sponsor, key, count(*), sum(amount) from j where until is null group by key
    on conflict (sponsor, api_key_id) do update
      set holds = key_load.holds + excluded.holds, amount = key_load.amount + excluded.amount),
  u as (
    insert into policy_usage (api_key_id, subject, window_start, used, used_count)
    select j.key, r.subject, r.window_start, sum(j.amount), count(*)
    from j, ledger_usage_rows(j."user", j.recipient, _at) r
    where j.policy is not null group by 1, 2, 3 order by 1, 2, 3
    on conflict (api_key_id, subject, window_start) do update
      set used = policy_usage.used + excluded.used, used_count = policy_usage.used_count + excluded.used_count)
  insert into hold (id, request_id, attempt, sponsor, solver, api_key_id, user_key, recipient_key,
    origin_chain_id, destination_chain_id, components, requote_key, amount, pinned, lifetime_seconds, expires_at,
    created_at, policy_version)
  select j.id, decode(j.request, 'hex'), j.attempt, _sponsor, w.id, j.key, j."user", j.recipient, j.origin,
    j.destination, j.components, j.requote, j.amount, j.until is not null,
    j.seconds, coalesce(j.until, _at + make_interval(secs => j.seconds)), _at, j.policy
  from j join w on w.shard = get_byte(uuid_send(j.id), 15) % 16;
end $$;

-- The newest hold of a request, with its sponsor's lock; null when there never was one.
create function ledger_lock_hold(_request bytea) returns hold language plpgsql as $$
declare h hold;
begin
  select * into h from hold where request_id = _request order by attempt desc limit 1;
  if not found then return null; end if;
  perform from account where id = h.sponsor for no key update;
  select * into h from hold where request_id = _request order by attempt desc limit 1;
  return h;
end $$;

-- Why a hold can no longer be changed; null while it can.
create function ledger_hold_ended(_hold hold) returns text language sql immutable as $$
  select case when (_hold).id is null then 'unknown_hold'
    else case (_hold).state when 'posted' then 'already_posted' when 'voided' then 'already_voided'
      when 'expired' then 'expired' end end
$$;

-- Debits at most the hold, frees the rest. An unpinned hold past its expiry is over, swept or not.
create function ledger_hold_post(_request bytea, _amount numeric, _actor text, _evidence json)
    returns text language plpgsql as $$
declare
  h hold := ledger_lock_hold(_request);
  ended text := ledger_hold_ended(h);
  d account;
  c account;
begin
  if ended is not null then return ended; end if;
  if not h.pinned and h.expires_at <= clock_timestamp() then return 'expired'; end if;
  if _amount < 0 or _amount > h.amount then return 'exceeds_hold'; end if;
  update account set debits_pending = debits_pending - h.amount, debits_posted = debits_posted + _amount,
    version = version + 1 where id = h.sponsor returning * into d;
  if _amount > 0 then
    update account set credits_posted = credits_posted + _amount, version = version + 1
      where id = h.solver returning * into c;
  end if;
  update hold set state = 'posted', posted_amount = _amount, resolved_at = clock_timestamp() where id = h.id;
  insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, pending_id, code, request_id,
    actor, evidence, body_hash, debit_after, credit_after)
  values (ledger_transfer_id('resolve', h.id::text), h.sponsor, h.solver, 1, _amount, 'post', h.id,
    'sponsor_post', _request, _actor, _evidence,
    sha256(convert_to(concat_ws('|', 'post', _amount, h.id), 'UTF8')), ledger_available(d),
    case when _amount > 0 then ledger_available(c) end);
  if not h.pinned then
    update key_load set holds = holds - 1, amount = amount - h.amount
      where sponsor = h.sponsor and api_key_id = h.api_key_id;
  end if;
  if h.policy_version is not null then
    update policy_usage p set used = p.used - (h.amount - _amount)
      from ledger_usage_rows(h.user_key, h.recipient_key, h.created_at) r
      where p.api_key_id = h.api_key_id and p.subject = r.subject and p.window_start = r.window_start;
  end if;
  return 'resolved';
end $$;

create function ledger_hold_void(_request bytea, _actor text, _reason text) returns text language plpgsql as $$
declare
  h hold := ledger_lock_hold(_request);
  ended text := ledger_hold_ended(h);
begin
  if ended is not null then return ended; end if;
  perform ledger_release(h.sponsor, array[h.id], 'void', _actor, _reason);
  return 'resolved';
end $$;

-- Expires a hold of a request where it is due, before the sweeper comes to it.
create function ledger_hold_expire(_request bytea) returns void language plpgsql as $$
declare h hold := ledger_lock_hold(_request);
begin
  if h.state = 'reserved' and not h.pinned and h.expires_at <= clock_timestamp() then
    perform ledger_release(h.sponsor, array[h.id], 'expire', 'settlement', 'expiry');
  end if;
end $$;

-- Pins or unpins a hold and moves its expiry.
create function ledger_hold_pin(_request bytea, _pinned boolean, _until timestamptz) returns text
    language plpgsql as $$
declare
  h hold := ledger_lock_hold(_request);
  ended text := ledger_hold_ended(h);
begin
  if ended is not null then return ended; end if;
  if _pinned and not h.pinned and h.expires_at <= clock_timestamp() then return 'expired'; end if;
  -- Unpinning is for pinned holds: another's expiry is not the caller's to move.
  if not _pinned and not h.pinned then return 'resolved'; end if;
  update hold set pinned = _pinned, expires_at = _until where id = h.id;
  if _pinned <> h.pinned then
    update key_load set holds = holds + case when _pinned then -1 else 1 end,
      amount = amount + case when _pinned then -h.amount else h.amount end
    where sponsor = h.sponsor and api_key_id = h.api_key_id;
    if not found then
      insert into key_load (sponsor, api_key_id, holds, amount) values (h.sponsor, h.api_key_id, 1, h.amount);
    end if;
  end if;
  return 'resolved';
end $$;

-- Expires due holds, oldest first, of one sponsor or of all. Returns how many.
create function ledger_expire_due(_limit int, _sponsor bigint default null) returns int language plpgsql as $$
declare
  -- A value, unlike the clock itself, can be looked up in an index.
  moment timestamptz := clock_timestamp();
  s bigint;
  expired int := 0;
begin
  -- In the order in which batches lock sponsors.
  for s in
    select id from account where id in (
      select sponsor from hold
      where state = 'reserved' and expires_at > '-infinity' and expires_at <= moment
        and (_sponsor is null or sponsor = _sponsor)
      order by expires_at limit _limit)
    order by owner collate "C"
  loop
    perform from account where id = s for no key update;
    expired := expired + ledger_release(s, array(
      select id from hold
      where sponsor = s and state = 'reserved' and expires_at > '-infinity' and expires_at <= moment
      order by expires_at limit _limit - expired), 'expire', 'sweeper', 'expiry');
    exit when expired >= _limit;
  end loop;
  return expired;
end $$;

create function policy_set(_key text, _rules jsonb, _actor text) returns int language plpgsql as $$
declare newest int;
begin
  -- Two writers of one key come one after the other.
  perform pg_advisory_xact_lock(hashtext('policy'), hashtext(_key));
  select coalesce(max(version), 0) + 1 into newest from policy where api_key_id = _key;
  insert into policy (api_key_id, version, rules, actor) values (_key, newest, _rules, _actor);
  return newest;
end $$;
