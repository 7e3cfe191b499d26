/** Rows for tables that a set of migrations has, in the order in which they can be written. */
export type Filling = {
  /** The migration with which the statement works, `<module>/<name>`. */
  readonly since: string
  /** One from which on it no longer does. */
  readonly until?: string
  readonly sql: string
}

/** 32 bytes that are one number's, and no other's. */
const id = (tag: string) => `sha256(convert_to('${tag} ' || n, 'UTF8'))`
const first = `sha256(convert_to('request 1', 'UTF8'))`
const numbers = 'generate_series(1, 40) n'
const token = '0x00000000000000000000000000000000000000aa'
const wallet = `'0x' || lpad(to_hex(n % 3 + 1), 40, '0')`

/**
 * Database of an operator after some days: orders with and without a key, deposits, work, settlements, addresses,
 * top-ups, holds in every state, app fees, and links over them. Books are written by the functions that the set itself
 * has.
 */
export const fillings: readonly Filling[] = [
  {
    since: 'quote_api/0001_orders',
    sql: `insert into orders (request_id, order_id, user_address, recipient, origin_chain_id, destination_chain_id,
        api_key_id, quoted, order_data, order_signature, steps_digest, created_at, expires_at, deadline, keep_until)
      select ${id('request')}, case when n % 5 > 0 then ${id('order')} end, ${wallet}, ${wallet}, 8453, 10,
        case when n % 2 = 0 then 'keykeykey' || substr('abc', n % 3 + 1, 1) end,
        json_build_object('amountIn', (n * 1000)::text, 'calls', repeat('0123456789abcdef', n * 10)),
        case when n % 5 > 0 then json_build_object('salt', n) end,
        case when n % 5 > 0 then decode(repeat('ab', 65), 'hex') end, ${id('steps')},
        now() - n * interval '2 hours', now() - n * interval '119 minutes', now() - n * interval '1 hour',
        now() + interval '30 days'
      from ${numbers}`,
  },
  {
    since: 'quote_api/0002_keys',
    sql: `insert into api_key (id, label, wallet, wallet_linked_at)
        select 'keykeykey' || k, 'key ' || k, '0x' || repeat('1', 40), now() from unnest('{a,b,c}'::text[]) k;
      insert into api_key_secret (handle, api_key_id, hash, pepper_id)
        select id, id, sha256(convert_to(id, 'UTF8')), 'v1' from api_key;
      insert into wallet_challenge (nonce_hash, api_key_id, wallet, issued_at, expires_at)
        select sha256(convert_to(id, 'UTF8')), id, '0x' || repeat('2', 40), now(), now() + interval '5 minutes'
        from api_key;
      insert into admin_action (actor, action, subject, details) values ('cli:root', 'create key', 'keykeykeya', '{}')`,
  },
  {
    since: 'quote_api/0003_requests',
    sql: `update orders set status = (array['waiting', 'pending', 'success', 'refund', 'failure'])[
          1 + get_byte(request_id, 0) % 5], updated_at = now();
      insert into request_sponsorship (request_id, sponsor, debit_micro_usd, quoted)
        select request_id, '0x' || repeat('1', 40), 5000, '{"shares": []}' from orders where api_key_id is not null;
      insert into request_transaction (request_id, role, chain_id, tx_hash, block_number)
        select ${id('request')}, 'deposit', 8453, '0x' || encode(${id('deposit')}, 'hex'), n from ${numbers}`,
  },
  {
    since: 'quote_api/0010_jobs',
    sql: `insert into job_epoch (job, epoch, holder) values ('fills', 7, 'one'), ('deposits-base', 3, 'two')`,
  },
  {
    since: 'quote_api/0020_settlement',
    sql: `insert into deposit_cursor (chain_id, scanned_to, scanned_hash) values (8453, 100, '0xab'), (10, 200, '0xcd');
      insert into deposit_seen (chain_id, tx_hash, onchain_index, block_number, block_hash, block_time, order_id,
        request_id, depositor, currency, amount, state, is_final)
        select 8453, '0x' || encode(${id('deposit')}, 'hex'), '0', n, '0xab', now(), coalesce(order_id, request_id),
          request_id, user_address, '${token}', n * 1000,
          (array['seen', 'taken', 'refund_due', 'refunded', 'ignored', 'orphaned'])[1 + n % 6], n % 2 = 0
        from ${numbers} join orders on request_id = ${id('request')};
      insert into work_item (kind, request_id, chain_id, payload, state, tx_hash)
        select (array['fill', 'refund', 'permit', 'sweep'])[1 + n % 4], ${id('request')}, 10,
          json_build_object('deadline', 2000000000 + n), (array['open', 'reported', 'done', 'failed'])[1 + n / 4 % 4],
          case when n / 4 % 4 = 1 then '0x' || encode(${id('fill')}, 'hex') end
        from ${numbers};
      insert into settlement (request_id, deposit_id, stage, is_bound, parked_reason)
        select request_id, id, (array['filling', 'filled', 'refunding', 'settled', 'refunded', 'parked'])[1 + id % 6],
          true, case when id % 6 = 5 then 'two fills' end
        from deposit_seen where state = 'taken'`,
  },
  {
    since: 'quote_api/0030_webhooks',
    sql: `insert into webhook_endpoint (api_key_id, url, sealed, pepper_id)
        values ('keykeykeya', 'https://example.org/hook', 'sealed', 'v1');
      insert into webhook_delivery (event_id, api_key_id, request_id, body, state, finished_at)
        select gen_random_uuid(), 'keykeykeya', ${id('request')}, '{"event": 1}',
          case when n % 2 = 0 then 'waiting' else 'failed' end, case when n % 2 = 1 then now() end
        from ${numbers}`,
  },
  {
    since: 'quote_api/0031_permits',
    sql: `update orders set execution = '{"kind": "permit"}' where get_byte(request_id, 1) % 3 = 0`,
  },
  {
    since: 'quote_api/0032_deposit_addresses',
    sql: `update orders set superseded_by = ${first}
        where get_byte(request_id, 2) % 4 = 0 and request_id <> ${first};
      insert into deposit_address (address, chain_id, order_signer, sweeper, depositor, nonce, request_id, sweep_id,
        sweeps, active_at)
        select '0x' || encode(substr(${id('address')}, 1, 20), 'hex'), 8453, '0x1', '0x2', '0x3', ${id('nonce')},
          ${id('request')}, (select w.id from work_item w where w.request_id = ${id('request')} and kind = 'sweep'),
          n % 3, now() - n * interval '4 minutes'
        from ${numbers}`,
  },
  {
    since: 'quote_api/0033_claims',
    sql: `insert into app_fee_claim_offer (claim_id, wallet, recipient, chain_id, currency, amount, expires_at)
      select ${id('offer')}, ${wallet}, ${wallet}, 10, '${token}', n, now() + interval '1 hour' from ${numbers}`,
  },
  {
    since: 'quote_api/0034_fill_measurements',
    sql: `insert into fill_measurement (request_id, origin_chain_id, destination_chain_id, elapsed_seconds, quoted_seconds,
        reaction_ms, quoted_gas_usd_x18, output_amount, quoted_output_amount, deposit_amount, quoted_deposit_amount)
      select ${id('request')}, 8453, 10, n, n, n * 100, 1, n, n, n, n from ${numbers}`,
  },
  {
    since: 'quote_api/0035_self_executed',
    sql: `insert into said_transaction (request_id, chain_id, tx_hash, state, call_index)
      select ${id('request')}, 8453, '0x' || encode(${id('said')}, 'hex'),
        (array['said', 'executed', 'reverted', 'other'])[1 + n % 4], case when n % 4 in (1, 2) then 0 end
      from ${numbers}`,
  },
  {
    since: 'quote_api/0040_watched_addresses',
    sql: `insert into deposit_address_cursor (chain_id, scanned_to) values (8453, 90)`,
  },
  {
    since: 'quote_api/0051_deposit_address_currencies',
    sql: `update deposit_address set currency = '${token}', is_strict = true where get_byte(nonce, 0) % 2 = 0`,
  },
  {
    since: 'quote_api/0053_key_usage',
    sql: `insert into key_usage (granularity, api_key_id, starts_at, endpoint, status_code, error_code, answers)
        select 'hourly', 'keykeykeya', date_trunc('hour', now()) - n * interval '1 hour', '/quote', 200, '', n
        from ${numbers};
      insert into key_usage_writer (writer, sequence) values (gen_random_uuid(), 12)`,
  },
  {
    since: 'quote_api/0055_deposit_swaps',
    sql: `update orders set deposit_swap = '{"amountOut": "5"}' where get_byte(request_id, 3) % 4 = 0`,
  },
  {
    since: 'quote_api/0058_screening',
    sql: `insert into deny_release (request_id, resolution)
        select ${id('request')}, (array['release', 'refund'])[1 + n % 2] from ${numbers} where n % 8 = 0;
      update deposit_seen set senders = array['0x1', '0x2'] where id % 5 = 0;
      update work_item set withheld_at = now() where state = 'open'`,
  },
  {
    since: 'quote_api/0059_audit',
    sql: `insert into admin_action (actor, action, subject, details, outcome)
        values ('cli:root', 'requests.resolve', '0x1', '{"reason": "mended"}', 'unchanged')`,
  },
  {
    since: 'quote_api/0060_shared_limits',
    sql: `insert into limit_window (bucket, caller, ends_at, allowed, taken, granted)
      select 'quote', substr(${id('caller')}, 1, 16), now() + interval '1 second', 50, n, 1 from ${numbers}`,
  },
  {
    since: 'quote_api/0061_request_events',
    sql: `insert into request_event (request_id, part, state, evidence)
      select request_id, 'status', 'pending', '{}' from orders where status = 'waiting'`,
  },
  {
    since: 'quote_api/0062_sponsor_sessions',
    sql: `insert into sponsor_session (token_hash, challenge_hash, wallet, expires_at)
      select ${id('token')}, ${id('challenge')}, ${wallet}, clock_timestamp() + interval '1 hour' from ${numbers}`,
  },
  {
    since: 'quote_api/0067_put_aside',
    sql: `insert into put_aside (chain_id, transaction_id, purpose, reason, tries)
      select 8453, '0x' || encode(${id('aside')}, 'hex'), 'deposits', 'unreadable', n from ${numbers}`,
  },
  {
    since: 'quote_api/0069_chain_stops',
    sql: `insert into chain_stop (chain_id, told_by, reason, actor) select n, 'operator', 'test', 'cli:root' from ${numbers};
      insert into stop_reader (reader, read_at) values ('allocator', now())`,
  },
  {
    since: 'quote_api/0084_oracle_halts',
    sql: `insert into oracle_halt (oracle, chain_id) select 'oracle ' || n, n from ${numbers};
      insert into chain_stop (chain_id, told_by, reason, actor) select n, 'oracles', 'test', 'quote-api' from ${numbers}`,
  },
  {
    since: 'quote_api/0091_solver_terms',
    sql: `insert into solver_terms (solver, terms) select 'solver ' || n, '{"orderSigners": []}' from ${numbers}`,
  },
  {
    since: 'quote_api/0085_lost_deposits',
    sql: `update deposit_seen set loss_turns = id % 3 where state = 'orphaned'`,
  },
  {
    since: 'quote_api/0070_skew_bookings',
    sql: `insert into skew_booking (request_id, micro_usd, booked_at)
        select ${id('request')}, case when n % 2 = 0 then n else -n end, now() - n * interval '1 hour' from ${numbers};
      insert into reward_claim (process, micro_usd, ends_at)
        values (gen_random_uuid(), 0, now() + interval '1 minute')`,
  },
  {
    since: 'quote_api/0071_standstill',
    sql: `insert into standstill_limit (seconds) values (120);
      update deposit_seen set deep_since = now() - id * interval '1 minute' where state = 'seen';
      update work_item set waits_since = now() - interval '1 hour', is_included = state = 'reported';
      update settlement set unproven_since = now(), unproven_as = 'ATTESTATION_MISSING' where stage = 'filled';
      update deposit_address set held_since = now() where sweeps = 1`,
  },
  {
    since: 'quote_api/0075_final_cursors',
    sql: `update deposit_cursor set final_to = scanned_to - 50 where chain_id = 10`,
  },
  {
    since: 'quote_api/0077_deposit_sight',
    sql: `insert into deposit_sight (chain_id, patience_ms) select n, n * 15000 from ${numbers};
      update deposit_cursor set final_hash = scanned_hash where chain_id = 10`,
  },
  {
    since: 'quote_api/0079_final_scans',
    sql: `update deposit_address_cursor set final_to = scanned_to - 50`,
  },
  ...ledgerFillings(),
  {
    since: 'quote_api/0072_recoveries',
    sql: `insert into order_recovery (request_id, promise, signed_at, entered_at, recoverable_at)
      select ${id('request')}, case when n % 2 = 0 then decode(repeat('ab', 65), 'hex') end,
        case when n % 2 = 0 then now() end, case when n % 4 = 0 then now() end, case when n % 4 = 0 then now() end
      from ${numbers} where n % 5 = 0`,
  },
  {
    since: 'quote_api/0089_address_transfers',
    sql: `update deposit_address set transfer_hash = '0x' || encode(nonce, 'hex'), transfer_from = depositor,
        transfer_amount = 1000 where sweeps = 1;
      insert into address_transfer (request_id, tx_hash, sender)
        select request_id, '0x' || encode(nonce, 'hex'), depositor from deposit_address`,
  },
  {
    since: 'quote_api/0094_solver_exposure',
    sql: `insert into solver_exposure (chain_id, paid_micro_usd, max_micro_usd) select n, n, 100 from ${numbers}`,
  },
  {
    since: 'quote_api/0080_claim_charges',
    sql: 'update app_fee_claim_offer set charged = 1 where amount > 1',
  },
  {
    since: 'quote_api/0083_job_write',
    sql: 'insert into job_write default values',
  },
  {
    since: 'solver/0001_solver',
    sql: `insert into job_epoch (job, epoch, holder) values ('wallet', 2, 'one');
      insert into signed_record (id, attempt, wallet, chain_id, nonce, kind, payment_id, outcome, is_failure_reported, record)
        select 'item ' || n, 0, '0x1', 10, n, 'fill', encode(${id('order')}, 'hex'),
          (array['open', 'succeeded', 'reverted'])[1 + n % 3], false, '{"raw": "0x02"}'
        from ${numbers};
      insert into budget_entry (budget, amount, record_id, attempt) select 'loss', n, 'item ' || n, 0 from ${numbers};
      insert into stop_switch (is_stopped, reason) values (true, 'test')`,
  },
  {
    since: 'solver/0002_operator_action',
    sql: `insert into operator_action (actor, action, outcome, reason) values ('cli:root', 'stop', 'done', 'test')`,
  },
  {
    since: 'solver/0003_payment',
    sql: `insert into payment (record_id, attempt, kind, chain_id, micro_usd, traits, asked, state)
      select 'item ' || n, 0, 'fill', 10, n, '{"calls"}', '{}', (array['signed', 'paid', 'refused'])[1 + n % 3] from ${numbers}`,
  },
  {
    since: 'solver/0004_app_fee',
    sql: `insert into app_fee (record_id, attempt, wallet, chain_id, currency, amount)
      select 'item ' || n, 0, '0x1', 8453, '0x2', n + 1 from ${numbers}`,
  },
  {
    since: 'solver/0006_closed_order',
    sql: `insert into closed_order (order_id) select '0x' || encode(${id('order')}, 'hex') from ${numbers}`,
  },
  {
    since: 'solver/0007_oracle_halts',
    sql: `insert into oracle_halt (oracle, chain_id) values ('0x' || repeat('1', 40), 8453)`,
  },
  { since: 'solver/0008_solver_name', sql: 'select name from solver_name' },
  {
    since: 'oracle/0001_shared_state',
    sql: `insert into oracle_owner (signer, environment) values ('0x' || repeat('1', 40), 'mainnets.prod');
      insert into signed_value (key, hub_token, amount) select ${id('key')}, n % 3, n * 1000 from ${numbers};
      insert into signed_minute (hub_token, minute, amount) select n % 3, 29000000 + n, n * 1000 from ${numbers};
      insert into settled_order (order_id, claims) select ${id('order')}, '[]' from ${numbers};
      insert into held_execution (id, kind, key, lets, reason, released_at, released_by)
        select 'id ' || n, 'fills', 'key', '{"1 of base"}', 'cap', now(), 'cli:root' from ${numbers};
      insert into halted_chain (chain, block_number, known_hash) select 'chain ' || n, n, 'a' from ${numbers}`,
  },
]

