// Goal: whatever does not move is named, by the part that it keeps back, with what to do. Attacks: a check of `/ready`
// that nobody has words for, a database that tells nothing, a lesser problem that hides a worse one.
import { expect, test } from 'vitest'
import { statusOf } from './status.ts'
import { judgeStatus, type StatusFacts, type StoredFacts } from './statusRules.ts'

type Market = StatusFacts['market']

const nowMs = Date.parse('2026-11-29T12:00:00Z')
const at = (minutes: number) => new Date(nowMs - minutes * 60_000)
const stored: StoredFacts = {
  sponsors: [],
  failingWebhooks: [],
  oracleHalts: [],
  standing: [],
  haltedTopUps: [],
  ledgerHaltedAt: undefined,
}
const well: StatusFacts = {
  nowMs,
  failingSince: new Map(),
  stops: [],
  stored,
  readiness: { ready: true, draining: false, checks: { database: 'ok', jobs: 'ok' } },
  market: { status: 'ok', version: 1, prices: [], chains: [] },
  chainNames: new Map([[8453, 'base']]),
  readChains: new Set(['base']),
  oracles: [{ name: 'one', signer: '0xAA' }],
  oracleAnswers: [{ oracle: 'one', said: 'signed', count: 1 }],
}

const stateOf = (facts: Partial<StatusFacts>, part: string) =>
  judgeStatus({ ...well, ...facts }).parts.find((one) => one.part === part)

test('O-90: everything moves where nothing is found', () => {
  const status = judgeStatus(well)
  expect([status.state, status.problems]).toEqual(['moves', []])
  expect(new Set(status.parts.map(({ state }) => state))).toEqual(new Set(['moves']))
})

test('O-90: a database that tells nothing leaves quotes known and the rest unknown', () => {
  expect(stateOf({ stored: undefined }, 'quotes')?.state).toBe('moves')
  expect(stateOf({ stored: undefined }, 'settlement')?.state).toBe('unknown')
  expect(judgeStatus({ ...well, stored: undefined }).state).toBe('unknown')
  const checks = { database: 'failed' as const }
  const away = { readiness: { ready: false, draining: false, checks }, stored: undefined }
  expect(judgeStatus({ ...well, ...away })).toMatchObject({ state: 'stands' })
  expect(stateOf(away, 'settlement')?.state).toBe('stands')
})

test('O-90: a part is as badly off as its worst problem, since the oldest of them, and the worst stands first', () => {
  const stop = { toldBy: 'operator', actor: 'cli:a', reason: 'a test' } as const
  const stops = [
    { ...stop, chainId: 8453, since: at(30) },
    { ...stop, chainId: 0, since: at(10) },
  ]
  expect(stateOf({ stops }, 'quotes')).toEqual({
    part: 'quotes',
    state: 'stands',
    since: at(30).toISOString(),
  })
  const [first, second] = judgeStatus({ ...well, stops }).problems
  expect([first?.what, second?.what]).toEqual([
    'All chains are stopped by cli:a: a test.',
    'Chain base is stopped by cli:a: a test.',
  ])
  expect(second?.do).toContain('go base')
  expect(stateOf({ stops }, 'deposits')?.state).toBe('moves')
})

test('O-90: a check that has no words is told by its name, with its code', () => {
  const readiness = {
    ready: true,
    draining: false,
    checks: { later: 'failed' as const },
    reasons: { later: 'SOME_CODE' },
  }
  const [problem] = judgeStatus({ ...well, readiness, failingSince: new Map([['later', at(3)]]) }).problems
  expect(problem).toMatchObject({
    what: 'The check later of /ready fails (SOME_CODE).',
    state: 'partly',
    since: at(3).toISOString(),
  })
})

test('O-90: oracles that sign nothing, halted books and top-ups, and standing refunds are named', () => {
  const refund: Omit<StoredFacts['standing'][number], 'since'> = {
    requestId: undefined,
    subject: undefined,
    isRefund: true,
    reason: 'REFUND_FAILED',
    meaning: '',
    endsBy: '',
    account: undefined,
    tries: 1,
    report: undefined,
    transaction: undefined,
    status: undefined,
    originChainId: undefined,
    destinationChainId: undefined,
    debitMicroUsd: 0n,
    listedAt: at(1),
    needsOperator: true,
  }
  const { problems, parts } = judgeStatus({
    ...well,
    oracleAnswers: [{ oracle: 'one', said: 'denied', count: 2 }],
    stored: {
      ...stored,
      ledgerHaltedAt: at(2),
      haltedTopUps: [{ chainId: 10, reason: 'another block' }],
      oracleHalts: [{ oracle: '0xaa', chainIds: [8453] }],
      standing: [
        { ...refund, since: at(9) },
        { ...refund, since: at(4) },
      ],
    },
  })
  expect(problems.map(({ what }) => what)).toEqual([
    'Nothing is reserved of sponsors: the books do not add up.',
    '2 refunds stand still: The solver could not refund.',
    'The oracle one has signed nothing that this process asked it for.',
    'The oracle one has halted base.',
    'No top-up on chain 10 is credited: another block.',
  ])
  expect(parts.find(({ part }) => part === 'settlement')).toMatchObject({ since: at(9).toISOString() })
})

test('O-90: chains and prices count where their endpoints are configured', () => {
  const chain: Market['chains'][number] = {
    chain: 'base',
    chainId: 8453,
    quotable: true,
    state: 'stale_head',
    agreement: [],
    pools: { state: 'live', configured: 0, mirrored: 0, leftOut: [] },
    refresh: 'stale',
    consecutiveFailures: 0,
    head: { number: '1', ageMs: 60_000 },
  }
  const price: Market['prices'][number] = {
    key: 'ETH/USD',
    class: 'major',
    secondSource: 'required',
    confidence: 'refused',
    refusal: 'stale',
    sources: [{ source: 'feed', kind: 'feed', state: 'stale', readAgeMs: 1 }],
  }
  const told = (facts: Partial<Market>) =>
    judgeStatus({ ...well, market: { ...well.market, ...facts } }).problems
  expect(told({ chains: [chain] })).toMatchObject([
    { what: 'Chain base is not quoted: stale_head.', since: at(1).toISOString() },
  ])
  expect(told({ chains: [{ ...chain, chain: 'solana' }] })).toEqual([])
  expect(told({ prices: [price] })).toMatchObject([{ what: 'There is no price of ETH/USD: stale.' }])
  expect(told({ prices: [{ ...price, sources: [] }] })).toEqual([])
})

test('O-90: nothing at all is weighed as moving', () => {
  expect(statusOf([]).state).toBe('moves')
})
