-- Holds of several sponsors are decided and written by the same few statements as those of one: what a statement costs
-- apart from its rows (starting it, planning it, opening some fifty tables and indexes) was two thirds of a quote's cost
-- where each sponsor had statements of its own. What is here looks every row up by an index, one sponsor after the other,
-- whatever statistics there are: that is what the settings of each function are for.

-- Ids of the sponsors' accounts, in the order of the names; null for one that has no account or was not locked. `wait`
-- locks all of them, by name; `skip` locks those that nobody else has and waits for nobody; `none` locks nothing.
create function ledger_sponsor_accounts(_sponsors text[], _lock text) returns bigint[] language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
    set plan_cache_mode = force_generic_plan as $$
declare
  ids bigint[] := array_fill(null::bigint, array[cardinality(_sponsors)]);
  l record;
begin
  if _lock = 'wait' then
    for l in select a.id, s.place from unnest(_sponsors) with ordinality s (owner, place)
        join account a on a.kind = 'sponsor' and a.owner = s.owner and a.asset_id = 1
        order by a.owner collate "C" for no key update of a loop
      ids[l.place] := l.id;
    end loop;
  elsif _lock = 'skip' then
    for l in select a.id, s.place from unnest(_sponsors) with ordinality s (owner, place)
        join account a on a.kind = 'sponsor' and a.owner = s.owner and a.asset_id = 1
        order by a.owner collate "C" for no key update of a skip locked loop
      ids[l.place] := l.id;
    end loop;
  else
    for l in select a.id, s.place from unnest(_sponsors) with ordinality s (owner, place)
        join account a on a.kind = 'sponsor' and a.owner = s.owner and a.asset_id = 1 loop
      ids[l.place] := l.id;
    end loop;
  end if;
  return ids;
end $$;

-- All that decides about new holds of several sponsors, at one moment after all locks. Keys, users and re-quote keys come
-- with the place of their sponsor among the names, from 1. `busy` are the places of accounts that were not locked.
create function ledger_holds_facts(_sponsors text[], _key_of int[], _keys text[], _user_of int[], _users text[],
    _requote_of int[], _requotes text[], _requests bytea[], _lock text) returns json language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
    set plan_cache_mode = force_generic_plan as $$
declare
  ids bigint[] := ledger_sponsor_accounts(_sponsors, _lock);
  busy int[] := '{}';
  -- The statements below take their snapshots after the locks.
  moment timestamptz := clock_timestamp();
  today timestamptz := date_trunc('day', moment, 'UTC');
