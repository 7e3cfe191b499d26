// Goal: callers, peers and settlement count the same signers, and only canonical signatures of them.
// The published vectors of every hash are tested where it is written.
import {
  type AttestationKind,
  type AttestationVerdict,
  attestationKinds,
  type DepositsResponse,
  verifyAttestation,
} from '@causeway/attestations'
import type { Hex } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { describe, expect, test } from 'vitest'
import { sampleContext, sampleResponses } from '../../../packages/attestations/test/vectors/responses.ts'
import { createAggregation } from '../src/peers/aggregation.ts'
import {
  context,
  contextWith,
  depositsBody,
  depositsOf,
  type SignerName,
  signed,
  signers,
} from './peerSupport/attestations.ts'

const kind = attestationKinds.deposits
const listed = [signers.A.address, signers.B.address, signers.C.address]
const truth = await signed(kind, depositsOf(['1000', '2000']), ['B', 'A'])

function verify(response: unknown, threshold = 2): AttestationVerdict {
  return verifyAttestation(response, { ...context, kind, signers: listed, threshold, recover: recoverSigner })
}

async function verifiedSigners<Response>(
  of: AttestationKind<Response>,
  sample: unknown,
  by: readonly SignerName[],
) {
  const response = await signed(of, of.responseSchema.parse(sample), by, sampleContext)
  const terms = { ...sampleContext, kind: of, signers: listed, threshold: 2, recover: recoverSigner }
  return verifyAttestation(JSON.parse(JSON.stringify(response)), terms).signers
}

describe('every kind of answer is verified over what its payload says', () => {
  test.each([
    ['deposits', () => verifiedSigners(attestationKinds.deposits, sampleResponses.deposits, ['A', 'B'])],
    [
      'withdrawals',
      () => verifiedSigners(attestationKinds.withdrawals, sampleResponses.withdrawals, ['A', 'B']),
    ],
    ['fills', () => verifiedSigners(attestationKinds.fills, sampleResponses.fills, ['A', 'B'])],
    ['refunds', () => verifiedSigners(attestationKinds.refunds, sampleResponses.refunds, ['A', 'B'])],
    [
      'withdrawal-initiation',
      () =>
        verifiedSigners(attestationKinds['withdrawal-initiation'], sampleResponses['withdrawal-initiation'], [
          'A',
          'B',
        ]),
    ],
    [
      'withdrawal-initiated',
      () =>
        verifiedSigners(attestationKinds['withdrawal-initiated'], sampleResponses['withdrawal-initiated'], [
          'A',
          'B',
        ]),
    ],
    ['recovery', () => verifiedSigners(attestationKinds.recovery, sampleResponses.recovery, ['A', 'B'])],
    [
      'no-fill-or-refund',
      () =>
        verifiedSigners(attestationKinds['no-fill-or-refund'], sampleResponses['no-fill-or-refund'], [
          'A',
          'B',
        ]),
    ],
  ])('%s', async (_name, verified) => {
    expect(await verified()).toEqual([signers.A.address, signers.B.address].sort())
  })
})

