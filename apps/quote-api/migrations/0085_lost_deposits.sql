-- Turns of the books: after an odd one the deposit is booked as lost, after an even one no more.
alter table deposit_seen add column loss_turns int not null default 0 check (loss_turns >= 0);
create index deposit_seen_lost on deposit_seen (id) where state = 'orphaned' or loss_turns % 2 = 1;
-- Above the last final block whose hash is kept.
create index deposit_seen_young on deposit_seen (chain_id, block_number) where is_final and state <> 'orphaned';

create function event_of_loss() returns trigger language plpgsql as $$
begin
  insert into request_event (request_id, part, state, evidence)
    values (new.request_id, 'deposit', case new.loss_turns % 2 when 1 then 'lost' else 'found' end,
      json_build_object('chainId', new.chain_id, 'transaction', new.tx_hash, 'currency', new.currency,
        'amount', new.amount::text));
  return null;
end $$;
create trigger event_of_loss after update of loss_turns on deposit_seen for each row
  when (old.loss_turns <> new.loss_turns) execute function event_of_loss();
