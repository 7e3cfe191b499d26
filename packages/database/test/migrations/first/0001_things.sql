create table things (id bigint primary key, amount numeric(78, 0) not null);
