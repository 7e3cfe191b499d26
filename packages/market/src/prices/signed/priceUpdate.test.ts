// Goal: a price of Pyth counts only when enough guardians of a known set signed it, for its feed and its time.
// Method: guardians are generated here and sign in the real format; each attack changes one thing of an update
// that counts. Updates that were recorded on a chain are judged by the sets of the shipped files. Who gains: the
// service behind HERMES_URL, or whoever answers in its place.
import { readFileSync } from 'node:fs'
import { concatBytes, type Hex, hexToBytes } from '@causeway/core'
import { quoteFileSchema } from '@causeway/core/config'
import { recoverSigner } from '@causeway/signer'
import { describe, expect, test } from 'vitest'
import { recordedUpdates } from '../../../test/support/recordedUpdates.ts'
import {
  nodeHash,
  type PriceMessage,
  priceUpdate,
  shortHash,
  testGuardians,
  type UpdateOptions,
} from '../../../test/support/signedPrices.ts'
import { verifyPriceUpdate } from './priceUpdate.ts'

// As many as Pyth has: three of them are enough.
const guardians = testGuardians(5)
const others = testGuardians(5)
const ethId: Hex = `0x${'61'.repeat(32)}`
const btcId: Hex = `0x${'62'.repeat(32)}`
const eth: PriceMessage = {
  feedId: ethId,
  price: 203_142_170_000n,
  conf: 101n,
  expo: -8,
  publishTime: 1_800_000_000,
}
const btc: PriceMessage = { ...eth, feedId: btcId, price: 6_000_000_000_000n }
const five = Array.from({ length: 5 }, (_, index) => ({
  ...eth,
  feedId: `0x0${index}${'00'.repeat(31)}` as const,
}))

const sets = [{ index: guardians.index, addresses: guardians.addresses }]
const verify = (update: Uint8Array, guardianSets = sets) =>
  verifyPriceUpdate(update, { guardianSets, recover: recoverSigner })
const make = (messages: readonly PriceMessage[], options: Partial<UpdateOptions> = {}) =>
  priceUpdate(messages, { guardians, ...options })

describe('F-30: an update that enough guardians signed', () => {
  test.each([1, 2, 3, 5])('gives each of its messages, proven against one root: %i', async (count) => {
    const messages = five.slice(0, count)
    expect(verify(await make(messages))).toEqual({ prices: messages })
  })

  test('may be signed by any of them, and by more than enough', async () => {
    expect(verify(await make([eth], { signers: [1, 3, 4] }))).toEqual({ prices: [eth] })
    expect(verify(await make([eth], { signers: [0, 1, 2, 3, 4] }))).toEqual({ prices: [eth] })
  })

  test('reads prices below zero and exponents above it as they are', async () => {
    const odd = { ...eth, price: -5n, expo: 3 }
    expect(verify(await make([odd]))).toEqual({ prices: [odd] })
  })

  test('may carry fields that later versions of its messages have: they are signed too', async () => {
    expect(verify(await make([eth], { messageTail: Uint8Array.of(1, 2, 3) }))).toEqual({ prices: [eth] })
  })

  test('of one guardian set of several is checked against its own', async () => {
    const update = await priceUpdate([eth], { guardians: { ...others, index: 5 } })
    const two = [...sets, { index: 5, addresses: others.addresses }]
    expect(verify(update, two)).toEqual({ prices: [eth] })
    const under4 = await priceUpdate([eth], { guardians: { ...others, index: 4 } })
    expect(verify(under4, two)).toEqual({ fault: 'not_signed' })
  })
})

test('a message of another kind, such as an average, is no price', async () => {
  expect(verify(await make([eth], { messageKind: 1 }))).toEqual({ prices: [] })
})

test.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [5, 3],
  [6, 4],
  [19, 10],
])('F-30: of %i guardians, %i are enough and one fewer is not', async (count, enough) => {
  const set = testGuardians(count)
  const signed = (signatures: number) =>
    priceUpdate([eth], { guardians: set, signers: [...Array(signatures).keys()] })
  expect(verify(await signed(enough), [set])).toEqual({ prices: [eth] })
  expect(verify(await signed(enough - 1), [set])).toEqual({ fault: 'not_signed' })
})

describe('F-31: an update that was recorded, by the guardian sets of a shipped file', () => {
  const { wormhole, pythSet0, pythSet1 } = recordedUpdates
  const shippedSets = (environment: string) =>
    quoteFileSchema
      .pick({ guardianSets: true })
      .parse(
        JSON.parse(
          readFileSync(`${import.meta.dirname}/../../../../../configs/quote.${environment}.json`, 'utf8'),
        ),
      ).guardianSets

  test.each(['mainnets.prod', 'testnets.prod'])(
    '%s: counts if Pyth’s set of today signed it',
    (environment) => {
      const answer = verify(hexToBytes(pythSet1.update), shippedSets(environment))
      expect(answer).toEqual({ prices: pythSet1.prices })
    },
  )

  test.each(['mainnets.prod', 'testnets.prod'])(
    '%s: counts for nothing if an older set did',
    (environment) => {
      for (const { update } of [wormhole, pythSet0]) {
        expect(verify(hexToBytes(update), shippedSets(environment))).toEqual({
          fault: 'unknown_guardian_set',
        })
      }
    },
  )

  test('counts for nothing with the signatures of an older set under the number of today’s', () => {
    // The first three of Pyth's guardians are in both of its sets; the fifth of set 0 is not in set 1.
    const renumbered = replaced(hexToBytes(pythSet0.update), 14, 1)
    expect(verify(renumbered, shippedSets('mainnets.prod'))).toEqual({ fault: 'not_signed' })
  })

  test('counts for nothing from the emitter of Wormhole’s time, even where its guardians are still listed', () => {
    const update = hexToBytes(wormhole.update)
    expect(verify(update, [wormhole.guardians])).toEqual({ fault: 'wrong_emitter' })
  })
})

