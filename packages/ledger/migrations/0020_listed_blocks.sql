-- Up to here transfers in final blocks were listed at least half a minute after they were made, so that none comes late.
-- Null where a release without it read last: then as far as it read.
alter table chain_cursor add column settled_to bigint;
