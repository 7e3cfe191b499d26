// Goal: a request with peers lasts as long as somebody has a use for it, and leaves nothing behind. Method: the real
// aggregator, and peers as real HTTP servers; time is order.
import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { attestationKinds, type DepositsResponse } from '@causeway/attestations'
import { recoverSigner } from '@causeway/signer'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type HarnessOptions, startHarness } from '../../test/peerSupport/aggregatorHarness.ts'
import { depositsBody, depositsOf, signed } from '../../test/peerSupport/attestations.ts'
import type { PeerRequest } from './peerAggregator.ts'

const kind = attestationKinds.deposits
const patience = { timeout: 30_000 }
const payload = depositsOf(['1000'])
const [byA, byB] = await Promise.all([signed(kind, payload, ['A']), signed(kind, payload, ['B'])])
const honest = async () => ({ body: byB })
const silent = () => new Promise<never>(() => undefined)
const failing = () => Promise.reject(new Error('no block'))

async function bed(options: HarnessOptions) {
  const harness = await startHarness(options)
  onTestFinished(() => harness.stop())
  const ask = (own: Partial<PeerRequest<DepositsResponse>> = {}) =>
    harness.aggregator.run({
      kind,
      body: depositsBody,
      local: async () => byA,
      signal: new AbortController().signal,
      ...own,
    })
  const events = () => harness.lines.map(({ event }) => event)
  const ends = () => harness.outcomes.map(({ outcome }) => outcome)
  const questions = () => harness.peers.map((peer) => peer.questions.length)
  return { ...harness, ask, events, ends, questions }
}

describe('this oracle’s own failure', () => {
  test('is what the caller gets without a list of signers, and is not told twice', async () => {
    const { ask, events, ends } = await bed({ peers: [honest] })
    await expect(ask({ local: failing })).rejects.toThrow('no block')
    expect([events(), ends()]).toEqual([[], []])
  })

  test('is told where listed peers answer without it', async () => {
    const { ask, events, quorums } = await bed({ peers: [honest], allowed: ['A', 'B'] })
    const { response, matched } = await ask({ local: failing })
    expect([response.messages, matched]).toEqual([byB.messages, 1])
    expect(events()).toEqual(expect.not.arrayContaining(['quorum_shortfall']))
    expect(quorums).toEqual([{ matched: 1, required: 1 }])
  })

  test('is told beside the shortfall where it waits for peers, and they do not reach the threshold', async () => {
    const { ask, events } = await bed({ peers: [honest], allowed: ['A', 'B'], threshold: 2 })
    expect((await ask({ local: failing })).matched).toBe(1)
    expect(events()).toEqual(['local_attestation_failed', 'quorum_shortfall'])
  })

  test('is what the caller gets where no listed peer answers, too', async () => {
    const { ask, quorums } = await bed({
      peers: [async () => ({ status: 503, body: {} })],
      allowed: ['A', 'B'],
      threshold: 2,
    })
    await expect(ask({ local: failing })).rejects.toThrow('no block')
    expect(quorums).toEqual([{ matched: 0, required: 2 }])
  })

  test('after the answer is nobody’s concern', async () => {
    const { ask, events } = await bed({ peers: [honest], allowed: ['A', 'B'] })
    const local = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')))
      })
    await ask({ local })
    await setImmediate()
    expect(events()).toEqual([])
  })
})

test('where no listed oracle signed, the answer is a refusal that names it', async () => {
  const { ask, events } = await bed({ peers: [async () => ({ body: byA })], allowed: ['B'], threshold: 1 })
  await expect(ask()).rejects.toMatchObject({ code: 'NO_SIGNER_GROUP', kind: 'invalid_request' })
  expect(events()).toEqual(['quorum_shortfall'])
})

