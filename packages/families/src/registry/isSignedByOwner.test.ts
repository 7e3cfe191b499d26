// Owners' signatures of every family (rules P-80, P-82, P-83): one owner, one request, and every signature
// that must not pass for it.

import type { Hex } from '@causeway/core'
import {
  bytesToHex,
  canonicalJson,
  hexDigits,
  type OwnerRequest,
  ownerRequestDigest,
  ownerRequestHash,
  personalMessageDigest,
} from '@causeway/core'
import type { VmType } from '@causeway/core/encodings'
import { InvalidAddressError, mainNetwork } from '@causeway/core/encodings'
import { ed25519 } from '@noble/curves/ed25519.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  hexOf,
  owners,
  recoverSigner,
  sha256,
  signBip137,
  signBip322,
  signDigest,
  signEd25519,
  signTaproot,
} from '../../../core/test/vectors/ownerKeys.ts'
import { tronMessageDigest } from '../tron/rules/ownerSignature.ts'
import { isSignedByOwner } from './isSignedByOwner.ts'

const evmOwner = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'

type Owner = {
  readonly vmType: VmType
  readonly owner: string
  readonly sign: (request: OwnerRequest) => Hex
}
const text = (request: OwnerRequest) => hexDigits(ownerRequestHash(request))
const signEvm = (request: OwnerRequest) => signDigest(ownerRequestDigest(request))
const signTron = (request: OwnerRequest) => signDigest(tronMessageDigest(ownerRequestHash(request)))
const families: Readonly<Record<string, Owner>> = {
  'ethereum-vm': { vmType: 'ethereum-vm', owner: evmOwner, sign: signEvm },
  'hyperliquid-vm': { vmType: 'hyperliquid-vm', owner: evmOwner, sign: signEvm },
  'lighter-vm': { vmType: 'lighter-vm', owner: '723071', sign: signEvm },
  'tron-vm': { vmType: 'tron-vm', owner: owners.tron, sign: signTron },
  'solana-vm': { vmType: 'solana-vm', owner: owners.solana, sign: (request) => signEd25519(text(request)) },
  'bitcoin-vm, BIP-137': {
    vmType: 'bitcoin-vm',
    owner: owners.p2pkh,
    sign: (request) => signBip137(text(request), 31),
  },
  'bitcoin-vm, P2WPKH': {
    vmType: 'bitcoin-vm',
    owner: owners.p2wpkh,
    sign: (request) => signBip322(text(request), 'p2wpkh'),
  },
  'bitcoin-vm, P2TR': {
    vmType: 'bitcoin-vm',
    owner: owners.p2tr,
    sign: (request) => signTaproot(text(request)),
  },
}
const requestOf = ({ vmType, owner }: Owner): OwnerRequest => ({
  chainId: 'solana',
  currency: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  amount: '1000000',
  ownerChainId: vmType,
  owner,
  recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
  nonce: '42',
})
const isSigned = (vmType: VmType, request: OwnerRequest, signature: string, key: Hex = evmOwner) =>
  isSignedByOwner({
    request,
    // CAST: what arrives from outside before anything is known about it.
    signature: signature as Hex,
    ownerChain: mainNetwork(vmType),
    recoverSigner,
    readOwnerKey: async () => key,
    isAcceptedByCode: async () => false,
  })

describe.each(Object.entries(families))('an owner on %s', (_name, family) => {
  const { vmType, sign } = family
  const request = requestOf(family)

  test('signs the request', async () => {
    expect(await isSigned(vmType, request, sign(request))).toBe(true)
  })

  test.each<[string, Partial<OwnerRequest>]>([
    ['chain', { chainId: 'eclipse' }],
    ['currency', { currency: '11111111111111111111111111111111' }],
    ['amount', { amount: '1000001' }],
    ['owner chain', { ownerChainId: 'other' }],
    ['recipient', { recipient: '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2' }],
    ['nonce', { nonce: '43' }],
    ['spelling of the nonce', { nonce: '0x2a' }],
    ['empty additional data', { additionalData: {} }],
    ['nested additional data', { additionalData: { 'lighter-vm': { nonce: '1' } } }],
  ])('did not sign another %s', async (_what, change) => {
    expect(await isSigned(vmType, { ...request, ...change }, sign(request))).toBe(false)
  })

  test('signs additional data whatever the order of its keys', async () => {
    const signed = { ...request, additionalData: { one: { a: 1, b: 2 }, two: [1] } }
    const asked = { ...request, additionalData: { two: [1], one: { b: 2, a: 1 } } }
    expect(await isSigned(vmType, asked, sign(signed))).toBe(true)
    expect(await isSigned(vmType, { ...request, additionalData: undefined }, sign(request))).toBe(true)
  })

  test('did not sign what only looks like a signature', async () => {
    const signature = sign(request)
    const bytes = (signature.length - 2) / 2
    const changed = `${signature.slice(0, 40)}${signature[40] === '0' ? '1' : '0'}${signature.slice(41)}`
    for (const other of [
      '0x',
      signature.slice(0, -2),
      `${signature}00`,
      `0x${'00'.repeat(bytes)}`,
      `0x${'ff'.repeat(bytes)}`,
      `0x${'00'.repeat(64)}`,
      `0x${'00'.repeat(65)}`,
      changed,
    ]) {
      expect(await isSigned(vmType, request, other), other).toBe(false)
    }
  })

  test('did not sign what an owner of another family signed', async () => {
    const own = sign(request)
    for (const other of Object.values(families)) {
      const signature = other.sign(request)
      // Families that sign alike are told apart by the owner's chain, which is signed.
      if (other.vmType === vmType || signature === own) continue
      expect(await isSigned(vmType, request, signature), other.vmType).toBe(false)
    }
  })

  test('did not sign another operation over the same members', async () => {
    const other = sha256(Buffer.from(canonicalJson({ ...request, operation: 'transfer' })))
    const same = sha256(Buffer.from(canonicalJson({ ...request, operation: 'withdrawal' })))
    expect(hexDigits(same)).toBe(text(request))
    const signatures = [
      ...[signDigest(personalMessageDigest(other)), signDigest(tronMessageDigest(other))],
      ...[signEd25519(hexDigits(other)), signBip137(hexDigits(other), 31)],
      ...[signBip322(hexDigits(other), 'p2wpkh'), signTaproot(hexDigits(other))],
    ]
    for (const signature of signatures) expect(await isSigned(vmType, request, signature)).toBe(false)
  })
})

