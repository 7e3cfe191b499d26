-- A claim bears the id that its wallet signed. While it is pending its amount waits in `payout_clearing`; it
-- ends once, paid or failed, and keeps its terms whoever writes. No claim could be made before.
alter table app_fee_claim
  drop column id,
  add column claim_id bytea primary key check (octet_length(claim_id) = 32),
  add column fail_reason text,
  add column ended_at timestamptz,
  add check ((status = 'pending') = (ended_at is null)),
  add check ((status = 'paid') = (tx_hash is not null)),
  add check ((status = 'failed') = (fail_reason is not null));
-- One transaction pays one claim.
create unique index app_fee_claim_transaction on app_fee_claim (asset_id, tx_hash) where tx_hash is not null;
create index app_fee_claim_pending on app_fee_claim (created_at) where status = 'pending';

create function app_fee_claim_keeps_terms() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.status = 'pending' and new.status <> 'pending'
    and (new.claim_id, new.wallet, new.recipient, new.asset_id, new.amount, new.seq, new.created_at)
      = (old.claim_id, old.wallet, old.recipient, old.asset_id, old.amount, old.seq, old.created_at)
  then return new; end if;
  raise exception 'a claim ends once and keeps its terms' using errcode = 'integrity_constraint_violation';
end $$;
create trigger app_fee_claim_keeps_terms before update or delete on app_fee_claim
  for each row execute function app_fee_claim_keeps_terms();
create trigger app_fee_claim_no_truncate before truncate on app_fee_claim
  for each statement execute function ledger_refuse_change();
