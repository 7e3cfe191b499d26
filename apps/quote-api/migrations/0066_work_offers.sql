-- Whoever waits for work is told of an item when it is offered, whichever process and release offers it.
create function tell_of_open_work() returns trigger language plpgsql as $$
begin
  perform pg_notify('open_work', '');
  return null;
end $$;
create trigger tell_of_new_work after insert on work_item for each row
  when (new.state = 'open') execute function tell_of_open_work();
create trigger tell_of_open_work after update of state, payload, not_before, withheld_at on work_item for each row
  when (new.state = 'open' and new.withheld_at is null) execute function tell_of_open_work();
