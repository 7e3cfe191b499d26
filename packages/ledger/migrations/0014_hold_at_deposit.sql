-- Quotes alone starve no sponsor: unpinned holds of users who never settled a request stay under a share of the
-- balance, and a quote beyond a cap holds nothing until its deposit is pinned.

-- Whether the user had no settled request with this sponsor when the hold was made.
alter table hold add column unsettled boolean not null default false;
alter table key_load add column unsettled_amount numeric(39, 0) not null default 0
  check (unsettled_amount between 0 and amount);
create index hold_posted_user on hold (user_key, sponsor) where state = 'posted' and user_key <> '';

-- What a quote beyond a cap would hold: its deposit reserves it. It is no hold and counts nowhere.
create table hold_at_deposit (
  request_id bytea primary key check (octet_length(request_id) = 32),
  sponsor bigint not null references account,
  api_key_id text not null,
  user_key text not null,
  recipient_key text not null,
  origin_chain_id bigint not null,
  destination_chain_id bigint not null,
  components text[] not null,
  requote_key text not null,
  amount numeric(39, 0) not null check (amount > 0),
  lifetime_seconds int not null check (lifetime_seconds > 0),
  created_at timestamptz not null
);

-- Writes what quotes will hold at their deposits; repeating it changes nothing.
create function ledger_hold_at_deposit(_sponsor bigint, _at timestamptz, _quotes json) returns void language sql as $$
  insert into hold_at_deposit (request_id, sponsor, api_key_id, user_key, recipient_key, origin_chain_id,
    destination_chain_id, components, requote_key, amount, lifetime_seconds, created_at)
  select decode(j.request, 'hex'), _sponsor, j.key, j."user", j.recipient, j.origin, j.destination, j.components,
    j.requote, j.amount, j.seconds, _at
  from json_to_recordset(_quotes) as j (request text, key text, "user" text, recipient text, origin bigint,
    destination bigint, components text[], requote text, amount numeric, seconds int)
  on conflict (request_id) do nothing
$$;