begin
  if _lock = 'skip' and array_position(ids, null) is not null then
    busy := array(select s.place::int from unnest(_sponsors) with ordinality s (owner, place)
      join account a on a.kind = 'sponsor' and a.owner = s.owner and a.asset_id = 1 where ids[s.place] is null);
  end if;
  return json_build_object(
    'at', moment,
    'busy', busy,
    'accounts', (select coalesce(json_agg(json_build_object('place', s.place, 'id', a.id::text, 'frozen', a.frozen,
        'posted', (a.credits_posted - a.debits_posted)::text, 'held', a.debits_pending::text,
        'unsettled', (select coalesce(sum(unsettled_amount), 0)::text from key_load where sponsor = a.id))), '[]')
      from unnest(ids) with ordinality s (id, place) join account a on a.id = s.id),
    'due', (select coalesce(json_agg(distinct sponsor::text), '[]') from hold
      where state = 'reserved' and expires_at > '-infinity' and expires_at <= moment and sponsor = any(ids)),
    'keys', (select coalesce(json_agg(json_build_array(k.place, l.api_key_id, l.holds, l.amount::text)), '[]')
      from unnest(_key_of, _keys) k (place, key)
        join key_load l on l.sponsor = ids[k.place] and l.api_key_id = k.key),
    'users', (select coalesce(json_agg(json_build_array(u.place, u.key, o.holds, o.amount::text)), '[]')
      from unnest(_user_of, _users) u (place, key), lateral (
        select count(*) as holds, sum(amount) as amount from (
          select amount from hold
          where sponsor = ids[u.place] and user_key = u.key and user_key <> '' and state = 'reserved' and not pinned
          union all
          select amount from hold
          where sponsor = ids[u.place] and recipient_key = u.key and state = 'reserved' and not pinned
            and recipient_key <> user_key
        ) open_holds) o
      where o.holds > 0),
    'settled', (select coalesce(json_agg(json_build_array(u.place, u.key)), '[]')
      from unnest(_user_of, _users) u (place, key)
      where exists (select from hold where user_key = u.key and sponsor = ids[u.place] and state = 'posted'
        and user_key <> '')),
    'atDeposit', (select coalesce(json_agg(encode(request_id, 'hex')), '[]')
      from hold_at_deposit where request_id = any(_requests)),
    'known', (select coalesce(json_agg(json_build_object('request', encode(k.request_id, 'hex'), 'id', k.id,
        'attempt', k.attempt,
        'hash', (select encode(t.body_hash, 'hex') from transfer t where t.id = k.id),
        'posted', k.state = 'posted',
        'lives', k.state = 'reserved' and (k.pinned or k.expires_at > moment))), '[]')
      from (select distinct on (request_id) * from hold where request_id = any(_requests)
        order by request_id, attempt desc) k),
    'open', (select coalesce(json_agg(json_build_object('place', r.place, 'id', h.id, 'requote', h.requote_key,
        'key', h.api_key_id, 'user', h.user_key, 'recipient', h.recipient_key, 'amount', h.amount::text,
        'counted', h.policy_version is not null, 'unsettled', h.unsettled, 'today', h.created_at >= today)), '[]')
      from unnest(_requote_of, _requotes) r (place, key)
        join hold h on h.sponsor = ids[r.place] and h.requote_key = r.key and h.requote_key <> ''
          and h.state = 'reserved' and not h.pinned),
    'policies', (select coalesce(json_agg(json_build_array(k.place, p.api_key_id, p.version, p.rules)), '[]')
      from unnest(_key_of, _keys) k (place, key), lateral (
        select * from policy where api_key_id = k.key order by version desc limit 1) p),
    -- What a key used decides nothing where it has no policy.
    'usage', (select coalesce(json_agg(json_build_array(k.place, p.api_key_id, p.subject,
        p.window_start > '-infinity', p.used::text, p.used_count)), '[]')
      from unnest(_key_of, _keys) k (place, key), lateral (
        select * from policy_usage where api_key_id = k.key and window_start in ('-infinity', today)
          and subject = any(array_append(array(select u.key from unnest(_user_of, _users) u (place, key)
            where u.place = k.place), ''))) p
      where exists (select from policy where api_key_id = k.key)));
end $$;

-- Ends reserved holds of several sponsors without a debit. The caller has the sponsors' locks.
create function ledger_holds_release(_sponsors bigint[], _ids uuid[], _kind text, _actor text, _reason text)
    returns int language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
    set plan_cache_mode = force_generic_plan as $$
