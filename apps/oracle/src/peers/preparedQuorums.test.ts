// Goal: what peers signed ahead is given where it is enough and where it belongs, and nowhere else. Adversaries: a peer
// that gives nothing, one that gives less the second time, an answer that was made anew since, a caller whose own key
// opens peers that nobody could ask before.
import { attestationKinds } from '@causeway/attestations'
import { Secret } from '@causeway/core'
import { expect, test } from 'vitest'
import type { PeerAggregator, PeerRequest } from './peerAggregator.ts'
import { createPreparedQuorums } from './preparedQuorums.ts'
import { askedAhead, type Peer, type SignerPolicy } from './settings.ts'

const kind = attestationKinds.deposits
const body = { chainId: 'base', transactionId: '0x01' }
const { signal } = new AbortController()
const answerOf = () => ({ messages: [] })
const peerNamed = (name: string, credential: Peer['credential']): Peer => ({
  name,
  baseUrl: `https://${name}`,
  credential,
})
const keyed = peerNamed('keyed', { kind: 'key', key: new Secret('k') })
const passing = peerNamed('passing', { kind: 'pass-through' })
const open: SignerPolicy = { signers: undefined, threshold: 1 }
const listed: SignerPolicy = { signers: new Set(['0x01', '0x02', '0x03']), threshold: 2 }

/** Peers that give so many signatures, one number per time they are asked. */
function benchOf(given: readonly number[], policy: SignerPolicy, peers: readonly Peer[] = [keyed, keyed]) {
  const clock = { nowMs: 0 }
  const asked: object[] = []
  const isAhead: (boolean | undefined)[] = []
  const aggregator: PeerAggregator = {
    async run<Response extends object>(request: PeerRequest<Response>) {
      const matched = given[asked.length] ?? 0
      asked.push(request.body)
      isAhead.push(request.isAhead)
      return { response: await request.local(signal), matched, required: 1 }
    },
    close: async () => undefined,
  }
  const ahead = askedAhead(policy, peers)
  if (ahead === undefined) throw new Error('these peers are asked ahead')
  const prepared = createPreparedQuorums({ peers: aggregator, ...ahead, now: () => clock.nowMs })
  return { prepared, clock, asked, isAhead }
}

test('enough signatures are given for the very answer they are of, and for no other', async () => {
  const { prepared, asked } = benchOf([2], listed)
  const own = answerOf()
  expect(await prepared.prepare({ kind, body, own }, signal)).toBe(true)
  expect(prepared.find({ kind, body, own })).toMatchObject({ matched: 2, response: own })
  expect(prepared.find({ kind, body, own: answerOf() })).toBeUndefined()
  expect(asked).toHaveLength(1)
})

test('peers are asked as nobody’s request, and what they have not answered yet is none', async () => {
  const { prepared, isAhead } = benchOf([2], listed)
  const own = answerOf()
  const preparing = prepared.prepare({ kind, body, own }, signal)
  expect(prepared.find({ kind, body, own })).toBeUndefined()
  await preparing
  expect([prepared.find({ kind, body, own })?.matched, isAhead]).toEqual([2, [true]])
})

test('fewer signatures than before take nothing away', async () => {
  const { prepared } = benchOf([2, 1, 3], listed)
  const own = answerOf()
  const matched: unknown[] = []
  for (let times = 0; times < 3; times += 1) {
    await prepared.prepare({ kind, body, own }, signal)
    matched.push(prepared.find({ kind, body, own })?.matched)
  }
  expect(matched).toEqual([2, 2, 3])
})

test('P-105: too few are none: the request asks anew', async () => {
  const { prepared } = benchOf([1], listed)
  const own = answerOf()
  expect(await prepared.prepare({ kind, body, own }, signal)).toBe(false)
  expect(prepared.find({ kind, body, own })).toBeUndefined()
})

test('P-105: without a list a silent peer counts as asked, and is asked again behind the answer, once in a minute', async () => {
  const { prepared, clock, asked } = benchOf([1, 1, 3, 2], open)
  const own = answerOf()
  expect(await prepared.prepare({ kind, body, own }, signal)).toBe(true)
  expect(prepared.find({ kind, body, own })?.matched).toBe(1)
  expect(asked).toHaveLength(1)
  for (const expected of [1, 1]) {
    const askedBefore = asked.length
    clock.nowMs += 60_000
    expect([prepared.find({ kind, body, own })?.matched, asked.length]).toEqual([expected, askedBefore])
    clock.nowMs += 1
    expect(prepared.find({ kind, body, own })?.matched).toBe(expected)
    expect(prepared.find({ kind, body, own })?.matched).toBe(expected)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect([prepared.find({ kind, body, own })?.matched, asked.length]).toEqual([3, 3])
  clock.nowMs += 60_001
  expect([prepared.find({ kind, body, own })?.matched, asked.length]).toEqual([3, 3])
})

const three: SignerPolicy = { ...listed, threshold: 3 }

test.each([
  ['without a list', open, [keyed, passing], undefined],
  ['without a list, where none passes', open, [keyed, keyed], 3],
  ['for two signers beside one with a key', listed, [keyed, passing, passing], 2],
  ['for two signers', listed, [passing, passing], undefined],
  ['for three signers beside one with a key', three, [keyed, passing], undefined],
  ['for one signer', { ...listed, threshold: 1 }, [passing], undefined],
])(
  'P-2: peers that take the caller’s own key are asked by nobody else: %s',
  (_what, policy, peers, askedCount) => {
    expect(askedAhead(policy, peers)?.askedCount).toBe(askedCount)
  },
)
