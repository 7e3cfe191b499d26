/** One change of a SQL function of the ledger, and the test that must fail by it. */
export type SqlMutant = {
  readonly function: string
  /** Part of the function's definition, which it has once. */
  readonly text: string
  readonly replacement: string
  /** File of `packages/ledger/test`, without `.test.ts`. */
  readonly file: string
  /** Words of the test's title. */
  readonly test: string
}

type Row = readonly [text: string, replacement: string, file: string, test: string]

const addUp = 'the books add up after all of it'
const overdue = 'of a pin refuses neither a post nor the deposit'
const lateDeposit = 'L-45: on an expired quote (unswept)'

const rows: Readonly<Record<string, readonly Row[]>> = {
  ledger_available: [[' - (_account).debits_pending', '', 'holds', 'refuses one unit more']],
  ledger_transfer_id: [["_tag || ':' || _fact", '_fact', 'transfers', 'L-41: transfer ids of SQL']],
  ledger_account: [
    ["in ('sponsor', 'app_fee',", "in ('app_fee',", 'transfers', 'pays no unit more than it has'],
  ],
  ledger_transfer: [
    [
      "when known = body then 'exists' else 'conflict'",
      "when true then 'exists'",
      'transfers',
      'L-41: with an equal',
    ],
    [" and _code <> 'reversal'", '', 'transfers', 'that is frozen pays nothing but reversals'],
    ['ledger_available(d) < _amount', 'ledger_available(d) <= _amount', 'transfers', 'pays no unit more'],
    ['credits_pending + _amount', 'credits_pending', 'transfers', 'counts on both accounts'],
  ],
  ledger_resolve: [
    [" and code <> 'sponsor_hold'", '', 'holds', 'is no transfer that a post of its own ends'],
    ['debits_pending - p.amount', 'debits_pending - posted', 'transfers', 'voided leaves nothing behind'],
  ],
  ledger_usage_rows: [[' union select _recipient', '', 'policies', 'MAX_PER_USER, as user or as recipient']],
  ledger_sponsor_accounts: [
    [' for no key update of a loop', ' loop', 'severalSponsors', "'a top-up' that lands while a batch waits"],
    [' for no key update of a skip locked loop', ' loop', 'severalSponsors', 'L-49: who has the row'],
  ],
  ledger_holds_facts: [
    ['(k.pinned or k.expires_at > moment)', '(k.expires_at > moment)', 'holds', overdue],
    [
      "ids[u.place] and state = 'posted'",
      "ids[u.place] and state <> 'reserved'",
      'policies',
      'ended without a settlement',
    ],
    ['order by request_id, attempt desc', 'order by request_id, attempt', 'holds', lateDeposit],
  ],
  ledger_open_holds: [
    [' and destination_chain_id = k.destination', '', 'policies', 'L-1: a key has a thousand holds'],
  ],
  ledger_holds_release: [
    ['from h where not pinned group by', 'from h group by', 'holds', 'of a pin frees a hold'],
    ['k.unsettled_amount - d.unsettled_amount', 'k.unsettled_amount', 'policies', 'given back by a void'],
  ],
  ledger_holds_apply: [
    [
      'a.before - sum(j.amount)',
      'a.before + sum(j.amount)',
      'history',
      'tells every change with the balance',
    ],
    ['from j where until is null group by', 'from j group by', 'holds', addUp],
    ['j.until is not null,', 'false,', 'holds', lateDeposit],
  ],
  ledger_hold_at_deposit: [
    ['j.requote, j.amount', 'j.requote, j.amount + 1', 'policies', 'L-1, L-45: beyond a cap'],
  ],
  ledger_hold_ended: [["then 'already_voided'", "then 'expired'", 'holds', 'L-44: moves the hold']],
  ledger_hold_post: [
    ['not h.pinned and h.expires_at', 'h.expires_at', 'holds', overdue],
    ['_amount > h.amount', 'false', 'holds', 'of one unit more leaves the exact rest'],
    ['credits_posted + _amount', 'credits_posted + h.amount', 'holds', addUp],
  ],
  ledger_hold_expire: [['not h.pinned and ', '', 'holds', overdue]],
  ledger_hold_pin: [
    [
      "if not _pinned and not h.pinned then return 'resolved'; end if;",
      '',
      'holds',
      'is not moved by another unpinning',
    ],
  ],
  ledger_expire_due: [
    ['limit _limit - expired', 'limit _limit', 'holds', 'with several holds of each sponsor'],
  ],
  orphan_event: [
    ["state = 'seen' returning", "state <> 'orphaned' returning", 'topUps', 'that is final is not dropped'],
  ],
  credit_event: [
    [' or live.log_index <> _log_index', '', 'topUps', 'with another sender or place'],
    ['_value, _from, _to', '_value, live.from_addr, _to', 'topUps', 'with another sender or place'],
  ],
  finalize_event: [["'post', e.value,", "'post', e.value - 1,", 'topUps', 'is pending and not spendable']],
  claim_event: [
    [
      "if e.claimed_owner is not null then return 'already_claimed'; end if;",
      '',
      'topUps',
      'waits for its claim',
    ],
  ],
  reverse_event: [
    ['least(e.value, greatest(ledger_available(payer), 0))', 'e.value', 'topUps', 'is a loss as far as'],
  ],
  ledger_is_halted: [[' where cleared_at is null', '', 'holds', 'L-46: a halted ledger']],
  app_fee_claim_keeps_terms: [
    [
      'new.asset_id, new.amount',
      'new.asset_id, old.amount',
      'appFeeClaims',
      'ends with the amount that it began with',
    ],
  ],
  ledger_refuse_change: [
    [
      "raise exception '% is append-only', tg_table_name using errcode = 'integrity_constraint_violation'",
      'return new',
      'transfers',
      'a deletion is refused',
    ],
  ],
  ledger_movements: [
    ['else -p.amount end', 'else -t.amount end', 'statements', 'opening, lines and closing add up'],
  ],
  ledger_rows_hash: [['between _from and _upto', '>= _from', 'audit', 'notices a link that was made to fit']],
}

/** Each is a mistake that somebody could make in a migration that replaces the function. */
export const sqlMutants: readonly SqlMutant[] = Object.entries(rows).flatMap(([name, ofFunction]) =>
  ofFunction.map(([text, replacement, file, test]) => ({ function: name, text, replacement, file, test })),
)
