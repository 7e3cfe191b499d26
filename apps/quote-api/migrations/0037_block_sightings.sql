-- A block may carry any time after that of the block before it: one that is made late can look early. What
-- a chain did not show at some moment was mined after that moment, whatever it says.

-- When a quorum had that block for its newest one, by our clock; absent after a reorganization.
alter table deposit_cursor add column newest_at timestamptz;
-- The chain did not show the deposit's block then yet; absent where we did not look.
alter table deposit_seen add column mined_after timestamptz;
