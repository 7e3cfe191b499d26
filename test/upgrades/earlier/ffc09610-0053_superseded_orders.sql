-- Whose status changes with that of a newer order: a change is announced for both.
create index orders_superseded on orders (superseded_by) where superseded_by is not null;
