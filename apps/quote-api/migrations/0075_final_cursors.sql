-- Up to here a watcher has read final blocks to their end. Null where a release without it read last: then as far below
-- its newest block as a reorganization is followed back.
alter table deposit_cursor add column final_to bigint;