describe('tron', () => {
  test('hashes and signs the published request as published', () => {
    const published = {
      ...requestOf({ vmType: 'ethereum-vm', owner: evmOwner, sign: signEvm }),
      ownerChainId: 'ethereum',
    }
    const digest = tronMessageDigest(ownerRequestHash(published))
    expect(bytesToHex(digest)).toBe('0xe8c419e042ffa17939dbad59c1944a52f7571b178052306581b379e554da23e9')
    expect(signDigest(digest)).toBe(
      '0x2a8d5dddd350b016527f65eef6b165b5a21c9cb90e78407c20b90cdd73b2421c5d7dfaea651b544bd68ecf361dd0d79a3f85acb53aa8cc146dd9f52a2b931ed51c',
    )
    expect(owners.tron).toBe('TEDapYSVvAZ3aYH7w8N9tMEEFKaNKUD5Bp')
  })
})

test.each(Object.entries(families))(
  'P-80, P-83: %s asks code only where its accounts have some',
  async (_name, family) => {
    const request = requestOf(family)
    const digests: Uint8Array[] = []
    const signature = `0x${'11'.repeat(400)}` as const
    const check = (signature: Hex) =>
      isSignedByOwner({
        request,
        signature,
        ownerChain: mainNetwork(family.vmType),
        recoverSigner,
        readOwnerKey: async () => evmOwner,
        async isAcceptedByCode(account, digest) {
          expect(account).toBe(request.owner)
          digests.push(digest)
          return true
        },
      })
    expect(await check(family.sign(request))).toBe(true)
    expect(digests).toEqual([])
    const hasCode = family.vmType === 'ethereum-vm'
    expect(await check(signature)).toBe(hasCode)
    expect(digests).toEqual(hasCode ? [ownerRequestDigest(request)] : [])
  },
)

describe('lighter', () => {
  const { 'lighter-vm': family } = families
  if (family === undefined) throw new Error('lighter is missing')
  const request = requestOf(family)

  test('asks for the key of the account, whatever the case of its digits', async () => {
    const upper: Hex = `0x${evmOwner.slice(2).toUpperCase()}`
    expect(await isSigned('lighter-vm', request, family.sign(request), upper)).toBe(true)
    const other: Hex = `0x${'99'.repeat(20)}`
    expect(await isSigned('lighter-vm', request, family.sign(request), other)).toBe(false)
  })

  test('asks for nothing when nobody signed', async () => {
    const check = {
      request,
      signature: '0x' as const,
      ownerChain: mainNetwork('lighter-vm'),
      recoverSigner,
      readOwnerKey: () => Promise.reject(new Error('asked')),
      isAcceptedByCode: async () => true,
    }
    expect(await isSignedByOwner(check)).toBe(false)
    const signed = { ...check, signature: family.sign(request) }
    await expect(isSignedByOwner(signed)).rejects.toThrow('asked')
  })
})

describe('solana', () => {
  test('P-110: lets no key of small order sign, though a lax check would', async () => {
    const owner = '11111111111111111111111111111111'
    const { 'solana-vm': family } = families
    if (family === undefined) throw new Error('solana is missing')
    const request = { ...requestOf(family), owner }
    const point = ed25519.ExtendedPoint.fromHex(new Uint8Array(32))
    const multiples = [1n, 2n, 3n].map((factor) => point.multiplyUnsafe(factor).toRawBytes())
    const forged = [ed25519.ExtendedPoint.ZERO.toRawBytes(), ...multiples].map((r) =>
      Uint8Array.of(...r, ...new Uint8Array(32)),
    )
    const message = Buffer.from(text(request))
    expect(
      forged.some((signature) => ed25519.verify(signature, message, new Uint8Array(32), { zip215: true })),
    ).toBe(true)
    for (const signature of forged) expect(await isSigned('solana-vm', request, hexOf(signature))).toBe(false)
  })
})

test.each<[VmType, string]>([
  ['solana-vm', evmOwner],
  ['solana-vm', owners.tron],
  ['tron-vm', owners.p2pkh],
  ['tron-vm', owners.solana],
  ['bitcoin-vm', owners.tron],
  ['bitcoin-vm', evmOwner],
])('on %s %s is no owner', async (vmType, owner) => {
  const request = { ...requestOf({ vmType, owner, sign: signEvm }) }
  await expect(isSigned(vmType, request, signEvm(request))).rejects.toThrow(InvalidAddressError)
})

test('hostile signatures of every family throw nothing', async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 120 }),
    ...[64, 65, 66].map((length) => fc.uint8Array({ minLength: length, maxLength: length })),
  )
  const cases = fc.tuple(fc.constantFrom(...Object.values(families)), bytes)
  await fc.assert(
    fc.asyncProperty(cases, async ([family, signature]) => {
      expect(await isSigned(family.vmType, requestOf(family), hexOf(signature))).toBe(false)
    }),
    { numRuns: 500, endOnFailure: true },
  )
})
