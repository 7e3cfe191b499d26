-- How often in a row oracles and our own endpoints contradicted each other about a fill. A request is parked
-- when that stands after they were asked again.
alter table settlement add column contradictions int not null default 0 check (contradictions >= 0);
