-- One line for every change by an operator, with what came of it; refused attempts have one too.
alter table admin_action
  -- done, unchanged where it stood so already, or the code of the refusal.
  add column outcome text not null default 'done' check (length(outcome) between 1 and 100);

-- What was kept by the ledger alone. A database of tests may have no ledger.
do $$
begin
  if to_regclass('operator_action') is not null then
    insert into admin_action (done_at, actor, action, subject, details)
    select at, actor, case action when 'freeze' then 'sponsor.freeze' when 'unfreeze' then 'sponsor.unfreeze'
        when 'resume-top-ups' then 'topup.resume' else action end,
      subject, jsonb_build_object('reason', reason)
    from operator_action order by id;
  end if;
end $$;
