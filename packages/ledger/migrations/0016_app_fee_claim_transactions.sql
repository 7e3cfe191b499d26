-- Transactions are kept as their chains spell them: not every family has ids of 32 bytes.
alter table app_fee_claim
  drop constraint app_fee_claim_tx_hash_check,
  alter column tx_hash type text using '0x' || encode(tx_hash, 'hex');
