-- Accounts that the operator's deny list names are not served. What is theirs waits for the operator.

alter table deposit_seen drop constraint deposit_seen_state_check;
-- held: who sent it, or an account that its request names, is denied. Nothing becomes of it but by an operator.
alter table deposit_seen add constraint deposit_seen_state_check check (state in
  ('seen', 'taken', 'refund_due', 'refunded', 'ignored', 'orphaned', 'held'));
-- Accounts that brought it, beside the depositor that it names; only where a deny list is looked at.
alter table deposit_seen add column senders text[];
create index deposit_seen_held on deposit_seen (request_id) where state = 'held';

-- Not offered to the solver until an operator says so: somebody whom it would pay is denied.
alter table work_item add column withheld_at timestamptz;
create index work_item_withheld on work_item (request_id) where withheld_at is not null;

-- A denied account paid the address.
alter table deposit_address add column is_sender_denied boolean not null default false;
create index deposit_address_left on deposit_address (request_id) where left_reason is not null;

-- Requests that an operator let pass: no list stops them any more.
create table deny_release (
  request_id bytea primary key references orders on delete cascade,
  -- release: the usual rules go on. refund: whatever is deposited goes back.
  resolution text not null check (resolution in ('release', 'refund')),
  released_at timestamptz not null default clock_timestamp()
);
