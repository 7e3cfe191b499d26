alter table half add column nothing no_such_type;
