-- Claims of app fees that nobody has signed yet, by the id that the wallet signs. Nothing is reserved for them.
create table app_fee_claim_offer (
  claim_id bytea primary key check (octet_length(claim_id) = 32),
  wallet text not null,
  recipient text not null,
  chain_id bigint not null,
  currency text not null,
  amount numeric(39, 0) not null check (amount > 0),
  expires_at timestamptz not null
);
create index app_fee_claim_offer_expiry on app_fee_claim_offer (expires_at);
