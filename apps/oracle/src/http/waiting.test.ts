// Goal: who leaves, comes late or asks twice takes nothing from others who wait, and nothing that hangs is waited
// for beyond its time. Method: the routes over sockets, a chain that answers when it is told to, real peers.
import type { FactsReader } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  paths,
  type TestApp,
  type TestAppOptions,
  testApp,
  withReader,
} from '../../test/fixtures/oracleApp.ts'
import {
  depositB,
  depositFacts,
  depositTransaction,
  scriptedReader,
  world,
} from '../../test/fixtures/world.ts'
import { startHttpPeer } from '../../test/peerSupport/httpPeer.ts'

const deposit = { chainId: 'ethereum', transactionId: depositTransaction }
const ownSigner = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a'

/** A chain whose readings end when they are told to, whatever becomes of their signal. */
function gatedChain() {
  const signals: AbortSignal[] = []
  const ends: (() => void)[] = []
  const reader: FactsReader = {
    ...scriptedReader('ethereum', {}),
    async readDeposits(_question, { signal }) {
      signals.push(signal)
      await new Promise<void>((resolve) => ends.push(resolve))
      return depositFacts([depositB])
    },
  }
  return {
    reader,
    /** One per reading. */
    signals,
    release: () => {
      for (const end of ends.splice(0)) end()
    },
  }
}

async function listening(options: Omit<TestAppOptions, 'context'> = {}) {
  const chain = gatedChain()
  const to = await testApp({ ...options, context: withReader(world({}), chain.reader) })
  const url = await to.app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    chain.release()
    await to.app.close()
  })
  const post = async (body: object, caller = new AbortController()) => {
    const response = await fetch(url + paths.deposits, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: caller.signal,
      headers: { 'content-type': 'application/json' },
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { chain, to, post }
}

async function inWork({ metrics }: TestApp): Promise<number> {
  const line = /^oracle_attestations_in_flight\{[^}]*\} (\d+)$/m.exec(await metrics.registry.metrics())
  return Number(line?.[1] ?? Number.NaN)
}

async function requestsInWork({ metrics }: TestApp): Promise<number> {
  const line = /^http_requests_in_flight\{[^}]*\} (\d+)$/m.exec(await metrics.registry.metrics())
  return Number(line?.[1] ?? Number.NaN)
}

const signersIn = (text: string) => [
  ...new Set([...text.matchAll(/"oracleSigner":"(0x[0-9a-f]{40})"/g)].map(([, signer]) => signer)),
]

describe('of several who wait for one piece of work', () => {
  test('the one that began it may leave: the others get their answer, from one reading', async () => {
    const { chain, to, post } = await listening()
    const first = new AbortController()
    const gone = post(deposit, first)
    await expect.poll(() => chain.signals.length).toBe(1)
    const others = [post(deposit), post(deposit)]
    await expect.poll(() => requestsInWork(to)).toBe(3)
    first.abort()
    await expect(gone).rejects.toThrow()
    await expect.poll(() => requestsInWork(to)).toBe(2)
    expect(chain.signals[0]?.aborted).toBe(false)
    chain.release()
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200])
    expect(chain.signals).toHaveLength(1)
  })

  test('the last may leave: then it ends, its place is free, and who asks next begins anew', async () => {
    const { chain, to, post } = await listening({ inFlightMax: 1 })
    const callers = [new AbortController(), new AbortController()]
    const gone = callers.map((caller) => post(deposit, caller).catch(() => 'gone'))
    await expect.poll(() => requestsInWork(to)).toBe(2)
    for (const caller of callers) caller.abort()
    expect(await Promise.all(gone)).toEqual(['gone', 'gone'])
    await expect.poll(() => chain.signals[0]?.aborted).toBe(true)
    await expect.poll(() => inWork(to)).toBe(0)
    const next = post(deposit)
    await expect.poll(() => chain.signals.length).toBe(2)
    chain.release()
    expect((await next).status).toBe(200)
  })

  test('P-94: who joins has the time of the work, however often somebody joins; a reading that hangs frees its place', async () => {
    const { chain, to, post } = await listening({ inFlightMax: 1, deadlineMs: 400 })
    const answers: Promise<{ readonly status: number; readonly text: string }>[] = []
    const joining = setInterval(() => answers.push(post(deposit)), 50)
    onTestFinished(() => clearInterval(joining))
    // Nobody is without company for a moment, and the work ends all the same.
    await expect.poll(() => chain.signals.length).toBeGreaterThan(2)
    clearInterval(joining)
    expect(chain.signals[0]?.aborted).toBe(true)
    for (const { status, text } of await Promise.all(answers)) {
      expect([status, JSON.parse(text).errorCode]).toEqual([503, 'REQUEST_TIMED_OUT'])
    }
    await expect.poll(() => inWork(to)).toBe(0)
  })

  test('P-94: one transaction in many spellings is one work, signed once', async () => {
    let signatures = 0
    const { chain, to, post } = await listening({ signs: () => (signatures += 1) })
    const digits = depositTransaction.slice(2)
    const spellings = Array.from({ length: 20 }, (_, at) =>
      [...digits].map((digit, place) => (place % 20 === at ? digit.toUpperCase() : digit)).join(''),
    )
    const answers = spellings.map((spelling) => post({ ...deposit, transactionId: `0x${spelling}` }))
    await expect.poll(() => requestsInWork(to)).toBe(spellings.length)
    await expect.poll(() => chain.signals.length).toBeGreaterThan(0)
    chain.release()
    const texts = (await Promise.all(answers)).map(({ text }) => text)
    expect(new Set(texts).size).toBe(1)
    expect({ signatures, readings: chain.signals.length }).toEqual({ signatures: 2, readings: 1 })
  })
})

