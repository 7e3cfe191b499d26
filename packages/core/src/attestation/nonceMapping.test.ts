// Goal: what a wallet signs for a nonce, and what the hub keeps of it, are the public protocol's bytes. Who gains by breaking
// it: nobody; a deposit would name no order. Method: the published vectors, and viem as the judge of the typed data.
import { hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import { mainNetwork } from '../encodings/codecs.ts'
import { bytesToHex } from '../hashing/hexBytes.ts'
import { nonceMappingDigest, nonceMappingTypedData } from '../signatures/nonceMapping.ts'
import { nonceMappingEntry, nonceMappingId } from './nonceMapping.ts'

const order = '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4' as const
const oracle = '0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a' as const
const mapping = {
  walletChainId: 'hyperliquid',
  wallet: oracle,
  nonce: 1_761_563_890_702n,
  id: order,
  depositor: `0x${'22'.repeat(20)}`,
} as const

test('the digest and the nonce of the entry are the published ones', () => {
  expect(bytesToHex(nonceMappingDigest(mapping, 8453))).toBe(
    '0xa8dabf55ca9d951a166b166f01fca637b5f522e794a743389aede3649d99fa8f',
  )
  const entry = nonceMappingEntry(mapping, mainNetwork('hyperliquid-vm'))
  expect(entry.nonce).toBe('0x53f6c4e6be01df994f4116823da7e3d79216e0ea94db7414284a7a98c8290bd7')
  expect(entry.id).toBe('0x44ec8783eee06c285b5fb4d7d8f3c2e92e60213d81f4be35610a86532b71d222')
  expect(entry.data).toBe(`${order}${'22'.repeat(20)}`)
  expect(nonceMappingId(1_761_563_890_702n)).toBe(entry.id)
})

test('the digest is that of the typed data which a wallet shows, and of the step of the public client', () => {
  const own = { ...mapping, depositor: oracle } as const
  const { walletChainId: chainId, wallet, depositor, id, nonce } = own
  const typed = nonceMappingTypedData(1)
  const message = { chainId, wallet, depositor, id, nonce }
  expect(bytesToHex(nonceMappingDigest(own, 1))).toBe(hashTypedData({ ...typed, message }))
  expect(bytesToHex(nonceMappingDigest(own, 1))).toBe(
    '0x2ec2b0492d83f6ff51920ed7151f21cd90d353c6e0ddec805582548d5acb8a2b',
  )
})

test('every member changes the digest and the entry', () => {
  const network = mainNetwork('hyperliquid-vm')
  const entries = [
    mapping,
    { ...mapping, wallet: `0x${'11'.repeat(20)}` as const },
    { ...mapping, nonce: 5n },
    { ...mapping, id: `0x${'33'.repeat(32)}` as const },
    { ...mapping, depositor: `0x${'44'.repeat(20)}` as const },
  ].map((one) => [bytesToHex(nonceMappingDigest(one, 1)), JSON.stringify(nonceMappingEntry(one, network))])
  expect(new Set(entries.map(([digest]) => digest)).size).toBe(5)
  expect(new Set(entries.map(([, entry]) => entry)).size).toBe(5)
  expect(bytesToHex(nonceMappingDigest(mapping, 10))).not.toBe(bytesToHex(nonceMappingDigest(mapping, 1)))
})
