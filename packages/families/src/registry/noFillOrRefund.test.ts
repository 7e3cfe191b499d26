// Vectors of the promise of order B's solver, signed on `base`.

import type { Hex } from '@causeway/core'
import { bytesToHex, noFillOrRefundDigest, noFillOrRefundEntry, recoveryKey } from '@causeway/core'
import { expect, test } from 'vitest'
import { hubDomain } from '../../../core/test/vectors/messages.ts'
import { orderB, orderBId, repeated } from '../../../core/test/vectors/orders.ts'
import { signingDigest } from './digests.ts'

// CAST: the published order names its solver in hex.
const promise = { solverChainId: 'base', solver: orderB.solver as Hex, orderId: orderBId }
const upper: Hex = `0x${orderBId.slice(2).toUpperCase()}`

test('the promise, its entry and what oracles sign for it are the published ones', () => {
  expect(bytesToHex(noFillOrRefundDigest(promise, 8453))).toBe(
    '0x4f42986b7eecb679e8a8138e0b48c8c55590f86056180e7c18cb1614fa417fa8',
  )
  const entry = noFillOrRefundEntry(promise)
  expect(entry).toMatchObject({
    user: '0x37af10adbc4864042698b5735132a3c8c2b146bf',
    id: '0xdd0970e29b4680229a8d3ba6d9d937f78751b498f4bc20358a8b4087672164c0',
    data: '0x01',
  })
  const domain = { chainId: hubDomain.chainId, verifyingContract: repeated('bb', 20) }
  expect(bytesToHex(signingDigest({ purpose: 'mapping-entry', domain, entry }))).toBe(
    '0xfb5c02ed893c6476ebc649f1be556238172dad2128217ceca1296c31173d9413',
  )
})

test('P-126: an order id in upper case has no entry of its own', () => {
  expect(noFillOrRefundEntry({ ...promise, orderId: upper })).toEqual(noFillOrRefundEntry(promise))
  expect(noFillOrRefundDigest({ ...promise, orderId: upper }, 8453)).toEqual(
    noFillOrRefundDigest(promise, 8453),
  )
})

test.each([
  ['another chain by name', { solverChainId: 'optimism' }, 8453],
  ['another chain by number', {}, 10],
  ['another solver', { solver: repeated('11', 20) }, 8453],
  ['another order', { orderId: repeated('22', 32) }, 8453],
])('a promise for %s is signed over other bytes', (_what, change, hubChainId) => {
  const other = noFillOrRefundDigest({ ...promise, ...change }, hubChainId)
  expect(other).not.toEqual(noFillOrRefundDigest(promise, 8453))
})

test('a signed entry counts at one mapping of one hub', () => {
  const entry = noFillOrRefundEntry(promise)
  const digestAt = (chainId: number, verifyingContract: Hex) =>
    bytesToHex(signingDigest({ purpose: 'mapping-entry', domain: { chainId, verifyingContract }, entry }))
  const digests = [
    digestAt(hubDomain.chainId, repeated('bb', 20)),
    digestAt(hubDomain.chainId, repeated('bc', 20)),
    digestAt(hubDomain.chainId + 1, repeated('bb', 20)),
  ]
  expect(new Set(digests).size).toBe(3)
})

test('the key of a recovery is the published one, in either case', () => {
  const id: Hex = '0xd16f7f4f46f9cf8c7e42b371e81a4867d79e7a3572db9949b95a50babcf3137c'
  const key = '0x1fc799e73956f4cdd10f83ad6b7b1babf9a40adab02f412f1f6da60a05d96e10'
  expect(recoveryKey(id)).toBe(key)
  expect(recoveryKey(`0x${id.slice(2).toUpperCase()}`)).toBe(key)
})
