// Goal: a price of Pyth counts only when enough guardians of a known set signed it, for its feed and its time.
// Method: guardians are generated here and sign in the real format; each attack changes one thing of an update
// that counts. Who gains: the service behind HERMES_URL, or whoever answers in its place.
import { concatBytes, type Hex } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { describe, expect, test } from 'vitest'
import {
  nodeHash,
  type PriceMessage,
  priceUpdate,
  quorumOf,
  shortHash,
  testGuardians,
  type UpdateOptions,
} from '../../../test/support/signedPrices.ts'
import { verifyPriceUpdate } from './priceUpdate.ts'

const guardians = testGuardians(7)
const others = testGuardians(7)
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

describe('an update that enough guardians signed', () => {
  test.each([1, 2, 3, 5])('gives each of its messages, proven against one root: %i', async (count) => {
    const messages = five.slice(0, count)
    expect(verify(await make(messages))).toEqual({ prices: messages })
  })

  test('may be signed by any of them, and by more than enough', async () => {
    expect(verify(await make([eth], { signers: [1, 2, 4, 5, 6] }))).toEqual({ prices: [eth] })
    expect(verify(await make([eth], { signers: [0, 1, 2, 3, 4, 5, 6] }))).toEqual({ prices: [eth] })
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
  })
})

test('a message of another kind, such as an average, is no price', async () => {
  expect(verify(await make([eth], { messageKind: 1 }))).toEqual({ prices: [] })
})

describe('an update counts for nothing', () => {
  const shortOfOne = [...Array(quorumOf(7) - 1).keys()]
  test.each<[string, string, Partial<UpdateOptions>]>([
    ['with nobody’s signature', 'not_signed', { signers: [] }],
    ['with one signature too few', 'not_signed', { signers: shortOfOne }],
    ['with one guardian twice', 'not_signed', { signers: [...shortOfOne, shortOfOne.length - 1] }],
    ['with one guardian five times', 'not_signed', { signers: [3, 3, 3, 3, 3] }],
    ['with signatures out of order', 'not_signed', { signers: [4, 3, 2, 1, 0] }],
    ['signed by strangers', 'not_signed', { guardians: others }],
    ['with a guardian that the set does not have', 'not_signed', { signers: [0, 1, 2, 3, 7] }],
    ['with one stranger among enough guardians', 'not_signed', { signers: [0, 1, 2, 3, 4, 9] }],
    ['of a guardian set that is not configured', 'unknown_guardian_set', { setIndex: 3 }],
    [
      'of strangers who say they are a later set',
      'unknown_guardian_set',
      { guardians: { ...others, index: 5 } },
    ],
    ['from another emitter', 'wrong_emitter', { emitter: `0x${'11'.repeat(32)}` }],
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
      expect(verify(whole.subarray(0, length))).toHaveProperty('fault')
    }
    expect(verify(concatBytes([whole, Uint8Array.of(0)]))).toEqual({ fault: 'malformed_update' })
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

function replaced(bytes: Uint8Array, at: number, byte: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  copy[at] = byte
  return copy
}