describe('what does not count', () => {
  test('a changed payload', () => {
    const { execution } = truth
    const changes: readonly unknown[] = [
      JSON.parse(JSON.stringify(truth).replace('"amount":"1000"', '"amount":"1001"')),
      { ...truth, execution: { ...execution, actions: execution?.actions.toReversed() } },
      { ...truth, execution: { ...execution, idempotencyKey: `0x${'00'.repeat(32)}` } },
    ]
    for (const changed of changes) expect(verify(changed)).toMatchObject({ matched: 0, signers: [] })
    expect(verify(truth)).toMatchObject({ matched: 2, isQuorum: true, problems: [] })
  })

  test('P-131: an outsider, and a signer that did not sign everything', async () => {
    const outside = await signed(kind, depositsOf(['1000']), ['A', 'X'])
    expect(verify(outside)).toMatchObject({
      isQuorum: false,
      signers: [signers.A.address],
      problems: [{ reason: 'unlisted_signer', signer: signers.X.address }],
    })
    const [first, ...messages] = truth.messages
    const partial = {
      ...truth,
      messages: [{ ...first, signatures: first?.signatures.slice(0, 1) }, ...messages],
    }
    expect(verify(partial)).toMatchObject({ signers: [signers.B.address] })
  })

  test('a signature for another version, chain or contract of the hub', async () => {
    for (const change of [
      { chainId: 1 },
      { verifyingContract: `0x${'0'.repeat(39)}1` as const },
      { version: '1' },
    ]) {
      const response = await signed(kind, depositsOf(['1000']), ['A', 'B'], contextWith(change))
      expect(verify(response)).toMatchObject({ matched: 0, isQuorum: false })
    }
  })

  test("a mapping's entry that was signed for another hub or contract, or that was changed", async () => {
    const entries = attestationKinds['no-fill-or-refund']
    const { mappingDomain, ...hub } = sampleContext.hub
    if (mappingDomain === undefined) throw new Error('no mapping')
    const sample = entries.responseSchema.parse(sampleResponses['no-fill-or-refund'])
    const terms = { ...sampleContext, kind: entries, signers: listed, threshold: 2, recover: recoverSigner }
    for (const change of [{ chainId: 1 }, { verifyingContract: `0x${'bc'.repeat(20)}` as const }]) {
      const elsewhere = { ...sampleContext, hub: { ...hub, mappingDomain: { ...mappingDomain, ...change } } }
      const answer = await signed(entries, sample, ['A', 'B'], elsewhere)
      expect(verifyAttestation(answer, terms)).toMatchObject({ matched: 0, isQuorum: false })
    }
    const { genericMapping } = await signed(entries, sample, ['A', 'B'], sampleContext)
    expect(verifyAttestation({ genericMapping }, terms)).toMatchObject({ matched: 2, isQuorum: true })
    for (const change of [{ id: `0x${'00'.repeat(32)}` }, { data: '0x02' }, { user: signers.A.address }]) {
      const changed = { genericMapping: { ...genericMapping, ...change } }
      expect(verifyAttestation(changed, terms)).toMatchObject({ matched: 0 })
    }
  })

  test('an answer without signatures, or that is none', () => {
    expect(verify({ messages: [] })).toMatchObject({ matched: 0, problems: [{ reason: 'nothing_to_sign' }] })
    expect(verify({ messages: 1 })).toMatchObject({ matched: 0, problems: [{ reason: 'schema' }] })
    expect(verify(undefined)).toMatchObject({ matched: 0, problems: [{ reason: 'schema' }] })
  })

  test('a threshold that is none is a bug of the caller', () => {
    expect(() => verify(truth, 0)).toThrow(RangeError)
    expect(() => verify(truth, 1.5)).toThrow(RangeError)
  })
})

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const word = (value: bigint) => value.toString(16).padStart(64, '0')
type Change = (parts: { r: string; s: string; v: string }) => string

describe('malleability: only the canonical form of a signature counts', () => {
  const forms: readonly (readonly [string, Change, boolean])[] = [
    ['the canonical form', ({ r, s, v }) => r + s + v, true],
    ['the canonical form in upper case', ({ r, s, v }) => (r + s + v).toUpperCase(), true],
    [
      'high s with the other v',
      ({ r, s, v }) => r + word(curveOrder - BigInt(`0x${s}`)) + (v === '1b' ? '1c' : '1b'),
      false,
    ],
    ['v 0 or 1', ({ r, s, v }) => r + s + (v === '1b' ? '00' : '01'), false],
    ['v 29', ({ r, s }) => `${r}${s}1d`, false],
    ['the compact form of 64 bytes', ({ r, s }) => r + s, false],
    ['r of zero', ({ s, v }) => word(0n) + s + v, false],
    ['s of zero', ({ r, v }) => r + word(0n) + v, false],
    ['r of the order', ({ s, v }) => word(curveOrder) + s + v, false],
    ['s of the order', ({ r, v }) => r + word(curveOrder) + v, false],
    ['a trailing byte', ({ r, s, v }) => `${r}${s}${v}00`, false],
    ['short r', ({ r, s, v }) => r.slice(2) + s + v, false],
    ['nothing', () => '', false],
  ]

  function reformed(response: DepositsResponse, change: Change): DepositsResponse {
    const rewrite = (signature: string): Hex => {
      const digits = signature.slice(2)
      return `0x${change({ r: digits.slice(0, 64), s: digits.slice(64, 128), v: digits.slice(128) })}`
    }
    return JSON.parse(
      JSON.stringify(response, (name, value) => (name === 'signature' ? rewrite(value) : value)),
    )
  }

  test.each(forms)('%s', (_form, change, counts) => {
    expect(verify(reformed(truth, change)).matched).toBe(counts ? 2 : 0)
  })

  test('one signer in several forms counts once, here and among peers', () => {
    const variants = forms.map(([, change]) => reformed(truth, change))
    const together = kind.withSignatures(truth, (path) =>
      variants.flatMap((variant) =>
        kind.signatureArrays(variant, context).flatMap((array) => (array.path === path ? array.claims : [])),
      ),
    )
    expect(verify(together)).toMatchObject({ matched: 2 })
    const aggregation = createAggregation({
      kind,
      context,
      recover: recoverSigner,
      policy: { signers: new Set(listed), threshold: 3 },
      ownSigner: `0x${'33'.repeat(20)}`,
      request: depositsBody,
    })
    for (const [index, variant] of [together, ...variants].entries()) {
      aggregation.add(variant, { peer: `peer-${index}` })
    }
    expect(aggregation.conclude()).toMatchObject({ matched: 2, required: 3 })
  })
})
