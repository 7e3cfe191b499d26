create table second_things (thing bigint not null references things (id));
