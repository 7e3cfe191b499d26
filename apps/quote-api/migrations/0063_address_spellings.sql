-- Each family spells addresses and currencies in its own way; what is stored is canonical.
alter table deposit_address
  drop constraint deposit_address_address_check,
  drop constraint deposit_address_currency_check,
  add constraint deposit_address_address_check check (address ~ '^[0-9a-z]{1,128}$'),
  add constraint deposit_address_currency_check check (currency ~ '^[0-9A-Za-z]{1,128}$');
