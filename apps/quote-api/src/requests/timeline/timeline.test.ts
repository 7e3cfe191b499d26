// Goal: whatever can happen to a request is a step with its reason, and nothing that ends one goes untold. Attackers: a
// rule that gives a reason that no list has, a state that no step tells, a row of an operator that strangers read.
import { expect, test } from 'vitest'
import { isReason, reasonTexts } from '../status/reasons.ts'
import type { RequestEvent, RequestFacts } from './requestFacts.ts'
import { timelineOf } from './timeline.ts'
import { stepNames } from './timelineStep.ts'

const facts: RequestFacts = {
  requestId: '0x1',
  orderId: '0x2',
  status: 'waiting',
  createdAtMs: 1_000,
  deadlineMs: 60_000,
  origin: { chainId: 8453, currency: '0xa', amount: 5_000_000n, decimals: 6, usdX18: 10n ** 18n },
  destination: {
    chainId: 10,
    currency: '0xb',
    amount: 2n * 10n ** 15n,
    decimals: 18,
    usdX18: 2_500n * 10n ** 18n,
  },
  market: undefined,
  supersededBy: undefined,
  holds: [],
  events: [],
  left: undefined,
  standing: undefined,
  recoverable: undefined,
}
const nameOf = (_chainId: number, currency: string) =>
  currency === '0xa' ? { symbol: 'USDC', decimals: 6 } : undefined
const told = (changed: Partial<RequestFacts>, nowMs = 2_000) =>
  timelineOf({ ...facts, ...changed }, nowMs, nameOf)
const names = (changed: Partial<RequestFacts>, nowMs?: number) =>
  told(changed, nowMs).steps.map(({ step }) => step)

const standing = {
  reason: 'SOLVER_SILENT',
  meaning: 'The solver is silent.',
  endsBy: 'It takes it.',
  transaction: '0xf',
  listedAt: new Date(9_000),
  needsOperator: false,
  report: undefined,
} as const

test('O-50: what stands still is the last step, with its reason and what ends it', () => {
  const { reason, steps } = told({ standing })
  expect([reason, steps.at(-1)?.text]).toEqual([
    'SOLVER_SILENT',
    'It makes no progress. The solver is silent. What ends it: It takes it.',
  ])
  expect(names({ standing: { ...standing, needsOperator: true } })).not.toContain('stands-still')
})

test('O-50: a transaction that reverted is a step of its own', () => {
  const event: RequestEvent = {
    atMs: 2_000,
    reason: 'TRANSACTION_REVERTED',
    part: 'work',
    state: 'reverted',
    work: { kind: 'refund', chainId: 10, transaction: '0xf' },
  }
  expect(told({ events: [event] }).steps.at(-1)).toMatchObject({
    step: 'solver-reverted',
    reason: 'TRANSACTION_REVERTED',
    text: 'Refund: its transaction reverted.',
  })
})

test('O-85: what the solver refuses is told in its words, and no other report is', () => {
  const report = 'ORDER_REFUSED: the order is signed by somebody else'
  const refused = { ...standing, reason: 'ORDER_REFUSED', report } as const
  expect(told({ standing: refused }).steps.at(-1)?.text).toContain(
    'It says: the order is signed by somebody else.',
  )
  const gaveUp = (said: string): RequestEvent => ({
    atMs: 2_000,
    reason: undefined,
    part: 'work',
    state: 'failed',
    work: { kind: 'fill', chainId: 10, transaction: undefined, said },
  })
  const textOf = (said: string) => told({ events: [gaveUp(said)] }).steps.at(-1)?.text
  expect(textOf(report)).toBe(
    'Payment to the recipient: the solver gave up. It says: the order is signed by somebody else.',
  )
  expect(textOf('no gas at http://node')).toBe('Payment to the recipient: the solver gave up.')
})

const deposit = { chainId: 8453, transaction: '0xd', currency: '0xa', amount: 5_000_000n }
const fill = { kind: 'fill', chainId: 10, transaction: '0xf' } as const
const at = (atMs: number, reason?: string) => ({ atMs, reason })
const proof = { kind: 'solver-fill', signatures: [{ signer: '0x3', signature: '0x4' }] }