describe('peers', () => {
  test('are left once the threshold is met: that is no failure of theirs', async () => {
    const { ask, events, ends } = await bed({ peers: [silent], allowed: ['A', 'B'] })
    expect((await ask()).matched).toBe(1)
    await expect.poll(ends, patience).toEqual(['aborted'])
    expect(events()).toEqual([])
  })

  test('have a time limit of their own, which does not end the own attestation', async () => {
    const { ask, events, ends } = await bed({
      peers: [silent],
      allowed: ['A', 'B'],
      threshold: 2,
      timeoutMs: 20,
    })
    const local = async (signal: AbortSignal) => {
      await expect.poll(ends, patience).toEqual(['timeout'])
      return signal.aborted ? failing() : byA
    }
    expect((await ask({ local })).matched).toBe(1)
    expect(events()).toEqual(['peer_timeout', 'quorum_shortfall'])
  })

  test('that answer with what is no answer have no part, and are told as such', async () => {
    const { ask, lines } = await bed({ peers: [async () => ({ body: { messages: 7 } })] })
    expect((await ask()).matched).toBe(1)
    expect(lines).toMatchObject([{ event: 'peer_failed', reason: 'schema' }])
  })

  test('whose signatures cannot even be tried cost the others nothing', async () => {
    const signatures = byB.messages.flatMap((message) => message.signatures.map((entry) => entry.signature))
    const { ask, lines } = await bed({
      peers: [honest],
      recover(digest, signature) {
        if (signatures.includes(signature)) throw new Error('out of memory')
        return recoverSigner(digest, signature)
      },
    })
    expect((await ask()).matched).toBe(1)
    expect(lines).toContainEqual(expect.objectContaining({ event: 'peer_failed', reason: 'schema' }))
  })

  test('are measured by the seconds that their answers took', async () => {
    let nowMs = 1_000
    const slow = async () => {
      nowMs += 1_500
      return { body: byB }
    }
    const { ask, outcomes } = await bed({ peers: [slow], now: () => nowMs })
    await ask()
    expect(outcomes).toEqual([{ peer: expect.any(String), outcome: 'merged', seconds: 1.5 }])
  })

  test('O-auth-05: with a key from PEERS are not asked by force, and are asked where force is off', async () => {
    const { ask, events, questions } = await bed({ peers: [honest], allowed: ['A', 'B'], threshold: 2 })
    await ask({ body: { ...depositsBody, force: true }, callerApiKey: 'of-the-caller' })
    expect([events(), questions()]).toEqual([['peer_skipped', 'quorum_shortfall'], [0]])
    await ask({ body: { ...depositsBody, force: false } })
    expect(questions()).toEqual([1])
  })

  test('P-2: that take the caller’s key are asked with it, and by nobody ahead of callers', async () => {
    const { ask, peers, questions } = await bed({ peers: [honest], credential: 'pass-through' })
    await ask({ isAhead: true })
    expect(questions()).toEqual([0])
    await ask({ callerApiKey: 'of-the-caller' })
    expect(peers[0]?.questions[0]?.headers).toMatchObject({ 'x-api-key': 'of-the-caller' })
  })

  test('with keys from PEERS are asked ahead of callers, too', async () => {
    const { ask, questions } = await bed({ peers: [honest] })
    await ask({ isAhead: true })
    expect(questions()).toEqual([1])
  })
})

describe('a caller', () => {
  test('who leaves gets nothing, although there is an answer', async () => {
    const caller = new AbortController()
    const { ask, quorums } = await bed({ peers: [silent] })
    const local = async () => {
      caller.abort(new Error('gone'))
      return byA
    }
    await expect(ask({ local, signal: caller.signal })).rejects.toThrow('gone')
    expect(quorums).toEqual([])
  })

  test('is not listened to any more once he has his answer', async () => {
    const { signal } = new AbortController()
    const { ask } = await bed({ peers: [honest] })
    let isHeard = false
    const local = async () => {
      isHeard = getEventListeners(signal, 'abort').length > 0
      return byA
    }
    await ask({ local, signal })
    expect([isHeard, getEventListeners(signal, 'abort')]).toEqual([true, []])
  })
})

test('closing ends every connection', async () => {
  const { ask, ends, peers, aggregator } = await bed({ peers: [honest] })
  await ask()
  expect(peers[0]?.openSockets()).toBe(1)
  await aggregator.close()
  await ask()
  expect(ends()).toEqual(['merged', 'unreachable'])
  await expect.poll(() => peers[0]?.openSockets(), patience).toBe(0)
})
