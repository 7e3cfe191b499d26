-- Payouts of accrued app fees, from the claim to the transaction that paid it.
create table app_fee_claim (
  id uuid primary key,
  wallet text not null,
  recipient text not null,
  asset_id int not null references asset,
  amount numeric(39, 0) not null check (amount > 0),
  status text not null default 'pending' check (status in ('pending', 'paid', 'failed')),
  tx_hash bytea check (octet_length(tx_hash) = 32),
  seq bigint generated always as identity unique,
  created_at timestamptz not null default clock_timestamp(),
  check (status <> 'paid' or tx_hash is not null)
);
create index app_fee_claim_wallet on app_fee_claim (wallet, seq);
