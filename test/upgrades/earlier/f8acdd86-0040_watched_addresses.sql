-- What is watched costs per block: blocks tell which addresses they pay or name, and the balances of all others
-- are read in turn, a fixed number at a time. `src/depositAddresses/lanes.ts` says which lane goes first.

alter table deposit_address
  -- Quoted with a key: whoever has none cannot keep it waiting.
  add column is_keyed boolean not null default false,
  -- Of the native coin, by the first quote: a block that pays half of it or more goes before everything else.
  add column asked numeric(78, 0) not null default 0,
  -- 0 paid, 1 keyed, 2 named by a block, 3 unpaid, 4 idle for long
  add column lane smallint not null default 3 check (lane between 0 and 4);

update deposit_address d set
  is_keyed = o.api_key_id is not null,
  asked = (o.quoted ->> 'amountIn')::numeric,
  lane = case when d.active_at < clock_timestamp() - interval '1 hour' then 4
    when o.api_key_id is not null then 1 else 3 end
from orders o where o.request_id = d.request_id;

drop index deposit_address_due;
create index deposit_address_due on deposit_address (chain_id, lane, look_at) where sweep_id is null;
drop index deposit_address_sweeping;
create index deposit_address_sweeping on deposit_address (sweep_id) where sweep_id is not null;

-- How far the blocks of each chain were read for payments to addresses.
create table deposit_address_cursor (
  chain_id bigint primary key,
  scanned_to numeric(39, 0) not null check (scanned_to >= 0),
  -- Hash of that block; absent where it has to be read again from there.
  scanned_hash text
);

-- Permits that are not over, which every look at them reads.
create index work_item_permit on work_item (not_before)
  where kind = 'permit' and state in ('open', 'reported', 'failed');
-- Deposits that wait, in the order in which they are taken.
create index deposit_seen_waiting_first on deposit_seen (chain_id, id) where state = 'seen';
drop index deposit_seen_waiting;
