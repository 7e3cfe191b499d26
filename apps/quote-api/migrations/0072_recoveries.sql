-- Orders that are filled and refunded no more: the owners of their deposits recover them on the hub. Written when an
-- operator decides so, before anything is signed, and never taken back.
create table order_recovery (
  request_id bytea primary key references orders on delete cascade,
  decided_at timestamptz not null default clock_timestamp(),
  -- What the promise waits for, by its name.
  waits_for text,
  looked_at timestamptz,
  -- The signature of the order's solver that it neither filled nor refunded the order.
  promise bytea check (octet_length(promise) = 65),
  signed_at timestamptz,
  -- The solver brought the promise and every deposit to the hub.
  entered_at timestamptz,
  -- From then on the oracles release the deposits.
  recoverable_at timestamptz,
  check ((promise is null) = (signed_at is null)),
  check ((entered_at is null) = (recoverable_at is null) and (entered_at is null or promise is not null))
);
create index order_recovery_unsigned on order_recovery (looked_at nulls first) where promise is null;

alter table work_item drop constraint work_item_kind_check;
alter table work_item add constraint work_item_kind_check
  check (kind in ('fill', 'refund', 'permit', 'sweep', 'claim', 'recovery'));

-- Nothing is paid for such an order any more, whichever process and release asks for it. Whoever decides holds the
-- order's row: what waits for it here sees the decision.
create function refuse_recovered_work() returns trigger language plpgsql as $$
begin
  perform from orders where request_id = new.request_id for key share;
  if exists (select from order_recovery where request_id = new.request_id) then
    raise exception 'the order of this work is recovered on the hub' using errcode = '23514';
  end if;
  return new;
end $$;
create trigger refuse_recovered_work before insert on work_item for each row
  when (new.kind in ('fill', 'refund')) execute function refuse_recovered_work();
create trigger refuse_recovered_work_again before update of state on work_item for each row
  when (new.kind in ('fill', 'refund') and new.state in ('open', 'reported') and old.state <> new.state)
  execute function refuse_recovered_work();
