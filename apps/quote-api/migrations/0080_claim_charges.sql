-- What a claim's recipient takes beyond a plain payment, which its wallet signs and is not paid.
alter table app_fee_claim_offer add column charged numeric(39, 0) not null default 0 check (charged >= 0 and charged < amount);
