-- Up to here transfers of tokens in final blocks were listed once more. Null where a release without it read last: then
-- as far as it read.
alter table deposit_address_cursor add column final_to bigint;
