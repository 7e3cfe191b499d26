-- What settled requests really took and cost beside what was quoted, one row per request. Figures are for
-- operators and for time estimates: no money moves on them.
create table fill_measurement (
  request_id bytea primary key references orders on delete cascade,
  origin_chain_id bigint not null,
  destination_chain_id bigint not null,
  -- From the block of the deposit to the block of the fill.
  elapsed_seconds int not null check (elapsed_seconds >= 0),
  quoted_seconds int not null,
  -- Of that time, what neither confirmations nor the block of the fill explain.
  reaction_ms int not null check (reaction_ms >= 0),
  -- Gas that the solver paid, and what it handed out as gas; USD with 18 fraction digits. Absent where a
  -- family tells no cost.
  gas_usd_x18 numeric(78, 0),
  quoted_gas_usd_x18 numeric(78, 0) not null,
  -- What the order's first recipient got, and what the solver received, each in its currency's smallest unit.
  output_amount numeric(78, 0) not null,
  quoted_output_amount numeric(78, 0) not null,
  deposit_amount numeric(78, 0) not null,
  quoted_deposit_amount numeric(78, 0) not null,
  measured_at timestamptz not null default clock_timestamp()
);
create index fill_measurement_route on fill_measurement
  (origin_chain_id, destination_chain_id, measured_at desc) include (reaction_ms);
create index fill_measurement_destination on fill_measurement (destination_chain_id, measured_at desc);
create index settlement_settled on settlement (updated_at) where stage = 'settled';