describe('without a peer that is asked', () => {
  const noDeposits = () => ({
    ...scriptedReader('ethereum', { deposits: { [depositTransaction]: depositFacts([]) } }),
  })

  test('scenario 1: no PEERS, peers requested: the local signature alone, and how many are required', async () => {
    const signers = new Set([ownSigner, `0x${'ab'.repeat(20)}`] as const)
    const { chain, post } = await listening({ peers: { entries: '', policy: { signers, threshold: 2 } } })
    const asked = post({ ...deposit, requestPeerSignatures: true })
    await expect.poll(() => chain.signals.length).toBe(1)
    chain.release()
    const { headers, text } = await asked
    expect([headers.get('x-quorum-matched'), headers.get('x-quorum-required')]).toEqual(['1', '2'])
    expect(signersIn(text)).toEqual([ownSigner])
    const plain = await post(deposit)
    expect([plain.headers.get('x-quorum-matched'), plain.text]).toEqual([null, text])
  })

  test('an answer without any signature counts none', async () => {
    const to = await testApp({ context: withReader(world({}), noDeposits()) })
    const response = await to.app.inject({
      method: 'POST',
      url: paths.deposits,
      payload: { ...deposit, requestPeerSignatures: true },
    })
    expect(response.headers).toMatchObject({ 'x-quorum-matched': '0', 'x-quorum-required': '1' })
    await to.app.close()
  })
})

describe('while a peer is asked', () => {
  async function silentPeer() {
    const peer = await startHttpPeer(() => new Promise<never>(() => undefined))
    onTestFinished(() => peer.stop())
    return { peer, entries: `${peer.url}|a-key` }
  }

  test('a caller who leaves ends his question to it, and not the work that another waits for', async () => {
    const { peer, entries } = await silentPeer()
    const { chain, to, post } = await listening({ peers: { entries, timeoutMs: 20_000 } })
    const leaving = new AbortController()
    const gone = post({ ...deposit, requestPeerSignatures: true }, leaving)
    await expect.poll(() => peer.questions.length).toBe(1)
    const other = post(deposit)
    await expect.poll(() => requestsInWork(to)).toBe(2)
    leaving.abort()
    await expect(gone).rejects.toThrow()
    await expect.poll(() => peer.openQuestions()).toBe(0)
    expect(chain.signals[0]?.aborted).toBe(false)
    chain.release()
    expect((await other).status).toBe(200)
    expect(chain.signals).toHaveLength(1)
  })

  test('the end of its time ends nothing of our own attestation', async () => {
    const { peer, entries } = await silentPeer()
    const { chain, to, post } = await listening({ peers: { entries, timeoutMs: 50 } })
    const asked = post({ ...deposit, requestPeerSignatures: true })
    await expect.poll(() => to.lines.some(({ event }) => event === 'peer_timeout')).toBe(true)
    await expect.poll(() => peer.openQuestions()).toBe(0)
    expect(chain.signals[0]?.aborted).toBe(false)
    chain.release()
    const { status, text } = await asked
    expect([status, signersIn(text)]).toEqual([200, [ownSigner]])
  })

  test('the end of our own time is the answer where no list of signers says otherwise', async () => {
    const { entries } = await silentPeer()
    const { chain, to, post } = await listening({ deadlineMs: 50, peers: { entries, timeoutMs: 300 } })
    const { status, headers, text } = await post({ ...deposit, requestPeerSignatures: true })
    expect([status, headers.get('retry-after'), JSON.parse(text).errorCode]).toEqual([
      ...[503, '1', 'REQUEST_TIMED_OUT'],
    ])
    expect(chain.signals[0]?.aborted).toBe(true)
    expect(await inWork(to)).toBe(0)
  })

  test('with a list of signers, both times over, nothing is left to answer with but our own failure', async () => {
    const { entries } = await silentPeer()
    const policy = { signers: new Set([ownSigner] as const), threshold: 1 }
    const { to, post } = await listening({ deadlineMs: 50, peers: { entries, policy, timeoutMs: 100 } })
    const { status, text } = await post({ ...deposit, requestPeerSignatures: true })
    expect([status, JSON.parse(text).errorCode]).toEqual([503, 'REQUEST_TIMED_OUT'])
    const events = to.lines.flatMap(({ event }) => (event === undefined ? [] : [event]))
    expect(events).toEqual(
      expect.arrayContaining(['local_attestation_failed', 'peer_timeout', 'quorum_shortfall']),
    )
  })
})
