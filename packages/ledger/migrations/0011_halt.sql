-- Books that do not add up: while a row is open nobody reserves; what is held is still paid or freed.
create table ledger_halt (
  id bigint primary key generated always as identity,
  findings json not null,
  halted_at timestamptz not null default clock_timestamp(),
  cleared_at timestamptz,
  cleared_by text,
  reason text,
  check ((cleared_at is null) = (cleared_by is null) and (cleared_at is null) = (reason is null))
);
create unique index ledger_halt_open on ledger_halt ((true)) where cleared_at is null;

-- What operators changed by hand beside transfers, which name their actor themselves.
create table operator_action (
  id bigint primary key generated always as identity,
  actor text not null,
  -- E.g. `unfreeze`.
  action text not null,
  subject text not null,
  reason text not null,
  at timestamptz not null default clock_timestamp()
);
create trigger operator_action_append_only before update or delete on operator_action
  for each row execute function ledger_refuse_change();

-- Takes its own snapshot: called behind the lock of a sponsor it sees every halt that was committed before.
create function ledger_is_halted() returns boolean language plpgsql volatile as $$
begin
  return exists (select from ledger_halt where cleared_at is null);
end $$;