declare released int;
begin
  with h as (
    update hold set state = case _kind when 'void' then 'voided' else 'expired' end,
      resolved_at = clock_timestamp()
    where id = any(_ids) and sponsor = any(_sponsors) and state = 'reserved' returning *),
  a as (
    update account set debits_pending = debits_pending - s.amount, version = version + 1
    from (select sponsor, sum(amount) as amount from h group by sponsor) s where account.id = s.sponsor
    returning account.id,
      account.credits_posted - account.debits_posted - account.debits_pending - s.amount as before),
  t as (
    insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, pending_id, code,
      request_id, actor, evidence, body_hash, debit_after)
    select ledger_transfer_id('resolve', h.id::text), h.sponsor, h.solver, 1, 0, _kind, h.id,
      'sponsor_' || _kind, h.request_id, _actor, json_build_object('reason', _reason),
      sha256(convert_to(concat_ws('|', _kind, 0, h.id), 'UTF8')),
      a.before + sum(h.amount) over (partition by h.sponsor order by h.id)
    from h join a on a.id = h.sponsor order by h.id),
  l as (
    update key_load k set holds = k.holds - d.holds, amount = k.amount - d.amount,
      unsettled_amount = k.unsettled_amount - d.unsettled_amount
    from (select sponsor, api_key_id, count(*) as holds, sum(amount) as amount,
        coalesce(sum(amount) filter (where unsettled), 0) as unsettled_amount
      from h where not pinned group by 1, 2) d
    where k.sponsor = d.sponsor and k.api_key_id = d.api_key_id),
  u as (
    update policy_usage p set used = p.used - d.amount, used_count = p.used_count - d.holds
    from (select h.api_key_id, r.subject, r.window_start, sum(h.amount) as amount, count(*) as holds
      from h, ledger_usage_rows(h.user_key, h.recipient_key, h.created_at) r
      where h.policy_version is not null group by 1, 2, 3) d
    where p.api_key_id = d.api_key_id and p.subject = d.subject and p.window_start = d.window_start)
  select count(*)::int into released from h;
  return released;
end $$;

create or replace function ledger_release(_sponsor bigint, _ids uuid[], _kind text, _actor text, _reason text)
    returns int language sql as $$
  select ledger_holds_release(array[_sponsor], _ids, _kind, _actor, _reason)
$$;

-- Writes the holds that were decided on the facts of the same transaction, in their order, after the superseded ones are
-- freed. The caller has the locks of the sponsors, whose ids are given and stand in each hold.
create function ledger_holds_apply(_sponsors bigint[], _superseded uuid[], _at timestamptz, _holds json)
    returns void language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
    set plan_cache_mode = force_generic_plan as $$
begin
  if cardinality(_superseded) > 0 then
    perform ledger_holds_release(_sponsors, _superseded, 'void', 'quote', 'requote');
  end if;
  with w as materialized (
    select array_agg(id order by owner::int) as shards from account where kind = 'solver_earned' and asset_id = 1),
  j as materialized (
    select j.*, w.shards[1 + get_byte(uuid_send(j.id), 15) % 16] as solver
    from json_to_recordset(_holds) as j (n int, sponsor bigint, id uuid, request text, attempt int, key text,
      "user" text, recipient text, origin bigint, destination bigint, components text[], requote text,
      amount numeric, unsettled boolean, seconds int, until timestamptz, policy int, hash text), w),
  a as (
    update account set debits_pending = debits_pending + s.amount, version = version + 1
    from (select sponsor, sum(amount) as amount from j group by sponsor) s where account.id = s.sponsor
    returning account.id,
      account.credits_posted - account.debits_posted - account.debits_pending + s.amount as before),
  t as (
    insert into transfer (id, debit_account, credit_account, asset_id, amount, kind, code, request_id, actor,
      body_hash, debit_after)
    select j.id, j.sponsor, j.solver, 1, j.amount, 'pending', 'sponsor_hold', decode(j.request, 'hex'), 'quote',
      decode(j.hash, 'hex'), a.before - sum(j.amount) over (partition by j.sponsor order by j.n)
    from j join a on a.id = j.sponsor order by j.n),
  l as (
    insert into key_load (sponsor, api_key_id, holds, amount, unsettled_amount)
    select sponsor, key, count(*), sum(amount), coalesce(sum(amount) filter (where unsettled), 0)
    from j where until is null group by sponsor, key
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
  select j.id, decode(j.request, 'hex'), j.attempt, j.sponsor, j.solver, j.key, j."user", j.recipient, j.origin,
    j.destination, j.components, j.requote, j.amount, j.until is not null,
    j.seconds, coalesce(j.until, _at + make_interval(secs => j.seconds)), _at, j.policy, j.unsettled
  from j;
end $$;