describe('F-30: an update counts for nothing', () => {
  test.each<[string, string, Partial<UpdateOptions>]>([
    ['with nobody’s signature', 'not_signed', { signers: [] }],
    ['with two signatures', 'not_signed', { signers: [0, 1] }],
    ['with one guardian twice', 'not_signed', { signers: [0, 1, 1] }],
    ['with three signatures of one guardian', 'not_signed', { signers: [3, 3, 3] }],
    ['with signatures out of order', 'not_signed', { signers: [2, 1, 0] }],
    ['signed by strangers', 'not_signed', { guardians: others }],
    ['with a guardian that the set does not have', 'not_signed', { signers: [0, 1, 5] }],
    ['with one stranger beside enough guardians', 'not_signed', { signers: [0, 1, 2, 9] }],
    ['of a guardian set that is not configured', 'unknown_guardian_set', { setIndex: 3 }],
    [
      'of strangers who say they are a later set',
      'unknown_guardian_set',
      { guardians: { ...others, index: 5 } },
    ],
    ['from another emitter', 'wrong_emitter', { emitter: `0x${'11'.repeat(32)}` }],
    [
      'from who upgrades guardian sets',
      'wrong_emitter',
      { emitterChain: 1, emitter: `0x${'4'.padStart(64, '0')}` },
    ],
    ['from the emitter’s address on another chain', 'wrong_emitter', { emitterChain: 1 }],
    ['with another root', 'wrong_proof', { root: new Uint8Array(20) }],
    ['of another version', 'malformed_update', { version: 2 }],
    ['of something else that guardians sign', 'malformed_update', { payloadKind: 'P2WH' }],
  ])('%s: %s', async (_name, fault, options) => {
    expect(verify(await make([eth, btc], options))).toEqual({ fault })
  })

  test.each<[string, (signature: Uint8Array) => Uint8Array]>([
    ['another recovery id', (signature) => replaced(signature, 64, 1 - (signature[64] ?? 0))],
    ['a recovery id that there is not', (signature) => replaced(signature, 64, 4)],
    ['one bit changed', (signature) => replaced(signature, 3, (signature[3] ?? 0) ^ 1)],
    ['nothing but zeros', () => new Uint8Array(65)],
  ])('with a signature that has %s', async (_name, change) => {
    const signature = (bytes: Uint8Array, position: number) => (position === 2 ? change(bytes) : bytes)
    expect(verify(await make([eth], { signature }))).toEqual({ fault: 'not_signed' })
  })

  test('with a signature that nobody can have made, in the name of a guardian whom the set does not have', async () => {
    const signature = (bytes: Uint8Array, position: number) => (position === 2 ? new Uint8Array(65) : bytes)
    expect(verify(await make([eth], { signers: [0, 1, 5], signature }))).toEqual({ fault: 'not_signed' })
  })

  test('when a price was changed behind its proof', async () => {
    const forged = await make([eth, btc], {
      swap: (message, index) => (index === 0 ? replaced(message, 40, 9) : message),
    })
    expect(verify(forged)).toEqual({ fault: 'wrong_proof' })
  })

  test('when the message of another feed was swapped in', async () => {
    let first: Uint8Array | undefined
    const swapped = await make([eth, btc], {
      swap: (message) => {
        first ??= message
        return first
      },
    })
    expect(verify(swapped)).toEqual({ fault: 'wrong_proof' })
  })

  test('when an inner node of the tree is sent as a message', async () => {
    // A message whose bytes are two hashes would be a leaf with the hash of their node, without the prefixes.
    const children = [shortHash([Uint8Array.of(5)]), shortHash([Uint8Array.of(6)])] as const
    const root = nodeHash(...children)
    const inner = await make([eth], { root, swap: () => concatBytes([...children].sort(Buffer.compare)) })
    expect(verify(inner)).toEqual({ fault: 'wrong_proof' })
  })

  test('when it is cut at any byte, or goes on behind its end', async () => {
    const whole = await make([eth, btc])
    for (let length = 0; length < whole.length; length += 1) {
      expect(verify(whole.subarray(0, length))).toEqual({ fault: 'malformed_update' })
    }
    expect(verify(concatBytes([whole, Uint8Array.of(0)]))).toEqual({ fault: 'malformed_update' })
  })

  test.each([
    ['another format', 0],
    ['another major version', 4],
    ['another kind of proof', 7],
  ])('that says it is of %s', async (_name, at) => {
    const whole = await make([eth])
    expect(verify(replaced(whole, at, (whole[at] ?? 0) ^ 0x01))).toEqual({ fault: 'malformed_update' })
  })

  test('when any one byte of it is changed, but for what nobody reads', async () => {
    const whole = await make([eth])
    const unread: number[] = []
    for (let at = 0; at < whole.length; at += 1) {
      const answer = verify(replaced(whole, at, (whole[at] ?? 0) ^ 0x01))
      if ('prices' in answer) unread.push(at)
    }
    // The minor version of the envelope: later ones are to be read like this one.
    expect(unread).toEqual([5])
  })
})

test('what stops the recovery of keys is no fault of the update', async () => {
  const update = await make([eth])
  const recover = () => {
    throw new Error('no key can be recovered now')
  }
  expect(() => verifyPriceUpdate(update, { guardianSets: sets, recover })).toThrow('no key can be recovered')
})

function replaced(bytes: Uint8Array, at: number, byte: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[at] = byte
  return copy
}
