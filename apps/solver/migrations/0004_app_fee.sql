-- What filled orders owe to wallets in app fees, and what claims took of it. Written with the payment.
create table app_fee (
  record_id text not null,
  attempt int not null,
  -- Who may claim it.
  wallet text not null,
  -- Where the order's deposit lies, and its currency.
  chain_id bigint not null,
  currency text not null,
  -- Of a fill what it owes; of a claim the part that fills cover which oracles have attested.
  amount numeric(78, 0) not null check (amount > 0),
  primary key (record_id, attempt, wallet),
  foreign key (record_id, attempt) references payment
);
create index app_fee_wallet on app_fee (wallet, chain_id, currency);
