-- The transfer that brought most of the quoted currency since the address was swept last: what a request shows of it.
alter table deposit_address
  add column transfer_hash text,
  -- Absent where not one account alone brought it.
  add column transfer_from text,
  add column transfer_amount numeric(78, 0);

-- The transfer of a request, as it was when the first sweep for it was asked for.
create table address_transfer (
  request_id bytea primary key references orders on delete cascade,
  tx_hash text not null,
  sender text
);
