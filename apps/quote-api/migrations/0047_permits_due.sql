-- Permits cost their signers nothing, so no number of open ones may cost the job that follows them anything: it reads
-- those that something happened to, and those whose signature ended.
alter table work_item
  -- Of a permit: a deposit of its request was seen, whoever sent it.
  add column is_deposited boolean not null default false;

update work_item w set is_deposited = true where kind = 'permit' and state = 'open'
  and exists (select 1 from deposit_seen d where d.request_id = w.request_id and d.state <> 'orphaned');

drop index work_item_permit;
create index work_item_permit_due on work_item (not_before)
  where kind = 'permit' and (state in ('reported', 'failed') or (state = 'open' and is_deposited));
create index work_item_permit_over on work_item (((payload ->> 'deadline')::numeric))
  where kind = 'permit' and state = 'open';
