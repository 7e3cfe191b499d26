-- Chains that oracles have halted, by their last word: one that is silent lifts nothing, a restart neither.
create table oracle_halt (
  -- Its signer in lower-cased hex.
  oracle text not null,
  chain_id bigint not null,
  primary key (oracle, chain_id)
);
