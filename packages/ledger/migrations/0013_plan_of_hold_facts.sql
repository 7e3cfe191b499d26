-- Every lookup of this function goes through an index whatever its parameters are, and planning its eleven
-- subqueries anew for each small batch took longer than running them.
alter function ledger_hold_facts(text, text[], text[], bytea[], text[], boolean)
  set plan_cache_mode = force_generic_plan;
