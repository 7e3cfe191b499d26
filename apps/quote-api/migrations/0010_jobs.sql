-- Who leads each background job. The leader holds an advisory lock; the epoch tells its writes from those of
-- a leader that was stopped and does not know it yet.
create table job_epoch (
  job text primary key,
  epoch bigint not null check (epoch > 0),
  -- Process that leads since; for operators.
  holder text not null,
  since timestamptz not null default clock_timestamp()
);
