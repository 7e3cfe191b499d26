-- What a request that its user executed alone paid out, in the smallest unit of the quoted currency. Null in rows of
-- before, and where the transaction is not the last of its request.
alter table said_transaction add column paid_amount numeric(78, 0) check (paid_amount >= 0);
