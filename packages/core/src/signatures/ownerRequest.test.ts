// Vector of what owners of balances sign, and what must not share a signature.
import { recoverMessageAddress } from 'viem'
import { sign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { orderBSolverKey } from '../../test/vectors/orders.ts'
import { bytesToHex } from '../hashing/hexBytes.ts'
import { type OwnerRequest, ownerRequestDigest, ownerRequestHash } from './ownerRequest.ts'

const request: OwnerRequest = {
  chainId: 'solana',
  currency: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  amount: '1000000',
  ownerChainId: 'ethereum',
  owner: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
  recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
  nonce: '42',
}
const requestHash = '0x4858b62795cca74847e9e151a657ee55940a6fa1a4dc9a3ca6617917970ce4a6'
const signature =
  '0x2af8200be8b2f382514a1e899f07826decefd412b12800eac32db6c31ffa712c5c9e38ae962082d04d3a71e22e6e4eefd12c6eea4d38fde24065143d8dfb31061b'

test('the hash of an owner request and the signature over its digest are the published ones', async () => {
  expect(bytesToHex(ownerRequestHash(request))).toBe(requestHash)
  const digest = bytesToHex(ownerRequestDigest(request))
  expect(await sign({ hash: digest, privateKey: orderBSolverKey, to: 'hex' })).toBe(signature)
  const signer = await recoverMessageAddress({ message: { raw: requestHash }, signature })
  expect(signer.toLowerCase()).toBe(request.owner)
})

describe('another owner request has another hash', () => {
  test.each<[string, Partial<OwnerRequest>]>([
    ['chain', { chainId: 'eclipse' }],
    ['currency', { currency: '11111111111111111111111111111111' }],
    ['amount', { amount: '1000001' }],
    ['owner chain', { ownerChainId: 'base' }],
    ['owner', { owner: '0x1111111111111111111111111111111111111111' }],
    ['recipient', { recipient: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2' }],
    ['nonce', { nonce: '43' }],
    ['empty additional data', { additionalData: {} }],
    ['additional data', { additionalData: { 'bitcoin-vm': { feeRate: 2 } } }],
  ])('with another %s', (_what, change) => {
    expect(bytesToHex(ownerRequestHash({ ...request, ...change }))).not.toBe(requestHash)
  })
})

test('undefined additional data and the order of its keys change nothing', () => {
  expect(bytesToHex(ownerRequestHash({ ...request, additionalData: undefined }))).toBe(requestHash)
  const one = {
    ...request,
    additionalData: { 'lighter-vm': { nonce: 1, memo: 'ab' }, other: [1, { b: 2, a: 1 }] },
  }
  const two = {
    ...request,
    additionalData: { other: [1, { a: 1, b: 2 }], 'lighter-vm': { memo: 'ab', nonce: 1 } },
  }
  expect(ownerRequestHash(one)).toEqual(ownerRequestHash(two))
  const swapped = { ...request, additionalData: { ...one.additionalData, other: [{ b: 2, a: 1 }, 1] } }
  expect(ownerRequestHash(one)).not.toEqual(ownerRequestHash(swapped))
})

test('members that are not signed do not enter', () => {
  // CAST: what a careless caller could hand in.
  const more = { ...request, depository: '0x11', requestPeerSignatures: true } as OwnerRequest
  expect(bytesToHex(ownerRequestHash(more))).toBe(requestHash)
})
