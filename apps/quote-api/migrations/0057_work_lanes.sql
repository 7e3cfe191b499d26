-- What is offered to the solver has a part of each page by kind. A refund that its deposit does not pay for may wait
-- for a budget of the solver, and stands apart: no number of them keeps a fill or another refund from the page.
alter table work_item add column is_underpaid boolean not null default false;
comment on column work_item.is_underpaid is 'A refund of a short deposit, which keeps only a part of its gas.';

drop index work_item_open;
drop index work_item_open_permit;
create index work_item_open on work_item (kind, is_underpaid, created_at, id) where state = 'open';
