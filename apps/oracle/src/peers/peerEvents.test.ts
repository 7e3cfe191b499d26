// Goal: an operator learns of each peer that has no part in an answer, by an event and an outcome that stay the same.
import { describe, expect, test } from 'vitest'
import type { Aggregate } from './aggregation.ts'
import type { PeerFailure } from './peerClient.ts'
import { createPeerEvents } from './peerEvents.ts'

const route = '/attestations/fills/v1'
const common = { route, httpRequestId: 'r-1' }

function recorded({ requestId }: { readonly requestId: string | undefined } = { requestId: 'r-1' }) {
  const lines: object[] = []
  const measured: object[] = []
  const events = createPeerEvents({
    route,
    requestId,
    log: {
      info: (fields) => lines.push({ level: 'info', ...fields }),
      warn: (fields) => lines.push({ level: 'warn', ...fields }),
    },
    metrics: {
      observePeer: (observed) => measured.push(observed),
      observeQuorum: (observed) => measured.push(observed),
      countShadow: (observed) => measured.push(observed),
    },
  })
  return { events, lines, measured }
}

function aggregateOf(found: Partial<Aggregate<object>>): Aggregate<object> {
  const nobody = { mismatched: [], held: [], sharing: [], shadows: [] }
  return { response: {}, matched: 2, required: 2, ...nobody, ...found }
}

describe('O-events-01: a peer', () => {
  test.each<[string, readonly PeerFailure[]]>([
    ['peer_timeout', ['timeout']],
    ['peer_skipped', ['busy', 'breaker_open', 'force']],
    ['peer_failed', ['unreachable', 'redirect', 'status', 'oversize', 'not_json', 'schema']],
  ])('that cannot be used is a warning %s with its reason', (event, failures) => {
    for (const failure of failures) {
      const { events, lines, measured } = recorded()
      events.peerFailed('one', failure, 1.5)
      expect(lines).toStrictEqual([{ level: 'warn', event, peer: 'one', reason: failure, ...common }])
      expect(measured).toEqual([{ peer: 'one', outcome: failure, seconds: 1.5 }])
    }
  })

  test('that answers another status is told with it, also where the request has no id', () => {
    const { events, lines } = recorded({ requestId: undefined })
    events.peerFailed('one', 'status', 1, 503)
    expect(lines).toStrictEqual([
      { level: 'warn', event: 'peer_failed', peer: 'one', reason: 'status', status: 503, route },
    ])
  })

  test('that was not needed any more is measured, and nothing to tell', () => {
    const { events, lines, measured } = recorded()
    events.peerAborted('one', 0.5)
    expect([lines, measured]).toEqual([[], [{ peer: 'one', outcome: 'aborted', seconds: 0.5 }]])
  })
})

test('the own failure is told where peers answer alone', () => {
  const { events, lines, measured } = recorded()
  const err = new Error('no block')
  events.localFailed(err)
  expect(lines).toEqual([{ level: 'warn', event: 'local_attestation_failed', err, ...common }])
  expect(measured).toEqual([])
})

describe('an answer', () => {
  test('in which all have a part is nothing to tell', () => {
    const { events, lines, measured } = recorded()
    events.concluded(aggregateOf({}), new Map([['one', 0.25]]))
    expect(lines).toEqual([])
    expect(measured).toEqual([
      { peer: 'one', outcome: 'merged', seconds: 0.25 },
      { route, matched: 2, required: 2 },
    ])
  })

  test.each<[string, string, Partial<Aggregate<object>>]>([
    ['peer_mismatch', 'mismatch', { mismatched: ['one'] }],
    ['peer_held', 'held', { held: ['one'] }],
    ['peer_held', 'held', { held: ['one'], mismatched: ['one'] }],
    ['peer_shares_signer', 'own_signer', { sharing: ['one', 'one'] }],
  ])('tells %s once, and its outcome %s, of that peer alone', (event, outcome, found) => {
    const { events, lines, measured } = recorded()
    const took = [
      ['one', 1],
      ['two', 2],
    ] as const
    events.concluded(aggregateOf(found), new Map(took))
    expect(lines).toEqual([{ level: 'warn', event, peer: 'one', ...common }])
    expect(measured).toMatchObject([{ outcome }, { outcome: 'merged' }, {}])
  })

  test('counts a peer with this oracle’s key as that, whatever else is wrong', () => {
    const { events, measured } = recorded()
    const found = { sharing: ['one'], held: ['one'], mismatched: ['one'] }
    events.concluded(aggregateOf(found), new Map([['one', 1]]))
    expect(measured).toMatchObject([{ outcome: 'own_signer' }, {}])
  })

  test('O-108: is compared with signers that do not count', () => {
    const { events, lines, measured } = recorded()
    const shadow = { peer: 'one', signer: '0x01', agrees: false } as const
    events.concluded(aggregateOf({ shadows: [shadow] }), new Map())
    expect(lines).toEqual([{ level: 'info', event: 'shadow_agreement', ...shadow, ...common }])
    expect(measured).toEqual([
      { peer: 'one', agrees: false },
      { route, matched: 2, required: 2 },
    ])
  })

  test.each([
    [1, 2, true],
    [2, 2, false],
    [3, 2, false],
  ])('by %i signers of %i is short of its quorum: %s', (matched, required, isShort) => {
    const { events, lines } = recorded()
    events.concluded(aggregateOf({ matched, required }), new Map())
    const shortfall = { level: 'warn', event: 'quorum_shortfall', matched, required, ...common }
    expect(lines).toEqual(isShort ? [shortfall] : [])
  })

  test('that nobody gives is short of all', () => {
    const { events, lines, measured } = recorded()
    events.noGroup(2)
    expect(lines).toEqual([{ level: 'warn', event: 'quorum_shortfall', matched: 0, required: 2, ...common }])
    expect(measured).toEqual([{ route, matched: 0, required: 2 }])
  })
})