-- As before, with the users who settled and what those who did not hold.
create or replace function ledger_hold_facts(_sponsor text, _keys text[], _subjects text[], _requests bytea[],
    _requotes text[], _lock boolean) returns json language plpgsql set enable_seqscan = off set jit = off
    set plan_cache_mode = force_generic_plan as $$
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
    'total', (select json_build_array(coalesce(sum(holds), 0), coalesce(sum(amount), 0)::text,
        coalesce(sum(unsettled_amount), 0)::text)
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
    'settled', (select coalesce(json_agg(s.subject), '[]') from unnest(_subjects) s (subject)
      where exists (select from hold where user_key = s.subject and sponsor = a.id
        and state = 'posted' and user_key <> '')),
    'atDeposit', (select coalesce(json_agg(encode(request_id, 'hex')), '[]')
      from hold_at_deposit where request_id = any(_requests)),
    'known', (select coalesce(json_agg(json_build_object('request', encode(k.request_id, 'hex'), 'id', k.id,
        'attempt', k.attempt,
        'hash', (select encode(t.body_hash, 'hex') from transfer t where t.id = k.id),
        'posted', k.state = 'posted',
        'lives', k.state = 'reserved' and (k.pinned or k.expires_at > moment))), '[]')
      from (select distinct on (request_id) * from hold where request_id = any(_requests)
        order by request_id, attempt desc) k),
    'open', (select coalesce(json_agg(json_build_object('id', id, 'requote', requote_key, 'key', api_key_id,
        'user', user_key, 'recipient', recipient_key, 'amount', amount::text,
        'counted', policy_version is not null, 'unsettled', unsettled,
        'today', created_at >= date_trunc('day', moment, 'UTC'))), '[]')
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

create or replace function ledger_release(_sponsor bigint, _ids uuid[], _kind text, _actor text, _reason text)
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
    update key_load k set holds = k.holds - d.holds, amount = k.amount - d.amount,
      unsettled_amount = k.unsettled_amount - d.unsettled_amount
    from (select api_key_id, count(*) as holds, sum(amount) as amount,
        coalesce(sum(amount) filter (where unsettled), 0) as unsettled_amount from h where not pinned group by 1) d
    where k.sponsor = _sponsor and k.api_key_id = d.api_key_id),
  u as (
    update policy_usage p set used = p.used - d.amount, used_count = p.used_count - d.holds
    from (select h.api_key_id, r.subject, r.window_start, sum(h.amount) as amount, count(*) as holds
      from h, ledger_usage_rows(h.user_key, h.recipient_key, h.created_at) r
      where h.policy_version is not null group by 1, 2, 3) d
    where p.api_key_id = d.api_key_id and p.subject = d.subject and p.window_start = d.window_start)
  select count(*)::int from h
$$;

create or replace function ledger_hold_apply(_sponsor bigint, _superseded uuid[], _at timestamptz, _holds json)
    returns void language plpgsql as $$
begin
  if cardinality(_superseded) > 0 then
    perform ledger_release(_sponsor, _superseded, 'void', 'quote', 'requote');
  end if;
  with j as materialized (
    select * from json_to_recordset(_holds) as j (n int, id uuid, request text, attempt int, key text,
      "user" text, recipient text, origin bigint, destination bigint, components text[], requote text,
      amount numeric, unsettled boolean, seconds int, until timestamptz, policy int, hash text)),
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
    insert into key_load (sponsor, api_key_id, holds, amount, unsettled_amount)
    select _sponsor, key, count(*), sum(amount), coalesce(sum(amount) filter (where unsettled), 0)
    from j where until is null group by key
    on conflict (sponsor, api_key_id) do update
      set holds = key_load.holds + excluded.holds, amount = key_load.amount + excluded.amount,
        unsettled_amount = key_load.unsettled_amount + excluded.unsettled_amount),
  u as (
    insert into policy_usage (api_key_id, subject, window_start, used, used_count)
    select j.key, r.subject, r.window_start, sum(j.amount), count(*)
    from j, ledger_usage_rows(j."user", j.recipient, _at) r
    where j.policy is not null group by 1, 2, 3 order by 1, 2, 3
    on conflict (api_key_id, subject, window_start) do update
      set used = policy_usage.used + excluded.used, used_count = policy_usage.used_count + excluded.used_count)
  insert into hold (id, request_id, attempt, sponsor, solver, api_key_id, user_key, recipient_key,
    origin_chain_id, destination_chain_id, components, requote_key, amount, pinned, lifetime_seconds, expires_at,
    created_at, policy_version, unsettled)
  select j.id, decode(j.request, 'hex'), j.attempt, _sponsor, w.id, j.key, j."user", j.recipient, j.origin,
    j.destination, j.components, j.requote, j.amount, j.until is not null,
    j.seconds, coalesce(j.until, _at + make_interval(secs => j.seconds)), _at, j.policy, j.unsettled
  from j join w on w.shard = get_byte(uuid_send(j.id), 15) % 16;
end $$;

create or replace function ledger_hold_post(_request bytea, _amount numeric, _actor text, _evidence json)
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
    update key_load set holds = holds - 1, amount = amount - h.amount,
        unsettled_amount = unsettled_amount - case when h.unsettled then h.amount else 0 end
      where sponsor = h.sponsor and api_key_id = h.api_key_id;
  end if;
  if h.policy_version is not null then
    update policy_usage p set used = p.used - (h.amount - _amount)
      from ledger_usage_rows(h.user_key, h.recipient_key, h.created_at) r
      where p.api_key_id = h.api_key_id and p.subject = r.subject and p.window_start = r.window_start;
  end if;
  return 'resolved';
end $$;

create or replace function ledger_hold_pin(_request bytea, _pinned boolean, _until timestamptz) returns text
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
      amount = amount + case when _pinned then -h.amount else h.amount end,
      unsettled_amount = unsettled_amount
        + case when not h.unsettled then 0 when _pinned then -h.amount else h.amount end
    where sponsor = h.sponsor and api_key_id = h.api_key_id;
    if not found then
      insert into key_load (sponsor, api_key_id, holds, amount, unsettled_amount)
        values (h.sponsor, h.api_key_id, 1, h.amount, case when h.unsettled then h.amount else 0 end);
    end if;
  end if;
  return 'resolved';
end $$;
