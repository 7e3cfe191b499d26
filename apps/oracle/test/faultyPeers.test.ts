// Goal: no peer can spoil an answer, hold it up, or get something out that nobody signed.
// Method: each fault is a real process with a real socket; the honest peer is a real HTTP server.
import { attestationKinds, type DepositsResponse, verifyAttestation } from '@causeway/attestations'
import { recoverSigner } from '@causeway/signer'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type HarnessOptions, startHarness } from './peerSupport/aggregatorHarness.ts'
import { context, depositsBody, depositsOf, signed, signers } from './peerSupport/attestations.ts'
import { startFaultyPeer } from './peerSupport/faultyPeer.ts'
import type { FaultyPeerMode } from './peerSupport/tamper.ts'

const kind = attestationKinds.deposits
const payload = depositsOf(['1000'])
const ours = await signed(kind, payload, ['A'])
const honest = await signed(kind, payload, ['B'])
/** Honest oracles really signed this, about another transaction. */
const elsewhere = await signed(kind, depositsOf(['1000'], `0x${'bb'.repeat(32)}`), ['B', 'C'])
/** An idle connection of the client closes by itself after four seconds. */
const patience = { timeout: 30_000 }
const addresses = Object.values(signers).map(({ address }) => address)

async function askBeside(
  mode: FaultyPeerMode,
  options: Omit<HarnessOptions, 'peers'>,
  truth: DepositsResponse,
  local: () => Promise<DepositsResponse> = async () => ours,
) {
  const faulty = await startFaultyPeer(mode, { truth, other: elsewhere })
  const harness = await startHarness({
    peers: [() => ({ body: honest })],
    urls: [faulty.url],
    ...options,
  })
  onTestFinished(async () => {
    await harness.stop()
    await faulty.stop()
  })
  const running = harness.aggregator.run({
    kind,
    body: depositsBody,
    local,
    signal: new AbortController().signal,
  })
  return { running, harness, faulty }
}

/** Number of proven signatures in the answer. Asserts that all of them are proven. */
function proven(response: DepositsResponse): number {
  const verdict = verifyAttestation(response, {
    ...context,
    kind,
    signers: addresses,
    threshold: 1,
    recover: recoverSigner,
  })
  expect(verdict.problems).toEqual([])
  for (const array of kind.signatureArrays(response, context))
    expect(array.claims).toHaveLength(verdict.matched)
  return verdict.matched
}

describe('what the public reference passes on, or fails over', () => {
  test.each<[string, FaultyPeerMode, number]>([
    ['garbage under the name of another signer', 'garbageUnderItsName', 2],
    ['garbage under our own name', 'garbageUnderOurName', 2],
    ['one signature 5 times', 'fiveTimes', 3],
    ['one signature 1,000 times', 'thousandTimes', 3],
    ['a missing signature', 'signatureMissing', 2],
    ['a signature that is an object', 'signatureObject', 2],
    ['other actions', 'otherActions', 2],
    ['no execution', 'noExecution', 2],
    ['signatures of null', 'signaturesNull', 2],
    ['HTTP 500', 'failing', 2],
    ['20 MB', 'oversized', 2],
    ['an honest answer to another request', 'anotherFact', 2],
    ['an honest signature beside another time', 'otherTimestamp', 2],
    ['an honest signature beside other metadata', 'otherMetadata', 2],
  ])('%s: only proven signatures leave, without an allowlist', async (_what, mode, expected) => {
    const { running } = await askBeside(mode, {}, await signed(kind, payload, ['C']))
    const { response } = await running
    expect(proven(response)).toBe(expected)
  })

  test('a valid signature of an outsider does not leave when there is an allowlist', async () => {
    const outsider = await signed(kind, payload, ['X'])
    const { running } = await askBeside('fiveTimes', { allowed: ['A', 'B', 'C'], threshold: 3 }, outsider)
    const { response, matched } = await running
    expect([proven(response), matched]).toEqual([2, 2])
    expect(JSON.stringify(response)).not.toContain(signers.X.address.slice(2))
  })

  test('garbage under a listed name does not reach the threshold', async () => {
    const truth = await signed(kind, payload, ['C'])
    const failing = () => Promise.reject(new Error('no local answer'))
    const { running } = await askBeside('garbageUnderItsName', { allowed: ['A', 'C'] }, truth, failing)
    await expect(running).rejects.toThrow('no local answer')
  })

  test('P-91: signatures over another fact never become the answer, though their signers are listed', async () => {
    const { running } = await askBeside('anotherFact', { allowed: ['A', 'B', 'C'], threshold: 2 }, honest)
    const { response } = await running
    expect(response.messages[0]?.data.transactionId).toBe(depositsBody.transactionId)
  })
})

describe('peers that hold an answer up', () => {
  const allowed = ['A', 'B', 'C'] as const

  test.each<[FaultyPeerMode]>([['silent'], ['dripping'], ['flooding'], ['redirecting'], ['oversized']])(
    'a %s peer is not waited for once the threshold is met',
    async (mode) => {
      // A far limit: only an early answer can end this in time.
      const { running } = await askBeside(mode, { allowed, threshold: 2, timeoutMs: 600_000 }, honest)
      expect(proven((await running).response)).toBe(2)
    },
  )

  test.each<[FaultyPeerMode, string]>([
    ['silent', 'peer_timeout'],
    ['dripping', 'peer_timeout'],
    ['flooding', 'peer_failed'],
    ['redirecting', 'peer_failed'],
    ['oversized', 'peer_failed'],
  ])('a %s peer that is needed costs no more than its time, and a warning', async (mode, event) => {
    const { running, harness } = await askBeside(mode, { allowed, threshold: 3, timeoutMs: 4_000 }, honest)
    const { response, matched, required } = await running
    expect([proven(response), matched, required]).toEqual([2, 2, 3])
    expect(harness.lines.map((line) => line.event)).toContain(event)
  })

  test('a redirect is not followed', async () => {
    const { running, faulty } = await askBeside('redirecting', { allowed, threshold: 3 }, honest)
    await running
    await expect.poll(() => faulty.printed.length, patience).toBeGreaterThan(0)
    expect(faulty.printed).toEqual(['redirected'])
  })

  test('a peer that is killed in the middle of its answer is left out', async () => {
    const truth = await signed(kind, payload, ['C'])
    const { running, faulty, harness } = await askBeside(
      'dying',
      { allowed, threshold: 3, timeoutMs: 60_000 },
      truth,
    )
    await expect.poll(() => faulty.printed, patience).toEqual(['half'])
    faulty.kill()
    expect(proven((await running).response)).toBe(2)
    expect(harness.lines).toContainEqual(expect.objectContaining({ reason: 'unreachable' }))
  })
})

