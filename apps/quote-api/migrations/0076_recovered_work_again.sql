-- An order is given up only while none of its work is open or reported, so a report, which moves work from one of these
-- to the other, need not look. It must not: whoever reports holds the work and would wait for the order, and others lock
-- the order first.
drop trigger refuse_recovered_work_again on work_item;
create trigger refuse_recovered_work_again before update of state on work_item for each row
  when (new.kind in ('fill', 'refund') and new.state in ('open', 'reported') and old.state not in ('open', 'reported'))
  execute function refuse_recovered_work();
