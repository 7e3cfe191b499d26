-- Deposit addresses of Solana are spelled in base58, where capitals count.
alter table deposit_address
  drop constraint deposit_address_address_check,
  add constraint deposit_address_address_check check (address ~ '^[0-9A-Za-z]{1,128}$');
