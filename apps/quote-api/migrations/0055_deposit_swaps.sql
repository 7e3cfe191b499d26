-- A deposit address may hold what is swapped before its deposit. The order's salt commits to the price at least.
alter table orders add column deposit_swap jsonb;
comment on column orders.deposit_swap is 'What a deposit address holds is swapped so before its deposit; null where it is deposited as it is.';

-- Swaps that failed since the last sweep that did not: another price is asked for, and then it goes back.
alter table deposit_address add column failed_swaps smallint not null default 0;
