import { type Hex, hexToBytes } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import { expect, test } from 'vitest'
import { orderBId, orderBSignature } from '../../core/test/vectors/orders.ts'
import { recoverSigner } from './recoverSigner.ts'

const digest = signingDigest({ purpose: 'order', orderId: orderBId })
const solver = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const r = orderBSignature.slice(2, 66)
const s = orderBSignature.slice(66, 130)
const word = (value: bigint) => value.toString(16).padStart(64, '0')

test('finds the signer whatever the case of the digits', () => {
  expect(recoverSigner(digest, orderBSignature)).toBe(solver)
  expect(recoverSigner(digest, `0x${orderBSignature.slice(2).toUpperCase()}`)).toBe(solver)
})

test('another digest gives another signer', () => {
  const other = signingDigest({ purpose: 'order', orderId: `0x${'11'.repeat(32)}` })
  expect(recoverSigner(other, orderBSignature)).not.toBe(solver)
})

test.each<[string, string]>([
  ['the mirror image with high s', `0x${r}${word(order - BigInt(`0x${s}`))}1c`],
  ['v 0', `0x${r}${s}00`],
  ['v 1', `0x${r}${s}01`],
  ['v 29', `0x${r}${s}1d`],
  ['v 255', `0x${r}${s}ff`],
  ['compact form', `0x${r}${s}`],
  ['a trailing byte', `${orderBSignature}00`],
  ['no prefix', orderBSignature.slice(2)],
  ['r of zero', `0x${word(0n)}${s}1b`],
  ['s of zero', `0x${r}${word(0n)}1b`],
  ['r beyond the order', `0x${word(order)}${s}1b`],
  ['an r of no point', `0x${word(5n)}${s}1b`],
  ['nothing', '0x'],
  ['not hex', `0x${'g'.repeat(130)}`],
])('P-93: %s is no signature', (_name, signature) => {
  expect(recoverSigner(digest, signature)).toBeUndefined()
})

test('a digest of another length is a bug of the caller', () => {
  const short = hexToBytes(`0x${'11'.repeat(31)}`)
  expect(() => recoverSigner(short, orderBSignature satisfies Hex)).toThrow(RangeError)
})

test('P-93: the largest low s is one, and no signature stands for a point beyond the order', () => {
  expect(recoverSigner(digest, `0x${r}${word(order / 2n)}1b`)).toBeDefined()
  expect(recoverSigner(digest, `0x${r}${word(order / 2n + 1n)}1b`)).toBeUndefined()
  // Every second one of these has a key by the curve alone.
  for (let small = 1n; small <= 20n; small += 1n)
    for (const v of ['1d', '1e']) expect(recoverSigner(digest, `0x${word(small)}${s}${v}`)).toBeUndefined()
})
