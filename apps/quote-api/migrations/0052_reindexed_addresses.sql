-- When somebody last asked for a look at an address: asking again at once costs reads and shows nothing new.
alter table deposit_address add column reindexed_at timestamptz;
