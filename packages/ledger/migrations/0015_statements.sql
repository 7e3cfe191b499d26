-- Statements: what moved on one account between two midnights (UTC), and what it had at either.

-- Where a period of one account ended. Whoever asks for it again gets the same transfers, whatever a clock did since.
create table statement_close (
  account bigint not null references account,
  -- The first moment after the period.
  ended_at timestamptz not null check (ended_at = date_trunc('day', ended_at, 'UTC')),
  -- The last transfer that counts before it; 0 for none.
  upto_seq bigint not null check (upto_seq >= 0),
  posted numeric(39, 0) not null,
  held numeric(39, 0) not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (account, ended_at)
);
create trigger statement_close_append_only before update or delete on statement_close
  for each row execute function ledger_refuse_change();

-- What the transfers of a range did to an account that is credited (`C`), in its smallest units.
create function ledger_movements(_account bigint, _after bigint, _upto bigint)
    returns table (seq bigint, at timestamptz, code text, hold uuid, posted numeric, held numeric)
    language sql stable as $$
  select t.seq, t.created_at, t.code, t.pending_id,
    case when t.kind in ('posted', 'post') then -t.amount else 0 end,
    case t.kind when 'pending' then t.amount when 'posted' then 0 else -p.amount end
  from transfer t left join transfer p on p.id = t.pending_id
  where t.debit_account = _account and t.debit_after is not null and t.seq > _after and t.seq <= _upto
  union all
  select t.seq, t.created_at, t.code, null,
    case when t.kind in ('posted', 'post') then t.amount else 0 end, 0
  from transfer t
  where t.credit_account = _account and t.credit_after is not null and t.seq > _after and t.seq <= _upto
$$;

-- Ends a period of an account for good, or tells how it ended. Its row is locked: whoever is about to write a
-- transfer of it has that row, so none that counts can still be on its way.
create function ledger_close_statement(_account bigint, _ended timestamptz) returns statement_close
    language plpgsql as $$
declare
  closed statement_close;
  earlier statement_close;
  later bigint;
begin
  select * into closed from statement_close where account = _account and ended_at = _ended;
  if found then return closed; end if;
  perform from account where id = _account for no key update;
  if _ended > clock_timestamp() then
    raise exception 'a period ends before its statement is closed' using errcode = 'data_exception';
  end if;
  select * into closed from statement_close where account = _account and ended_at = _ended;
  if found then return closed; end if;
  select * into earlier from statement_close where account = _account and ended_at < _ended
    order by ended_at desc limit 1;
  select min(upto_seq) into later from statement_close where account = _account and ended_at > _ended;
  insert into statement_close (account, ended_at, upto_seq, posted, held)
  select _account, _ended, coalesce(l.seq, earlier.upto_seq, 0),
    coalesce(earlier.posted, 0) + coalesce(sum(m.posted), 0), coalesce(earlier.held, 0) + coalesce(sum(m.held), 0)
  from (
    select max(f.seq) as seq
    from ledger_movements(_account, coalesce(earlier.upto_seq, 0), coalesce(later, 9223372036854775807)) f
    where f.at < _ended) l
  left join lateral ledger_movements(_account, coalesce(earlier.upto_seq, 0), l.seq) m on true
  group by l.seq
  returning * into closed;
  return closed;
end $$;
