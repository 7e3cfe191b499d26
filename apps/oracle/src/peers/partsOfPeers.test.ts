// Goal: it is known of each peer whether it had a part in the answer, and an oracle that does not count yet is compared
// with those that do. Method: real signatures; no network and no time.
import { attestationKinds } from '@causeway/attestations'
import type { Hex } from '@causeway/core'
import { createRawKeySigner, parsePrivateKey, recoverSigner } from '@causeway/signer'
import { describe, expect, test } from 'vitest'
import {
  context,
  depositsOf,
  type SignerName,
  signed,
  signedBy,
  signers,
  withdrawalOf,
  withdrawalsBody,
} from '../../test/peerSupport/attestations.ts'
import { addAll, aggregationOf } from '../../test/peerSupport/saidAnswers.ts'
import { createAggregation } from './aggregation.ts'

const kind = attestationKinds.deposits
const ABC = ['A', 'B', 'C'] as const
const whole = depositsOf(['1000'])

describe('O-108: a signer that is not listed', () => {
  const shadowsOf = async (own: string, peers: readonly string[], listed: readonly SignerName[]) => {
    const aggregation = aggregationOf(4, listed)
    await addAll(aggregation, own, peers)
    const name = (signer: Hex) => Object.entries(signers).find(([, { address }]) => address === signer)?.[0]
    const { shadows = [] } = aggregation.conclude() ?? {}
    return shadows.map(({ peer, signer, agrees }) => `${peer} ${name(signer)} ${agrees}`)
  }

  test.each<[string, string, readonly string[], readonly string[]]>([
    ['in all', 'K1 A', ['K1 X'], ['one X true']],
    ['in nothing', 'K1 A', ['K2 X'], ['one X false']],
    ['in the message, whose execution it holds', 'K1 A', ['K1 held X'], ['one X true']],
    ['in the message, whose execution is held here', 'K1 held A', ['K1 X'], ['one X true']],
    ['in another message, whose execution it holds', 'K1 A', ['K2 held X'], ['one X false']],
    ['in another message, held by both', 'K1 held A', ['K2 held X'], ['one X false']],
    ['beside one that counts', 'K1 A', ['K1 B X'], ['one X true']],
  ])('is compared: it agrees %s', async (_what, own, peers, expected) => {
    expect(await shadowsOf(own, peers, ABC)).toEqual(expected)
  })

  const { withdrawals } = attestationKinds
  test.each([
    ['that a withdrawal is pending, which was executed for this oracle', withdrawalOf(1)],
    ['so, where this oracle holds an execution of it', withdrawals.withoutExecution(withdrawalOf(1))],
  ])('does not agree by saying %s', async (_what, own) => {
    const aggregation = createAggregation({
      kind: withdrawals,
      context,
      recover: recoverSigner,
      policy: { signers: new Set([signers.A.address]), threshold: 2 },
      ownSigner: signers.A.address,
      request: withdrawalsBody,
    })
    aggregation.add(await signed(withdrawals, own, ['A']), undefined)
    aggregation.add(await signed(withdrawals, withdrawalOf(0), ['X']), { peer: 'one' })
    expect(aggregation.conclude()?.shadows).toMatchObject([{ peer: 'one', agrees: false }])
  })

  test('in the own answer is nobody to compare', async () => {
    expect(await shadowsOf('K1 A X', [], ABC)).toEqual([])
  })

  test('is compared beside three others at most, as an answer may name thousands', async () => {
    const keys = [1, 2, 3, 4, 5].map((digit) => parsePrivateKey(`0x${`0${digit}`.repeat(32)}`, 'KEY'))
    const outsiders = keys.map((privateKey) => createRawKeySigner({ privateKey }))
    const aggregation = aggregationOf(2)
    const crowd = await signedBy(kind, whole, [signers.B, ...outsiders], context)
    await addAll(aggregation, 'K1 A', [])
    expect(aggregation.add(crowd, { peer: 'one' })).toBe(true)
    const { shadows, matched } = aggregation.conclude() ?? {}
    expect(shadows?.map(({ signer }) => signer)).toEqual(outsiders.slice(0, 4).map(({ address }) => address))
    expect(matched).toBe(2)
  })
})

type Judged = { readonly mismatched: readonly string[]; readonly held: readonly string[] }

describe('a peer', () => {
  test.each<[string, number, string, readonly string[], Judged]>([
    ['that says the same has a part', 4, 'K1 A', ['K1 B'], { mismatched: [], held: [] }],
    ['that says something else has none', 4, 'K1 A', ['K2 B'], { mismatched: ['one'], held: [] }],
    ['that holds something else has none', 4, 'K1 A', ['K2 held B'], { mismatched: ['one'], held: ['one'] }],
    [
      'that holds what enough others sign has none',
      2,
      'K1 A',
      ['K1 held B', 'K1 C'],
      { mismatched: ['one'], held: ['one'] },
    ],
    [
      'that signs what this oracle holds has a part in its message',
      3,
      'K1 held A',
      ['K1 held B', 'K1 C'],
      { mismatched: [], held: ['one'] },
    ],
    [
      'that signs something else than this oracle holds has none',
      2,
      'K1 held A',
      ['K1 held C', 'K2 B'],
      { mismatched: ['two'], held: ['one'] },
    ],
    [
      'that signs nothing has none, also where this oracle holds the execution',
      4,
      'K1 held A',
      ['K1'],
      { mismatched: ['one'], held: [] },
    ],
  ])('%s', async (_what, threshold, own, peers, expected) => {
    const aggregation = aggregationOf(threshold)
    await addAll(aggregation, own, peers)
    expect(aggregation.conclude()).toMatchObject(expected)
  })

  test('P-3: with the own signature beside another one shares no key', async () => {
    const aggregation = aggregationOf(4)
    await addAll(aggregation, 'K1 A', ['K1 A B', 'K1 A', 'K1 B'])
    expect(aggregation.conclude()).toMatchObject({ sharing: ['two'], matched: 2 })
  })

  test('that signs nothing shares no key either', async () => {
    const aggregation = aggregationOf(4)
    await addAll(aggregation, 'K1 A', ['K1'])
    expect(aggregation.conclude()).toMatchObject({ sharing: [], mismatched: ['one'] })
  })
})
