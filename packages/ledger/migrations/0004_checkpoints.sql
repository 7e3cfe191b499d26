-- Hash chain over finished ranges of transfers: who changes an old row has to change every later link, and
-- those that were exported can no longer be changed.
create table checkpoint (
  n bigint primary key generated always as identity,
  from_seq bigint not null,
  upto_seq bigint not null check (upto_seq >= from_seq),
  transfers bigint not null,
  rows_hash bytea not null check (octet_length(rows_hash) = 32),
  -- SHA-256 of the previous link and `rows_hash`.
  link bytea not null check (octet_length(link) = 32),
  created_at timestamptz not null default clock_timestamp()
);
create trigger checkpoint_append_only before update or delete on checkpoint
  for each row execute function ledger_refuse_change();

-- Hash of the transfers of a range, every column in it. The settings fix how columns are written.
create function ledger_rows_hash(_from bigint, _upto bigint, out rows_hash bytea, out transfers bigint)
    language sql stable set timezone = 'UTC' set datestyle = 'ISO' set bytea_output = 'hex' as $$
  select sha256(convert_to(coalesce(string_agg(t::text, E'\n' order by t.seq), ''), 'UTF8')), count(*)
  from transfer t where t.seq between _from and _upto
$$;
