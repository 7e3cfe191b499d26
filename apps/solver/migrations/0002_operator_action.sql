-- One line for every change by an operator, written with the change. Lines are never changed or deleted.
create table operator_action (
  id bigint primary key generated always as identity,
  at timestamptz not null default clock_timestamp(),
  -- cli:<account> of the machine.
  actor text not null check (length(actor) between 1 and 100),
  action text not null check (length(action) between 1 and 100),
  -- done, or unchanged where it stood so already.
  outcome text not null check (length(outcome) between 1 and 100),
  reason text not null check (length(reason) <= 1000)
);