function ledgerFillings(): readonly Filling[] {
  const sponsor = (n: string) => `'0x' || lpad(to_hex(${n} % 3 + 1), 40, '0')`
  const holds = (
    kind: string,
  ) => `select ledger_hold_apply(ledger_account('sponsor', ${sponsor('s')}, 1), '{}', now(),
        (select json_agg(json_build_object('n', n, 'id', ledger_transfer_id('hold', '${kind} ' || s || ' ' || n),
          'request', encode(${id('request')}, 'hex'), 'attempt', 0, 'key', 'keykeykey' || substr('abc', s + 1, 1),
          'user', 'user ' || n % 4, 'recipient', 'recipient ' || n % 4, 'origin', 8453, 'destination', 10,
          'components', array['gas'], 'requote', 'route ' || n, 'amount', (n * 100)::text, 'unsettled', n % 2 = 0,
          'seconds', 600, 'policy', case when s = 0 then 1 end, 'hash', encode(${id('body')}, 'hex')) order by n)
        from ${numbers} where n % 3 = s))
      from generate_series(0, 2) s`
  return [
    {
      since: 'ledger/0010_top_ups',
      sql: `insert into chain_cursor (chain_id, custody, token, scanned_to, final_to, final_hash)
          values (8453, decode(repeat('11', 20), 'hex'), decode(repeat('22', 20), 'hex'), 50, 40, sha256('40'));
        select credit_event(8453, ${id('top up')}, 0, 0, n, sha256('block'), decode(repeat('22', 20), 'hex'),
            decode(repeat('33', 20), 'hex'), decode(repeat('11', 20), 'hex'), n * 1000000, null,
            case when n % 7 = 0 then 'no_tail' else 'ok' end, case when n % 7 > 0 then ${sponsor('n')} end, false)
          from ${numbers};
        select finalize_event(id, '{"seen": "by two"}') from chain_event where id % 5 > 0 order by id;
        select orphan_event(id) from chain_event where id % 10 = 0 order by id;
        select claim_event(id, ${sponsor('id')}, 'cli:root', '{"ticket": 4}') from chain_event
          where state = 'final' and credited_owner is null and id % 2 = 0 order by id;
        select reverse_event(id, 'cli:root', '{"reorg": true}') from chain_event where id = 36`,
    },
    {
      since: 'ledger/0020_listed_blocks',
      sql: `update chain_cursor set settled_to = final_to - 15`,
    },
    {
      since: 'ledger/0011_halt',
      sql: `select policy_set('keykeykeya', '{"maxTotal": "100000000"}', 'cli:root');
        ${holds('first')};
        select ledger_hold_pin(request_id, true, now() + interval '1 day') from hold where amount % 1200 = 0;
        select ledger_hold_post(request_id, amount / 2, 'settlement', '{"oracles": 2}') from hold where amount % 500 = 0;
        select ledger_hold_void(request_id, 'settlement', 'refund') from hold where amount % 700 = 0;
        insert into operator_action (actor, action, subject, reason) values ('cli:root', 'unfreeze', '0x1', 'mended');
        insert into ledger_halt (findings, cleared_at, cleared_by, reason) values ('[]', now(), 'cli:root', 'mended');
        insert into outbox (topic, payload) select 'status', json_build_object('n', n) from ${numbers};
        insert into checkpoint (from_seq, upto_seq, transfers, rows_hash, link)
          select 1, m.seq, r.transfers, r.rows_hash, sha256(''::bytea || r.rows_hash)
          from (select max(seq) as seq from transfer) m, ledger_rows_hash(1, m.seq) r`,
    },
    {
      since: 'ledger/0003_app_fees',
      sql: `insert into asset (chain_id, address, symbol, name, decimals) values (10, '${token}', 'USDC', 'USD Coin', 6);
        select ledger_transfer(ledger_transfer_id('app_fee', n::text), 'posted', ledger_account('app_fee_due', 'users', 2),
          ledger_account('app_fee', ${sponsor('n')}, 2), n * 10, 'app_fee', 'settlement', ${id('request')})
        from ${numbers}`,
    },
    {
      since: 'ledger/0012_app_fee_claims',
      sql: `select ledger_transfer(ledger_transfer_id('claim', encode(${id('claim')}, 'hex')), 'posted',
            ledger_account('app_fee', ${sponsor('n')}, 2), ledger_account('payout_clearing', '10:${token}', 2), n, 'claim',
            'claimant', ${id('claim')}) from generate_series(1, 9) n;
        insert into app_fee_claim (claim_id, wallet, recipient, asset_id, amount)
          select ${id('claim')}, ${sponsor('n')}, ${wallet}, 2, n from generate_series(1, 9) n;
        select ledger_transfer(ledger_transfer_id('claim_end', encode(${id('claim')}, 'hex')), 'posted',
            ledger_account('payout_clearing', '10:${token}', 2),
            case when n % 3 = 1 then ledger_account('app_fee_due', 'users', 2)
              else ledger_account('app_fee', ${sponsor('n')}, 2) end,
            n, case when n % 3 = 1 then 'claim_paid' else 'claim_failed' end, 'payouts', ${id('claim')})
          from generate_series(1, 9) n where n % 3 > 0;
        update app_fee_claim set status = 'failed', fail_reason = 'reverted', ended_at = now() where amount % 3 = 2`,
    },
    {
      since: 'ledger/0012_app_fee_claims',
      until: 'ledger/0016_app_fee_claim_transactions',
      sql: `update app_fee_claim set status = 'paid', tx_hash = sha256(claim_id), ended_at = now() where amount % 3 = 1`,
    },
    {
      since: 'ledger/0016_app_fee_claim_transactions',
      sql: `update app_fee_claim set status = 'paid', tx_hash = '0x' || encode(sha256(claim_id), 'hex'), ended_at = now()
        where amount % 3 = 1 and status = 'pending'`,
    },
    {
      since: 'ledger/0014_hold_at_deposit',
      sql: `select ledger_hold_at_deposit(ledger_account('sponsor', ${sponsor('1')}, 1), now(), (
        select json_agg(json_build_object('request', encode(${id('later')}, 'hex'), 'key', 'keykeykeyb', 'user', 'user 1',
          'recipient', 'user 1', 'origin', 8453, 'destination', 10, 'components', array['gas'], 'requote', 'r',
          'amount', '5', 'seconds', 600)) from ${numbers}))`,
    },
    {
      since: 'ledger/0015_statements',
      sql: `select ledger_close_statement(id, date_trunc('day', now(), 'UTC')) from account where kind = 'sponsor'`,
    },
  ]
}
