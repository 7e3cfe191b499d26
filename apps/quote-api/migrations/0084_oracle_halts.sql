-- Chains that oracles have halted, by their last word: one that is silent lifts nothing.
create table oracle_halt (
  -- Its signer in lower-cased hex.
  oracle text not null,
  chain_id bigint not null,
  primary key (oracle, chain_id)
);
alter table chain_stop drop constraint chain_stop_told_by_check;
-- oracles: until enough of them sign for the chain again.
alter table chain_stop add constraint chain_stop_told_by_check check (told_by in ('operator', 'solver', 'oracles'));
alter table chain_stop drop constraint chain_stop_check;
alter table chain_stop add constraint chain_stop_check check ((told_by = 'solver') = (ends_at is not null));

-- So long its newest block may be the same before nothing is sold from or to it. Null: no limit is known.
alter table deposit_sight add column head_patience_ms bigint check (head_patience_ms > 0);
