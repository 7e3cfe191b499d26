-- Databases of the first hours have this index without its second condition; 0001 says what that is for.
do $$
begin
  if pg_get_indexdef('hold_one_living'::regclass) not like '%request_id <> %' then
    drop index hold_one_living;
    create unique index hold_one_living on hold (request_id)
      where state in ('reserved', 'posted') and request_id <> '';
  end if;
end $$;
