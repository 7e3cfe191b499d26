-- The name of this solver at services, which its processes share and which outlives a change of its keys.
create table solver_name (
  is_only boolean primary key default true check (is_only),
  name uuid not null default gen_random_uuid()
);
insert into solver_name default values;
