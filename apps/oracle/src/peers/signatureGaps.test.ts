import { attestationKinds } from '@causeway/attestations'
import { describe, expect, test } from 'vitest'
import { sampleContext, sampleResponses } from '../../../../packages/attestations/test/vectors/responses.ts'
import { createAggregation } from './aggregation.ts'
import { cutSignatures, findGaps } from './signatureGaps.ts'

const kind = attestationKinds.fills
const sample = kind.responseSchema.parse(sampleResponses.fills)
const signed = (signature: string) =>
  kind.withSignatures(sample, (path) => [
    {
      signer: `0x${'11'.repeat(20)}`,
      signature: `${signature} of ${path}`,
      domain: { chainId: '1', contract: `0x${'22'.repeat(20)}` },
    },
  ])

const fresh = () =>
  createAggregation({
    kind,
    context: sampleContext,
    recover: () => undefined,
    policy: { signers: undefined, threshold: 1 },
    ownSigner: `0x${'33'.repeat(20)}`,
    request: {},
  })

/** Result of a reader without any memory. */
const readAlone = (text: string) => fresh().read(text)

describe('the second answer of one payload', () => {
  const { message, execution } = signed('second')
  test.each<[string, string]>([
    ['as it was written', JSON.stringify({ message, execution })],
    ['with its members in another order', JSON.stringify({ execution, message })],
    ['without signatures', JSON.stringify(sample)],
    ['with white space', JSON.stringify({ message, execution }, null, 1)],
    ['with brackets in a signature', JSON.stringify(signed('[x]'))],
    ['with a quote in a signature', JSON.stringify(signed('"signatures":[]'))],
    ['with members that nobody knows', JSON.stringify({ message, execution, more: { signatures: [] } })],
    [
      'with a member twice, the last of which counts',
      JSON.stringify({ message, execution }).replace('"signatures":', '"signatures":[],"signatures":'),
    ],
    [
      'with a member twice, once in escapes',
      JSON.stringify({ message, execution }).replace(
        /("signatures":)(\[[^\]]*\])/,
        '$1[],"\\u0073ignatures":$2',
      ),
    ],
  ])('is read like a first one: %s', (_what, text) => {
    const aggregation = fresh()
    aggregation.read(text.replaceAll('second', 'first'))
    aggregation.read(JSON.stringify(signed('first')))
    const { payload, claims } = aggregation.read(text)
    const expected = readAlone(text)
    expect(payload).toEqual(expected.payload)
    expect(claims).toEqual(expected.claims)
  })

  test.each<[string, string, RegExp]>([
    ['entries that are no JSON', '{"oracleSigner"', /JSON/],
    ['entries that are no signatures', '7', /expected object/i],
  ])('is refused for %s', (_what, entries, message_) => {
    const text = JSON.stringify(sample).replace('"signatures":[]', `"signatures":[${entries}]`)
    const aggregation = fresh()
    aggregation.read(JSON.stringify(signed('first')))
    expect(() => aggregation.read(text)).toThrow(message_)
    expect(() => readAlone(text)).toThrow(message_)
  })
})

test('gaps that are not the arrays one to one are none', () => {
  const { frame, entries } = cutSignatures('{"b":{"signatures":[1]},"a":{"signatures":[2,3]}}')
  expect(entries).toEqual(['[1]', '[2,3]'])
  const paths = (...names: string[]) => names.map((name) => ({ path: `${name}.signatures` }))
  expect(findGaps(frame, paths('a', 'b'))).toEqual([1, 0])
  expect(findGaps(frame, paths('a'))).toBeUndefined()
  expect(findGaps(frame, paths('a', 'c'))).toBeUndefined()
  expect(findGaps(frame, paths('a', 'a'))).toBeUndefined()
  expect(findGaps('{"a":null,"b":{"signatures":[]}}', paths('a'))).toBeUndefined()
  const uncut = cutSignatures('{"a":{"signatures":[{"s":"[x]"}]},"b":{"signatures":[1]}}')
  expect(findGaps(uncut.frame, paths('a'))).toBeUndefined()
})
