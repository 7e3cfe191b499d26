// Goal: the scenarios of aggregation that the interface document has no sentence for; those that it has are in
// `test/acceptance`. Method: peers are real HTTP servers; time is order, made by gates, and never measured.
import { attestationKinds, type DepositsResponse } from '@causeway/attestations'
import { DomainError } from '@causeway/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Harness, type HarnessOptions, startHarness } from '../../test/peerSupport/aggregatorHarness.ts'
import {
  contextWith,
  depositsBody,
  depositsOf,
  type SignerName,
  signed,
  signers,
  withdrawalOf,
  withdrawalsBody,
} from '../../test/peerSupport/attestations.ts'
import { createGate } from '../../test/peerSupport/httpPeer.ts'

const kind = attestationKinds.deposits
const patience = { timeout: 30_000 }
const ABC = ['A', 'B', 'C'] as const
const payloads = { K1: depositsOf(['1000']), K2: depositsOf(['2000']) }
const own = (by: readonly SignerName[], payload: keyof typeof payloads = 'K1') =>
  signed(kind, payloads[payload], by)
const failing = () => Promise.reject(new LocalFailure())

class LocalFailure extends DomainError {
  readonly code = 'LOCAL_FAILED'
  readonly kind = 'invalid_request'
  constructor() {
    super('the local attestation failed')
  }
}

async function harness(options: HarnessOptions): Promise<Harness> {
  const started = await startHarness(options)
  onTestFinished(() => started.stop())
  return started
}

type Run = {
  readonly local?: (signal: AbortSignal) => Promise<DepositsResponse>
}

function run({ aggregator }: Harness, { local = () => own(['A']) }: Run = {}) {
  return aggregator.run({ kind, body: depositsBody, local, signal: new AbortController().signal })
}

/** Signers of the whole deposits response, by name, in its order. */
function signersOf({ messages, execution }: DepositsResponse): readonly (string | undefined)[] {
  const arrays = [...messages.map(({ signatures }) => signatures), execution?.signatures ?? []]
  const [first = []] = arrays
  for (const array of arrays) {
    expect(array.map(({ oracleSigner }) => oracleSigner)).toEqual(
      first.map(({ oracleSigner }) => oracleSigner),
    )
  }
  return first.map(({ oracleSigner }) => nameOf(oracleSigner)).sort()
}

function nameOf(address: string): string | undefined {
  return Object.entries(signers).find(([, signer]) => signer.address === address)?.[0]
}

const amountOf = ({ messages }: DepositsResponse) => messages[0]?.result.amount
const answering = (response: Promise<unknown>) => async () => ({ body: await response })
const never = () => new Promise<never>(() => undefined)
const eventsOf = ({ lines }: Harness) => lines.map(({ event }) => event)

test('a request to a peer asks for no peers, with the key and the id of the request', async () => {
  const started = await harness({ peers: [answering(own(['B']))], allowed: ['A', 'B'], threshold: 2 })
  const signal = new AbortController().signal
  const local = () => own(['A'])
  await started.aggregator.run({ kind, body: depositsBody, requestId: 'r-1', local, signal })
  expect(started.peers[0]?.questions[0]).toMatchObject({
    path: kind.path,
    body: { ...depositsBody, requestPeerSignatures: false },
    headers: { 'x-api-key': 'peer-key', 'x-request-id': 'r-1' },
  })
})

