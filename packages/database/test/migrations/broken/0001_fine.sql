create table half (id bigint);