describe('force', () => {
  const body = { ...depositsBody, force: true }
  const ask = async (credential: string, callerApiKey?: string) => {
    const harness = await startHarness({
      peers: [() => ({ body: honest })],
      allowed: ['A', 'B'],
      threshold: 2,
      credential,
    })
    onTestFinished(() => harness.stop())
    const signal = new AbortController().signal
    await harness.aggregator.run({ kind, body, callerApiKey, local: async () => ours, signal })
    return harness
  }

  test('never reaches a peer under a dedicated key', async () => {
    const { peers, lines } = await ask('dedicated', 'of-the-caller')
    expect(peers[0]?.questions).toEqual([])
    expect(lines).toContainEqual(expect.objectContaining({ event: 'peer_skipped', reason: 'force' }))
  })

  test('travels under pass-through, and only with a key of the caller', async () => {
    const withKey = await ask('pass-through', 'of-the-caller')
    expect(withKey.peers[0]?.questions[0]).toMatchObject({
      body: { force: true, requestPeerSignatures: false },
      headers: { 'x-api-key': 'of-the-caller' },
    })
    expect((await ask('pass-through')).peers[0]?.questions).toEqual([])
  })
})

test('a silent peer holds a bounded number of sockets, and none when nobody asks any more', async () => {
  const harness = await startHarness({
    peers: [() => new Promise<never>(() => undefined)],
    allowed: ['A', 'B'],
    threshold: 2,
    timeoutMs: 1_000,
  })
  onTestFinished(() => harness.stop())
  const [peer] = harness.peers
  const ask = () => {
    const { signal } = new AbortController()
    return harness.aggregator.run({ kind, body: depositsBody, local: async () => ours, signal })
  }
  const runs = Array.from({ length: 200 }, ask)
  const results = await Promise.all(runs)
  expect(results.every(({ matched }) => matched === 1)).toBe(true)
  expect(peer?.mostSockets()).toBeGreaterThan(0)
  expect(peer?.mostSockets()).toBeLessThanOrEqual(32)
  // All of them failed at once: the breaker keeps the next request from waiting at all.
  await ask()
  expect(harness.outcomes.at(-1)?.outcome).toBe('breaker_open')
  await expect.poll(() => peer?.openSockets(), patience).toBe(0)
})

test('O-108: a signer in shadow mode is compared and not counted', async () => {
  const shadow = await signed(kind, payload, ['X'])
  const differing = await signed(kind, depositsOf(['2000']), ['X'])
  for (const [answer, agrees] of [[shadow, true] as const, [differing, false] as const]) {
    const harness = await startHarness({
      peers: [() => ({ body: answer })],
      allowed: ['A', 'B'],
      threshold: 2,
    })
    onTestFinished(() => harness.stop())
    const signal = new AbortController().signal
    const { matched, response } = await harness.aggregator.run({
      kind,
      body: depositsBody,
      local: async () => ours,
      signal,
    })
    expect(matched).toBe(1)
    expect(JSON.stringify(response)).not.toContain(signers.X.address)
    expect(harness.lines).toContainEqual(
      expect.objectContaining({ event: 'shadow_agreement', signer: signers.X.address, agrees }),
    )
  }
})

test('O-108: an oracle that holds its execution at its cap agrees where it signs the same message', async () => {
  const differing = depositsOf(['2000'])
  for (const [own, other, agrees] of [
    [kind.withoutExecution(ours), payload, true],
    [kind.withoutExecution(ours), differing, false],
    [ours, kind.withoutExecution(payload), true],
    [ours, kind.withoutExecution(differing), false],
  ] as const) {
    const answer = await signed(kind, other, ['X'])
    const harness = await startHarness({
      peers: [() => ({ body: answer })],
      allowed: ['A', 'B'],
      threshold: 2,
    })
    onTestFinished(() => harness.stop())
    const signal = new AbortController().signal
    await harness.aggregator.run({ kind, body: depositsBody, local: async () => own, signal })
    expect(harness.lines).toContainEqual(
      expect.objectContaining({ event: 'shadow_agreement', signer: signers.X.address, agrees }),
    )
  }
})

test('a caller that goes away ends everything', async () => {
  const harness = await startHarness({
    peers: [() => new Promise<never>(() => undefined)],
    allowed: ['A', 'B'],
    threshold: 2,
  })
  onTestFinished(() => harness.stop())
  const caller = new AbortController()
  const running = harness.aggregator.run({
    kind,
    body: depositsBody,
    local: async () => ours,
    signal: caller.signal,
  })
  await expect.poll(() => harness.peers[0]?.questions.length, patience).toBe(1)
  caller.abort(new Error('gone'))
  await expect(running).rejects.toThrow('gone')
  await expect.poll(() => harness.peers[0]?.openSockets(), patience).toBe(0)
})
