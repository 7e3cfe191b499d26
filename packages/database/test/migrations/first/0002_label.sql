alter table things add column label text not null default '';
create function double_amount(wanted bigint) returns numeric language sql as $$
  select amount * 2 from things where id = wanted
$$;
