// Goal: of what oracles say, the answer that most listed ones signed is given, and nobody's word counts twice or for what
// he did not sign. Method: real signatures; no network and no time.
import { attestationKinds, type DepositsResponse } from '@causeway/attestations'
import { describe, expect, test } from 'vitest'
import { depositsOf, signed, signers } from '../../test/peerSupport/attestations.ts'
import {
  addAll,
  aggregationOf,
  amountOf,
  namesIn,
  said,
  withSigners,
} from '../../test/peerSupport/saidAnswers.ts'

const kind = attestationKinds.deposits
const ABC = ['A', 'B', 'C'] as const
const elsewhere = depositsOf(['1000'], `0x${'bb'.repeat(32)}`)
const evidence = [{ chainId: 'ethereum', finalityRule: 'finalized', agreeingEndpoints: ['one', 'two'] }]

describe('where no group reaches the threshold', () => {
  test.each<[string, string | undefined, readonly string[], string, string]>([
    ['the one with more signers is given', 'K1 A', ['K2 B', 'K2 C'], '2000', 'B C'],
    ['of equal ones that of this oracle', 'K1 A', ['K2 B'], '1000', 'A'],
    [
      'with an execution a smaller one, before a message alone',
      undefined,
      ['K2 held B', 'K2 held C', 'K1 A'],
      '1000',
      'A',
    ],
    [
      'and all hold the execution, the message with more signers',
      'K1 held A',
      ['K2 held B', 'K2 held C'],
      '2000',
      'B C',
    ],
    ['and all hold it, of equal ones that of this oracle', 'K2 held A', ['K1 held B'], '2000', 'A'],
  ])('%s', async (_what, own, peers, amount, names) => {
    for (const order of [peers, [...peers].reverse()]) {
      const aggregation = aggregationOf(4)
      expect(await addAll(aggregation, own, order)).not.toContain(true)
      const result = aggregation.conclude()
      expect([amountOf(result?.response), namesIn(result?.response)]).toEqual([amount, names])
      expect([result?.matched, result?.required]).toEqual([names.split(' ').length, 4])
    }
  })

  test('the own answer is given of equal ones, also where it came last', async () => {
    const aggregation = aggregationOf(4)
    await addAll(aggregation, undefined, ['K2 B', 'K3 C'])
    await addAll(aggregation, 'K1 A', [])
    expect(amountOf(aggregation.conclude()?.response)).toBe('1000')
  })

  test('and peers alone are equal, one and the same is given, whoever came first', async () => {
    const answers = ['K1 A', 'K2 B', 'K3 C']
    const amounts = new Set<string | undefined>()
    for (const order of [answers, [...answers].reverse(), ['K2 B', 'K1 A', 'K3 C']]) {
      const aggregation = aggregationOf(2)
      await addAll(aggregation, undefined, order)
      amounts.add(amountOf(aggregation.conclude()?.response))
    }
    expect(amounts.size).toBe(1)
  })

  test('a message that reaches it with those who also signed an execution is given before executions', async () => {
    const aggregation = aggregationOf(2)
    await addAll(aggregation, 'K2 C', ['K1 held B', 'K1 A'])
    const result = aggregation.conclude()
    expect([amountOf(result?.response), namesIn(result?.response)]).toEqual(['1000', 'A B'])
    expect(result?.response.executionHeld).toBe('SIGNING_CAP')
    expect([result?.mismatched, result?.held]).toEqual([[], ['one']])
  })
})

