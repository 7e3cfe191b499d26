// Goal: nothing waits in silence. Attackers: a state that nobody thought of, tries that begin the time anew, a chain
// that stands behind confirmations that are due. Method: every state, then random ones.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endText, reasonText } from './reasons.ts'
import { failureOf, standstillOf, type Waiting } from './standstill.ts'

const limitMs = 300_000
const day = 86_400_000
const base = { sinceMs: 1_000_000, chains: [], stop: undefined, tries: 0, report: undefined }
const moving = [{ movedAtMs: base.sinceMs + 10 * day, paceMs: 12_000 }]
const stood = [{ movedAtMs: base.sinceMs, paceMs: 12_000 }]
const bitcoin = [{ movedAtMs: base.sinceMs, paceMs: 600_000 }]

type Place = Waiting extends infer One ? (One extends Waiting ? Pick<One, 'part' | 'state'> : never) : never

describe('O-45: what makes no progress', () => {
  test.each<[string, Place, Partial<typeof base | Waiting>, string, number]>([
    ['a solver that is silent', { part: 'work', state: 'open' }, {}, 'SOLVER_SILENT', limitMs],
    [
      'a solver without inventory',
      { part: 'work', state: 'open' },
      { tries: 1, report: 'no inventory' },
      'SOLVER_BALANCE_TOO_LOW',
      limitMs,
    ],
    [
      'any other failure',
      { part: 'work', state: 'open' },
      { tries: 9, report: 'frozen' },
      'TRANSACTION_SUBMISSION_FAILED',
      limitMs,
    ],
    [
      'work that reverted',
      { part: 'work', state: 'open' },
      { tries: 9, report: 'reverted' },
      'TRANSACTION_REVERTED',
      limitMs,
    ],
    [
      'a revert that is not final',
      { part: 'work', state: 'reported' },
      { report: 'reverted' },
      'TRANSACTION_REVERTED',
      limitMs,
    ],
    [
      'what no block takes',
      { part: 'work', state: 'reported' },
      { chains: stood },
      'TRANSACTION_NOT_INCLUDED',
      limitMs,
    ],
    [
      'the same where blocks come seldom',
      { part: 'work', state: 'reported' },
      { chains: bitcoin },
      'TRANSACTION_NOT_INCLUDED',
      6_000_000,
    ],
    [
      'confirmations that are due',
      { part: 'work', state: 'included' },
      { chains: moving },
      'CHAIN_STANDS',
      day,
    ],
    [
      'the same of a chain that stands',
      { part: 'work', state: 'included' },
      { chains: stood },
      'CHAIN_STANDS',
      limitMs,
    ],
    ['work for a denied account', { part: 'work', state: 'withheld' }, {}, 'BLOCKED_WALLET', 0],
    ['a refund that was given up', { part: 'work', state: 'failed' }, {}, 'REFUND_FAILED', 0],
    [
      'an order of an operator',
      { part: 'work', state: 'open' },
      { stop: 'maintenance' },
      'CHAIN_STOPPED',
      limitMs,
    ],
    [
      'a deposit whose blocks come',
      { part: 'deposit', state: 'shallow' },
      { chains: moving },
      'DEPOSIT_CONFIRMATION_TIMEOUT',
      day,
    ],
    [
      'a deposit on a chain that stands',
      { part: 'deposit', state: 'shallow' },
      { chains: stood },
      'DEPOSIT_CONFIRMATION_TIMEOUT',
      limitMs,
    ],
    ['a deposit without a price', { part: 'deposit', state: 'deep' }, {}, 'UNDECIDED', limitMs],
    ['a deposit of a denied account', { part: 'deposit', state: 'held' }, {}, 'BLOCKED_WALLET', 0],
    ['an address that is not swept', { part: 'address', state: 'deep' }, {}, 'PAYMENT_NOT_SWEPT', limitMs],
    [
      'a sweep that reverts',
      { part: 'address', state: 'deep' },
      { tries: 0, report: 'reverted' },
      'TRANSACTION_REVERTED',
      limitMs,
    ],
    [
      'oracles that do not sign',
      { part: 'stage', state: 'unproven' },
      { report: 'ATTESTATION_MISSING' },
      'ATTESTATION_MISSING',
      limitMs,
    ],
    [
      'a fill that we do not see',
      { part: 'stage', state: 'unproven' },
      { report: 'FILL_NOT_SEEN' },
      'FILL_NOT_SEEN',
      limitMs,
    ],
    [
      'a fill whose block is not final',
      { part: 'stage', state: 'confirming' },
      { chains: moving },
      'CHAIN_STANDS',
      day,
    ],
    ['a stage without work', { part: 'stage', state: 'undecided' }, {}, 'UNDECIDED', limitMs],
    [
      'a parked request',
      { part: 'stage', state: 'parked' },
      { report: 'SEEN_BUT_DENIED' },
      'SEEN_BUT_DENIED',
      0,
    ],
    ['a hold that stays', { part: 'hold', state: 'over' }, {}, 'HOLD_STAYS', limitMs],
    [
      'a transaction that is put aside',
      { part: 'transaction', state: 'over' },
      {},
      'TRANSACTION_UNREADABLE',
      limitMs,
    ],
  ])('%s is on the list in time', (_name, place, more, reason, afterMs) => {
    // CAST: the table's places are those of the type.
    const waiting = { ...base, ...more, ...place } as Waiting
    const standstill = standstillOf(waiting, limitMs)
    expect([standstill.reason, standstill.listedAtMs - base.sinceMs]).toEqual([reason, afterMs])
    expect(standstill.needsOperator).toBe(afterMs === 0)
    expect(reasonText(standstill.reason)).not.toBe('')
    expect(endText(standstill.reason)).not.toBe('')
  })

  const places: readonly Place[] = [
    ...(['deposit', 'address'] as const).flatMap((part) =>
      (['shallow', 'deep', 'held'] as const).map((state) => ({ part, state })),
    ),
    ...(['parked', 'undecided', 'unproven', 'confirming'] as const).map(
      (state) => ({ part: 'stage', state }) as const,
    ),
    ...(['open', 'reported', 'included', 'withheld', 'failed'] as const).map(
      (state) => ({ part: 'work', state }) as const,
    ),
    { part: 'hold', state: 'over' },
    { part: 'transaction', state: 'over' },
  ]
  const anything = fc.record({
    place: fc.constantFrom(...places),
    tries: fc.nat(30),
    report: fc.constantFrom(
      undefined,
      'reverted',
      'lapsed',
      'no inventory',
      'does not pay: late',
      'FILL_NOT_SEEN',
      'x',
    ),
    chains: fc.array(fc.record({ movedAtMs: fc.nat(2e9), paceMs: fc.nat(600_000) }), { maxLength: 2 }),
    stop: fc.constantFrom(undefined, 'maintenance'),
    sinceMs: fc.nat(2e9),
  })
  test('O-46: no state is without a moment from which it is listed, a day at most, and no try delays it', () => {
    fc.assert(
      fc.property(anything, ({ place, ...more }) => {
        // CAST: see above.
        const waiting = { ...place, ...more } as Waiting
        const { listedAtMs } = standstillOf(waiting, limitMs)
        expect(listedAtMs).toBeGreaterThanOrEqual(waiting.sinceMs)
        expect(listedAtMs).toBeLessThanOrEqual(waiting.sinceMs + day)
        expect(standstillOf({ ...waiting, tries: waiting.tries + 1 }, limitMs).listedAtMs).toBe(listedAtMs)
      }),
      { numRuns: 1_000 },
    )
  })
})

test('O-50: a failure has its reason from the first try on', () => {
  expect(failureOf({ tries: 0, report: undefined })).toBeUndefined()
  expect(failureOf({ tries: 0, report: 'reverted' })).toBe('TRANSACTION_REVERTED')
  expect(failureOf({ tries: 1, report: 'no gas' })).toBe('TRANSACTION_SUBMISSION_FAILED')
  expect(failureOf({ tries: 1, report: 'EXECUTION_REVERTED: 0x' })).toBe('EXECUTION_REVERTED')
})

test('O-85: what the solver refuses is listed at once, is no operator’s to decide, and a stop comes before it', () => {
  const report = 'ORDER_REFUSED: the fill contract is another one'
  const refused: Waiting = { ...base, part: 'work', state: 'open', tries: 1, report }
  const listedAtMs = base.sinceMs
  expect(standstillOf(refused, limitMs)).toEqual({
    reason: 'ORDER_REFUSED',
    listedAtMs,
    needsOperator: false,
  })
  expect(standstillOf({ ...refused, stop: 'maintenance' }, limitMs).reason).toBe('CHAIN_STOPPED')
})
