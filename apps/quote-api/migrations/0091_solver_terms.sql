-- What solvers say that they fill with. Whoever says nothing more is forgotten after a minute.
create table solver_terms (
  -- The name that the solver gives itself; empty for those that say nothing of themselves.
  solver text primary key,
  -- Null: not said.
  terms jsonb,
  told_at timestamptz not null default clock_timestamp()
);
