-- Unpinned holds count by the chain that they pay to: what is open to one chain takes nothing from another.
create index hold_open_key on hold (sponsor, api_key_id, destination_chain_id)
  where state = 'reserved' and not pinned and api_key_id <> '';

-- How many unpinned holds keys and users have to one chain each, with the place of their sponsor among the names, from 1.
create function ledger_open_holds(_sponsors text[], _key_of int[], _keys text[], _key_to bigint[],
    _user_of int[], _users text[], _user_to bigint[]) returns json language plpgsql
    set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
    set plan_cache_mode = force_generic_plan as $$
begin
  return json_build_object(
    'keys', (select coalesce(json_agg(json_build_array(k.place, k.key, k.destination, o.holds)), '[]')
      from unnest(_key_of, _keys, _key_to) k (place, key, destination)
        join account a on a.kind = 'sponsor' and a.owner = _sponsors[k.place] and a.asset_id = 1, lateral (
        select count(*) as holds from hold
        where sponsor = a.id and api_key_id = k.key and api_key_id <> '' and destination_chain_id = k.destination
          and state = 'reserved' and not pinned) o
      where o.holds > 0),
    'users', (select coalesce(json_agg(json_build_array(u.place, u.key, u.destination, o.holds)), '[]')
      from unnest(_user_of, _users, _user_to) u (place, key, destination)
        join account a on a.kind = 'sponsor' and a.owner = _sponsors[u.place] and a.asset_id = 1, lateral (
        select count(*) as holds from (
          select from hold
          where sponsor = a.id and user_key = u.key and user_key <> '' and state = 'reserved' and not pinned
            and destination_chain_id = u.destination
          union all
          select from hold
          where sponsor = a.id and recipient_key = u.key and state = 'reserved' and not pinned
            and recipient_key <> user_key and destination_chain_id = u.destination
        ) open_holds) o
      where o.holds > 0));
end $$;
