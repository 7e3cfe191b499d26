-- Deposit addresses of tokens, and of one use.
alter table deposit_address
  -- What was quoted, as 20 bytes of hex; the zero address is the native coin, which alone was quoted before.
  add column currency text not null default '0x0000000000000000000000000000000000000000'
    check (currency ~ '^0x[0-9a-f]{40}$'),
  -- What arrives is for its one request, whatever it is.
  add column is_strict boolean not null default false;
comment on column deposit_address.asked is 'Of currency, by the first quote: a block that pays half of it or more goes before everything else.';
