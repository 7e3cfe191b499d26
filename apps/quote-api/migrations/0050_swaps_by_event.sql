-- A router's event names the request that was paid, so that one transaction of a batch may execute several.
alter table said_transaction add column by_event boolean not null default false;
drop index said_transaction_once;
-- One transaction that is a quoted call, told by its calldata, executes one request.
create unique index said_transaction_once on said_transaction (chain_id, tx_hash)
  where state in ('executed', 'reverted') and not by_event;