test('a quote rests on what each source said, and on blocks that so many endpoints told alike', () => {
  const [quoted] = told({
    market: {
      prices: {
        'ETH/USD': [
          { source: 'feed base 0xfe', usdX18: 2_500n * 10n ** 18n, atMs: 500, block: 77n },
          { source: 'http defillama', usdX18: 2_501n * 10n ** 18n, atMs: 600 },
        ],
      },
      chains: {
        8453: { block: 78n, hash: '0xbb', networkFee: '5 wei per gas', agreed: 3, configured: 3 },
        10: { block: 9n },
      },
    },
  }).steps
  expect(quoted?.evidence.slice(4, -1)).toEqual([
    {
      kind: 'price',
      label: 'ETH/USD by feed base 0xfe, read at block 77',
      value: '2500.0 USD of 1970-01-01T00:00:00.500Z',
    },
    { kind: 'price', label: 'ETH/USD by http defillama', value: '2501.0 USD of 1970-01-01T00:00:00.600Z' },
    { kind: 'block', label: 'read at block 9', value: '9', chainId: 10 },
    { kind: 'block', label: 'read at block 78, alike at 3 of 3 endpoints', value: '0xbb', chainId: 8453 },
    { kind: 'price', label: 'network fee', value: '5 wei per gas', chainId: 8453 },
  ])
})

test('a sponsored request that succeeds, from quote to debit', () => {
  const { steps, reason } = told({
    status: 'success',
    holds: [
      {
        createdAtMs: 1_000,
        resolvedAtMs: 9_000,
        state: 'posted',
        amountMicroUsd: 30_000n,
        postedMicroUsd: 25_000n,
      },
    ],
    events: [
      { ...at(2_000), part: 'deposit', state: 'seen', deposit },
      { ...at(3_000), part: 'deposit', state: 'taken', deposit },
      { ...at(3_001), part: 'work', state: 'open', work: { ...fill, transaction: undefined } },
      { ...at(3_002), part: 'stage', state: 'filling', proof: undefined },
      { ...at(3_003), part: 'status', state: 'pending' },
      { ...at(4_000), part: 'work', state: 'reported', work: fill },
      { ...at(5_000), part: 'transaction', state: 'fill', transaction: { chainId: 10, hash: '0xf' } },
      { ...at(6_000), part: 'status', state: 'success' },
      { ...at(9_000), part: 'stage', state: 'settled', proof },
    ],
  })
  expect(steps.map(({ step }) => step)).toEqual([
    ...['quoted', 'funds-held', 'deposit-seen', 'deposit-accepted', 'asked-solver', 'solver-sent'],
    ...['fill-seen', 'succeeded', 'sponsor-debited', 'attested'],
  ])
  expect(reason).toBeUndefined()
  expect(steps[0]?.text).toBe('Quoted: 5.0 USDC on chain 8453 for 0.002 of 0xb on chain 10.')
  expect(steps[0]?.evidence).toContainEqual({
    kind: 'price',
    label: 'price of what is got',
    value: '2500.0 USD',
    chainId: 10,
  })
  expect(steps.at(-2)?.text).toBe('The sponsor paid 0.025 USD.')
  expect(steps.at(-1)?.evidence).toEqual([{ kind: 'signature', label: 'oracle 0x3', value: '0x4' }])
})

test('nothing paid: it says so once the deadline is over, and not before', () => {
  expect(names({}, 60_000)).toEqual(['quoted'])
  expect(names({}, 60_001)).toEqual(['quoted', 'expired'])
  const late: RequestEvent = { ...at(70_000), part: 'deposit', state: 'seen', deposit }
  expect(names({ events: [late] }, 80_000)).not.toContain('expired')
})