describe('with the allowlist A, B, C', () => {
  test('scenario 9: threshold 1 and a fast peer: no waiting for the local attestation', async () => {
    const started = await harness({ peers: [answering(own(['B']))], allowed: ABC })
    let isAborted = false
    const local = (signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          isAborted = true
          reject(new LocalFailure())
        })
      })
    expect(signersOf((await run(started, { local })).response)).toEqual(['B'])
    expect(isAborted).toBe(true)
  })

  test('scenario 12: two peers of another payload win over the local one', async () => {
    const started = await harness({
      peers: [answering(own(['B'], 'K2')), answering(own(['C'], 'K2'))],
      allowed: ABC,
      threshold: 2,
    })
    const { response } = await run(started)
    expect([amountOf(response), signersOf(response)]).toEqual(['2000', ['B', 'C']])
  })

  test('scenario 18: of two groups of one the local one wins, with a shortfall warning', async () => {
    const started = await harness({
      peers: [answering(own(['B'], 'K2')), never],
      allowed: ABC,
      threshold: 3,
      timeoutMs: 1_000,
    })
    const { response } = await run(started)
    expect([amountOf(response), signersOf(response)]).toEqual(['1000', ['A']])
    expect(eventsOf(started).sort()).toEqual(['peer_mismatch', 'peer_timeout', 'quorum_shortfall'])
  })

  test('scenario 19: no deposits anywhere: our own empty answer, or none at all', async () => {
    const empty: DepositsResponse = { messages: [] }
    const started = await harness({ peers: [() => ({ body: empty })], allowed: ABC, threshold: 2 })
    const { response, matched } = await run(started, { local: async () => empty })
    expect([response, matched]).toEqual([empty, 0])
    await expect(run(started, { local: failing })).rejects.toBeInstanceOf(LocalFailure)
  })

  const otherDomain = (change: Parameters<typeof contextWith>[0]) =>
    answering(signed(kind, payloads.K1, ['B'], contextWith(change)))

  test('scenario 22: the same contract in other letters is merged', async () => {
    const response = await own(['B'])
    const text = JSON.stringify(response).replace(
      /"oracleContract":"0x([0-9a-f]+)"/g,
      (_match, digits: string) => `"oracleContract":"0x${digits.toUpperCase()}"`,
    )
    expect(text).not.toBe(JSON.stringify(response))
    const started = await harness({ peers: [() => ({ body: text })], allowed: ABC, threshold: 2 })
    expect(signersOf((await run(started)).response)).toEqual(['A', 'B'])
  })

  test('scenario 23: a signature for another hub chain is not merged', async () => {
    const started = await harness({
      peers: [otherDomain({ chainId: 42_161 })],
      allowed: ABC,
      threshold: 2,
    })
    expect(signersOf((await run(started)).response)).toEqual(['A'])
  })

  test('scenario 26: garbage under the name of A is dropped and the real A counts', async () => {
    const forged = await own(['A'], 'K1')
    const lie = JSON.stringify(forged).replace(
      /"signature":"0x[0-9a-f]+"/g,
      `"signature":"0x${'12'.repeat(65)}"`,
    )
    const gate = createGate()
    const started = await harness({
      peers: [() => ({ body: lie }), answering(own(['B']))],
      allowed: ABC,
      threshold: 3,
    })
    const local = async () => {
      await gate.opened
      return own(['A'])
    }
    const running = run(started, { local })
    await expect
      .poll(() => started.peers.every(({ questions }) => questions.length === 1), patience)
      .toBe(true)
    gate.open()
    const { response } = await running
    expect(signersOf(response)).toEqual(['A', 'B'])
    expect(JSON.stringify(response)).not.toContain('12'.repeat(65))
  })

  test('scenario 27: a peer that carries two signatures gives both', async () => {
    const started = await harness({ peers: [answering(own(['B', 'C']))], allowed: ABC, threshold: 3 })
    expect(signersOf((await run(started)).response)).toEqual(['A', 'B', 'C'])
  })

  test.each([
    ['our own signature alone', own(['A']), 'own_signer', ['peer_shares_signer', 'quorum_shortfall']],
    ['its own beside ours', own(['A', 'B']), 'merged', []],
  ])('P-3: a peer that answers with %s', async (_what, response, outcome, events) => {
    const started = await harness({ peers: [answering(response)], allowed: ABC, threshold: 2 })
    const { matched } = await run(started)
    expect(matched).toBe(outcome === 'merged' ? 2 : 1)
    expect(started.outcomes.map((one) => one.outcome)).toEqual([outcome])
    expect(eventsOf(started)).toEqual(events)
  })

  test('scenario 32: executed here and pending there are two payloads', async () => {
    const { withdrawals } = attestationKinds
    const started = await harness({
      peers: [answering(signed(withdrawals, withdrawalOf(0), ['B']))],
      allowed: ABC,
      threshold: 2,
    })
    const { response, matched } = await started.aggregator.run({
      kind: withdrawals,
      body: withdrawalsBody,
      local: () => signed(withdrawals, withdrawalOf(1), ['A']),
      signal: new AbortController().signal,
    })
    expect([response.message.result.status, matched]).toEqual([1, 1])
  })
})