describe('a quorum', () => {
  test('is complete with the last signer that it takes, and nothing counts after that', async () => {
    const aggregation = aggregationOf(2)
    expect(await addAll(aggregation, 'K1 A', ['K2 B', 'K1 C', 'K1 B'])).toEqual([false, false, true, true])
    const late = aggregation.read(JSON.stringify(await said('K1 B')))
    expect(aggregation.addRead(late, 'five')).toBe(true)
    const result = aggregation.conclude()
    expect([namesIn(result?.response), result?.matched, result?.mismatched]).toEqual(['A C', 2, ['one']])
  })

  test('takes no more signers than it needs of an answer that carries many', async () => {
    const aggregation = aggregationOf(2)
    expect(await addAll(aggregation, 'K1 A', ['K1 B C'])).toEqual([false, true])
    expect(aggregation.conclude()?.matched).toBe(2)
  })

  test('names its signers in ascending order, whoever came first', async () => {
    for (const peers of [
      ['K1 B', 'K1 C'],
      ['K1 C', 'K1 B'],
    ]) {
      const aggregation = aggregationOf(3)
      await addAll(aggregation, 'K1 A', peers)
      const { messages = [] } = aggregation.conclude()?.response ?? {}
      const named = messages.flatMap((message) => message.signatures.map(({ oracleSigner }) => oracleSigner))
      expect(named).toEqual(ABC.map((name) => signers[name].address).sort())
    }
  })

  test('is never complete without a list of signers, as every peer is waited for', async () => {
    const aggregation = withSigners(1, undefined)
    expect(await addAll(aggregation, 'K1 A', ['K1 X', 'K2 B'])).toEqual([false, false, false])
    expect(aggregation.conclude()).toMatchObject({ matched: 2, required: 1 })
  })

  test('is not complete with a message alone, as an execution may still come', async () => {
    const aggregation = aggregationOf(2)
    expect(await addAll(aggregation, 'K1 held A', ['K1 held B', 'K1 B', 'K1 C'])).toEqual([
      false,
      false,
      false,
      true,
    ])
    expect(aggregation.conclude()?.response).toHaveProperty('execution')
  })

  test('counts a signer once, however many peers show his signature', async () => {
    const aggregation = aggregationOf(2)
    expect(await addAll(aggregation, 'K1 A', ['K1 A', 'K1 A'])).toEqual([false, false, false])
    const result = aggregation.conclude()
    expect([result?.matched, result?.sharing]).toEqual([1, ['one', 'two']])
  })
})

describe('without a list of signers', () => {
  test('the own answer has the signatures of all who say the same', async () => {
    const aggregation = withSigners(1, undefined)
    await addAll(aggregation, 'K1 A', ['K1 X', 'K2 B', 'K2 C'])
    const result = aggregation.conclude()
    expect([amountOf(result?.response), namesIn(result?.response)]).toEqual(['1000', 'A X'])
    expect([result?.mismatched, result?.shadows]).toEqual([['two', 'three'], []])
  })

  test('there is no answer without the own one', async () => {
    const aggregation = withSigners(1, undefined)
    await addAll(aggregation, undefined, ['K1 B', 'K1 C'])
    expect(aggregation.conclude()).toBeUndefined()
  })
})

describe('an answer', () => {
  test('of peers to another question has no part', async () => {
    const aggregation = aggregationOf(1)
    expect(aggregation.add(await signed(kind, elsewhere, ['B']), { peer: 'one' })).toBe(false)
    expect(aggregation.conclude()).toBeUndefined()
    aggregation.add(await said('K1 A'), undefined)
    expect(aggregation.conclude()).toMatchObject({ matched: 1, mismatched: ['one'], held: [], shadows: [] })
  })

  test('that no listed oracle signed is none, though there is something to sign', async () => {
    const aggregation = aggregationOf(1, ['B'])
    await addAll(aggregation, 'K1 A', ['K1 C'])
    expect(aggregation.conclude()).toBeUndefined()
  })

  test('without anything to sign is passed on from this oracle alone', () => {
    const empty: DepositsResponse = { messages: [], evidence }
    const aggregation = aggregationOf(2)
    aggregation.add(empty, { peer: 'one' })
    expect(aggregation.conclude()).toBeUndefined()
    aggregation.add(empty, undefined)
    expect(aggregation.conclude()).toEqual({
      response: empty,
      matched: 0,
      required: 2,
      mismatched: [],
      held: [],
      sharing: [],
      shadows: [],
    })
  })

  test.each<[string, readonly string[], boolean]>([
    ['with the evidence of this oracle for what it said itself', ['K1 B'], true],
    ['without it where others won', ['K2 B', 'K2 C'], false],
    ['without it where its execution is another one’s', ['K1 held B', 'K2 C'], true],
  ])('is given %s', async (_what, peers, hasEvidence) => {
    const aggregation = aggregationOf(4)
    aggregation.add({ ...(await said('K1 A')), evidence }, undefined)
    for (const [index, text] of peers.entries())
      aggregation.add({ ...(await said(text)), evidence: [] }, { peer: String(index) })
    const { response } = aggregation.conclude() ?? {}
    expect(response && 'evidence' in response ? response.evidence : undefined).toEqual(
      hasEvidence ? evidence : undefined,
    )
  })

  test('has no member for evidence where this oracle has none', async () => {
    const aggregation = aggregationOf(2)
    aggregation.add({ ...(await said('K1 A')), evidence: undefined }, undefined)
    expect(aggregation.conclude()?.response).not.toHaveProperty('evidence')
  })
})