test('of two reasons the one that the request waits for now is told, whatever the user has', () => {
  const parked: RequestEvent = {
    ...at(3_000, 'REFUND_FAILED'),
    part: 'stage',
    state: 'parked',
    proof: undefined,
  }
  const status: RequestEvent = { ...at(2_000, 'MANUAL_REFUND_REQUIRED'), part: 'status', state: 'pending' }
  expect(told({ events: [status, parked] }).reason).toBe('REFUND_FAILED')
  const unattested: RequestEvent = {
    ...at(3_000, 'SEEN_BUT_DENIED'),
    part: 'stage',
    state: 'parked',
    proof: undefined,
  }
  expect(told({ events: [unattested], status: 'success' }).reason).toBe('SEEN_BUT_DENIED')
  const again: RequestEvent = { ...at(4_000), part: 'stage', state: 'refunding', proof: undefined }
  expect(names({ events: [status, parked, again] })).toEqual([
    ...['quoted', 'refund-needs-operator', 'parked', 'taken-up-again'],
  ])
})

test('what an operator ended carries no word of his, and is no attestation', () => {
  const ended: RequestEvent = {
    ...at(3_000),
    part: 'stage',
    state: 'settled',
    proof: { kind: 'operator', signatures: [] },
  }
  expect(names({ events: [ended] })).toEqual(['quoted', 'ended-by-operator'])
})

/** Every state that the database can hold, as its migrations list them. */
const everyEvent: readonly RequestEvent[] = [
  ...(['seen', 'taken', 'refund_due', 'refunded', 'ignored', 'orphaned', 'held', 'final'] as const).map(
    (state): RequestEvent => ({ ...at(2_000), part: 'deposit', state, deposit }),
  ),
  ...(['open', 'open_again', 'withheld', 'reported', 'done', 'failed', 'cancelled'] as const).map(
    (state): RequestEvent => ({ ...at(2_000), part: 'work', state, work: fill }),
  ),
  ...(['settled', 'parked'] as const).map(
    (state): RequestEvent => ({ ...at(2_000), part: 'stage', state, proof }),
  ),
  ...(['success', 'failure', 'refund'] as const).map(
    (state): RequestEvent => ({ ...at(2_000), part: 'status', state }),
  ),
  ...(['deposit', 'fill', 'refund'] as const).map(
    (state): RequestEvent => ({
      ...at(2_000),
      part: 'transaction',
      state,
      transaction: { chainId: 1, hash: '0xe' },
    }),
  ),
  ...(['said', 'executed', 'reverted', 'other'] as const).map(
    (state): RequestEvent => ({
      ...at(2_000),
      part: 'said',
      state,
      transaction: { chainId: 1, hash: '0xe' },
    }),
  ),
  ...(['release', 'refund'] as const).map(
    (state): RequestEvent => ({ ...at(2_000), part: 'release', state }),
  ),
]

test.each(everyEvent.map((event) => [`${event.part} ${event.state}`, event] as const))(
  '%s is a step',
  (_name, event) => {
    const steps = told({ events: [event] }).steps
    expect(steps).toHaveLength(2)
    expect(stepNames).toContain(steps[1]?.step)
    expect(steps[1]?.text).toMatch(/^[A-Z0-9].*[.]$/)
  },
)

test.each(Object.keys(reasonTexts))('the reason %s is told with a sentence, wherever it stands', (reason) => {
  const events: readonly RequestEvent[] = [
    { ...at(2_000, reason), part: 'deposit', state: 'refund_due', deposit },
    { ...at(2_001, reason), part: 'stage', state: 'parked', proof: undefined },
    { ...at(2_002, reason), part: 'status', state: 'refund' },
  ]
  for (const { text, reason: own } of told({ events, status: 'refund' }).steps.slice(1)) {
    expect(isReason(own ?? '')).toBe(true)
    expect(text).not.toMatch(/UNKNOWN|undefined|earlier release/)
  }
})

test('Q-72: a recovery names the time from which the oracles release the deposit', () => {
  const parked = { ...at(2_000, 'REFUND_FAILED'), part: 'stage', state: 'parked', proof: undefined } as const
  const { steps, reason } = told({
    status: 'failure',
    events: [parked],
    recoverable: { atMs: 3_000, fromMs: 63_000 },
  })
  expect(reason).toBe('DEPOSIT_RECOVERABLE')
  expect(steps.find(({ step }) => step === 'recoverable')).toMatchObject({
    atMs: 3_000,
    reason: 'DEPOSIT_RECOVERABLE',
    evidence: [{ kind: 'moment', value: '1970-01-01T00:01:03.000Z' }],
  })
})
