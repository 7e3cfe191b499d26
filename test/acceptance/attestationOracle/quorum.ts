// Peer aggregation and quorum, in the order of its nine points.
import type { DepositsResponse } from '@causeway/attestations'
import type { Hex, Signer } from '@causeway/core'
import { beforeEach, describe, expect, test } from 'vitest'
import { createGate } from '../../../apps/oracle/test/peerSupport/httpPeer.ts'
import { deposit, native, noOrder } from '../../../apps/oracle/test/support/protocolActors.ts'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { type Answered, ask, askWithPeers, deposits, logOf, signersOf } from '../support/attesting.ts'
import type { Story } from '../support/oracleStory.ts'
import type { Answering, Oracle, OracleWorld } from '../support/oracleWorld.ts'
import {
  depositsOf,
  failing,
  honest,
  refusing,
  saying,
  signedAnswer,
  silent,
} from '../support/peerAnswers.ts'

/** In no block: the local attestation of it fails. */
const unknown: Hex = `0x${'7'.repeat(64)}`

export function describeQuorum(at: () => OracleWorld, story: () => Story): void {
  const question = () => story().deposit.body
  const aggregate = (oracle: Oracle, body: object = question()) => askWithPeers(oracle, deposits, body)
  const says = (...[b, c]: readonly [Answering, Answering]) => {
    at().peers.b.answers(b)
    at().peers.c.answers(c)
  }
  const signers = (answer: Answered) => signersOf(at(), deposits, answer)
  /** The answer of a peer about the deposit, or about another transaction or amount, signed by these. */
  const claim = (
    by: readonly Signer[],
    change: Parameters<typeof depositsOf>[1] = {},
    under = at().context,
  ) =>
    saying(
      signedAnswer(at(), {
        path: deposits,
        answer: depositsOf(story().deposit.answer.body, change),
        by,
        under,
      }),
    )
  const ofUnknown = { chainId: 'base', transactionId: unknown }
  const truth = (...by: readonly Signer[]) =>
    saying(signedAnswer(at(), { path: deposits, answer: story().deposit.answer.body, by }))
  const matched = ({ headers }: Answered) =>
    [headers.get('x-quorum-matched'), headers.get('x-quorum-required')].join(' of ')

  beforeEach(() => says(refusing, refusing))

  test('O-quorum-01: the local attestation and all peers start at once', async () => {
    const { quorum, proxies, peers, network } = at()
    const terms = { currency: native, amount: 9n, id: noOrder }
    const body = { chainId: 'base', transactionId: await deposit(network, 'base', userOf(network, 3), terms) }
    const gate = createGate()
    const held = (by: Signer): Answering => {
      const answers = honest(at(), by)
      return async (asked) => {
        await gate.opened
        return answers(asked)
      }
    }
    says(held(at().signers.B), held(at().signers.C))
    const asked = [peers.b.questions.length, peers.c.questions.length]
    proxies.base.resetCounters()
    await proxies.base.set({ kind: 'latency', delayMs: 300 })
    try {
      const answering = aggregate(quorum, body)
      await expect
        .poll(() => [
          peers.b.questions.length > (asked[0] ?? 0),
          peers.c.questions.length > (asked[1] ?? 0),
          (proxies.base.counters().callsByMethod['eth_getTransactionReceipt'] ?? 0) > 0,
        ])
        .toEqual([true, true, true])
      gate.open()
      expect(matched(await answering)).toMatch(/^[23] of 2$/)
    } finally {
      await proxies.base.set({ kind: 'pass' })
    }
  })

  describe('an early answer', () => {
    test('O-quorum-02: leaves with the threshold of listed signatures, and waits for nobody more', async () => {
      says(truth(at().signers.B), silent)
      const answer = await aggregate(at().quorum)
      expect([signers(answer), matched(answer)]).toEqual(['AB', '2 of 2'])
      expect(answer.elapsedMs).toBeLessThan(9_000)
    })

    test('O-quorum-02: remote peers alone may reach it: the local oracle has no privilege', async () => {
      const { B, C } = at().signers
      says(claim([B], { transactionId: unknown }), claim([C], { transactionId: unknown }))
      const answer = await aggregate(at().quorum, ofUnknown)
      expect([signers(answer), matched(answer)]).toEqual(['BC', '2 of 2'])
    })

    test('O-quorum-02: the local signature counts too: it alone reaches a threshold of 1', async () => {
      says(silent, silent)
      const answer = await aggregate(at().first)
      expect([answer.status, matched(answer)]).toEqual([200, '1 of 1'])
      expect(answer.elapsedMs).toBeLessThan(9_000)
    })
  })

  describe('responses are combined', () => {
    test('O-quorum-03: where payload, domain and order are equal', async () => {
      says(truth(at().signers.B), refusing)
      expect(signers(await aggregate(at().quorum))).toBe('AB')
    })

    test('O-quorum-03: not with another payload', async () => {
      says(claim([at().signers.B], { amounts: ['1'] }), truth(at().signers.C))
      expect(signers(await aggregate(at().quorum))).toBe('AC')
    })

    test('O-quorum-03: not with signatures of another domain', async () => {
      const { hub, networkOf } = at().context
      const executionDomain = { ...hub.executionDomain, chainId: 1 }
      says(claim([at().signers.B], {}, { hub: { ...hub, executionDomain }, networkOf }), refusing)
      expect(signers(await aggregate(at().quorum))).toBe('A')
    })

    test('O-quorum-03: not with the same deposits in another order', async () => {
      const of = (signer: Signer, ...amounts: readonly string[]) =>
        claim([signer], { transactionId: unknown, amounts })
      const { B, C } = at().signers
      says(of(B, '1', '2'), of(C, '2', '1'))
      const answer = await aggregate(at().quorum, ofUnknown)
      expect(matched(answer)).toBe('1 of 2')
      says(of(B, '1', '2'), of(C, '1', '2'))
      expect(matched(await aggregate(at().quorum, ofUnknown))).toBe('2 of 2')
    })

    test.each<[string, unknown]>([
      ['of another shape', { messages: 'none' }],
      ['that is no object', []],
      ['without signature arrays', { messages: [{ data: {}, result: {} }] }],
    ])('O-quorum-03: not where one breaks the schema: a body %s', async (_what, body) => {
      says(saying(body), truth(at().signers.C))
      expect(signers(await aggregate(at().quorum))).toBe('AC')
    })
  })

  describe('aggregation drops', () => {
    const every = ({ body }: Answered) =>
      [...body.messages, body.execution].map(({ signatures }) =>
        signatures.map(({ oracleSigner }: { oracleSigner: string }) => oracleSigner),
      )

    test('O-quorum-04: duplicate signatures', async () => {
      const { B } = at().signers
      says(truth(B, B), truth(B))
      const answer = await aggregate(at().quorum)
      expect(signers(answer)).toBe('AB')
      for (const array of every(answer)) expect(array).toHaveLength(2)
    })

    test('O-quorum-04: signatures of signers that are not listed', async () => {
      const { X, C } = at().signers
      says(truth(X), truth(X, C))
      const answer = await aggregate(at().quorum)
      expect(signers(answer)).toBe('AC')
      for (const array of every(answer)) expect(array).not.toContain(X.address)
    })

    test('O-quorum-04: signers that are missing from one of several arrays', async () => {
      const { B, C } = at().signers
      const change = { transactionId: unknown, amounts: ['1', '2'] }
      const whole = depositsOf(story().deposit.answer.body, change)
      const signed = await signedAnswer(at(), { path: deposits, answer: whole, by: [C] })
      const messages = Object(signed).messages.map(
        (message: DepositsResponse['messages'][number], index: number) =>
          index === 1 ? { ...message, signatures: [] } : message,
      )
      says(claim([B], change), saying({ ...signed, messages }))
      const answer = await aggregate(at().quorum, ofUnknown)
      expect([signers(answer), matched(answer)]).toEqual(['B', '1 of 2'])
    })
  })

  test('O-quorum-05: below the threshold the strongest group is answered with success, and the counts are logged', async () => {
    const log = logOf(at().quorum)
    const answer = await aggregate(at().quorum)
    expect([answer.status, signers(answer), matched(answer)]).toEqual([200, 'A', '1 of 2'])
    await log.has('quorum_shortfall', { matched: 1, required: 2 })
  })

  test('O-quorum-05: of several partial groups the stronger one is answered', async () => {
    const { B, C } = at().signers
    says(claim([B, C], { amounts: ['5'] }), refusing)
    const answer = await aggregate(at().quorum)
    expect([signers(answer), answer.body.messages[0].result.amount]).toEqual(['BC', '5'])
  })

  test('O-quorum-06: the list of an instance is its own, and is never sent', async () => {
    const { quorum, first, peers, signers: all } = at()
    says(truth(all.B), silent)
    for (const oracle of [quorum, first]) {
      await aggregate(oracle)
      const sent = JSON.stringify(peers.b.questions.at(-1)).toLowerCase()
      for (const { address } of [...Object.values(all), first.signer])
        expect(sent).not.toContain(address.slice(2).toLowerCase())
      expect(peers.b.questions.at(-1)?.body).toEqual({ ...question(), requestPeerSignatures: false })
    }
  })

  describe('without ORACLE_SIGNERS', () => {
    test('O-quorum-07: it waits for all peers, and merges whoever signed the local payload', async () => {
      const gate = createGate()
      const late = truth(at().signers.X)
      says(truth(at().signers.B), async (asked) => {
        await gate.opened
        return late(asked)
      })
      let isAnswered = false
      const answering = aggregate(at().open).then((answer) => {
        isAnswered = true
        return answer
      })
      await expect.poll(() => at().peers.c.openQuestions()).toBeGreaterThan(0)
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(isAnswered).toBe(false)
      gate.open()
      const { body } = await answering
      const found = body.execution.signatures.map(
        ({ oracleSigner }: { oracleSigner: string }) => oracleSigner,
      )
      const { open, signers: all } = at()
      expect(found.toSorted()).toEqual([open.signer, all.B, all.X].map(({ address }) => address).toSorted())
    })

    test('O-quorum-07: the wait is bounded by PEER_REQUEST_TIMEOUT_MS', async () => {
      says(truth(at().signers.B), silent)
      const answer = await aggregate(at().open)
      expect([answer.status, answer.elapsedMs >= 1_900, answer.elapsedMs < 9_000]).toEqual([200, true, true])
    })

    test('O-quorum-07: another payload than the local one is not aggregated', async () => {
      const { B, C } = at().signers
      says(claim([B, C], { amounts: ['5'] }), refusing)
      const answer = await aggregate(at().open)
      expect(answer.body.messages[0].result.amount).not.toBe('5')
      expect(answer.body.execution.signatures).toHaveLength(1)
    })

    test('O-quorum-07: a failed local attestation fails the request', async () => {
      const { B, C } = at().signers
      says(claim([B], { transactionId: unknown }), claim([C], { transactionId: unknown }))
      const answer = await aggregate(at().open, ofUnknown)
      expect([answer.status, answer.body.errorCode]).toEqual([400, 'TRANSACTION_MISSING'])
    })

    test('O-quorum-07: a threshold is ignored, and a warning at the start says so', async () => {
      const answer = await aggregate(at().open)
      expect([answer.status, matched(answer)]).toEqual([200, '1 of 1'])
      expect(at().open.process.output()).toContain(
        'ORACLE_SIGNERS_THRESHOLD has no effect without ORACLE_SIGNERS',
      )
    })
  })

  describe('with ORACLE_SIGNERS', () => {
    test('O-quorum-08: a failed local attestation is logged, and peers alone may answer, if only in part', async () => {
      const log = logOf(at().quorum)
      says(claim([at().signers.B], { transactionId: unknown }), refusing)
      const answer = await aggregate(at().quorum, ofUnknown)
      expect([answer.status, signers(answer), matched(answer)]).toEqual([200, 'B', '1 of 2'])
      await log.has('local_attestation_failed')
    })

    test.each<[string, () => Answering]>([
      ['nobody answers', () => refusing],
      ['an outsider alone answers', () => claim([at().signers.X], { transactionId: unknown })],
    ])('O-quorum-08: the request fails where no listed group is valid: %s', async (_what, answers) => {
      says(answers(), refusing)
      const answer = await aggregate(at().quorum, ofUnknown)
      expect([answer.status, answer.body.errorCode]).toEqual([400, 'TRANSACTION_MISSING'])
    })
  })

  test.each<[string, () => Answering, string]>([
    ['times out', () => silent, 'peer_timeout'],
    ['errors', () => failing, 'peer_failed'],
    ['fails validation', () => saying({ messages: 'none' }), 'peer_failed'],
    ['matches no group', () => claim([at().signers.B], { amounts: ['5'] }), 'peer_mismatch'],
  ])('O-quorum-09: a peer that %s is skipped with a warning', async (_what, answers, event) => {
    const log = logOf(at().open)
    says(answers(), truth(at().signers.C))
    const answer = await aggregate(at().open)
    expect(answer.body.execution.signatures).toHaveLength(2)
    await log.has(event, { level: 40 })
  })

  test('O-quorum-09: a peer whose signer is in shadow mode is compared, and not counted', async () => {
    const log = logOf(at().quorum)
    says(truth(at().signers.X), truth(at().signers.C))
    expect(signers(await aggregate(at().quorum))).toBe('AC')
    await log.has('shadow_agreement')
    expect((await ask(at().quorum, deposits, question())).status).toBe(200)
  })
}
