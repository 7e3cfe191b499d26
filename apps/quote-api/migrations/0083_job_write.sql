-- When a leader of the jobs last wrote: jobs that cannot write see no deposit.
create table job_write (
  singleton boolean primary key default true check (singleton),
  written_at timestamptz not null default clock_timestamp()
);
