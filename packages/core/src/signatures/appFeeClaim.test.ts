// Wallets show exactly the data that they sign, and every member of it changes the digest.
import { hashTypedData } from 'viem'
import { describe, expect, test } from 'vitest'
import { bytesToHex } from '../hashing/hexBytes.ts'
import { type AppFeeClaimTerms, appFeeClaimDigest, appFeeClaimTypedData } from './appFeeClaim.ts'

const terms: AppFeeClaimTerms = {
  service: 'https://api.example',
  chainId: 8_453,
  wallet: `0x${'11'.repeat(20)}`,
  recipient: `0x${'22'.repeat(20)}`,
  currency: `0x${'33'.repeat(20)}`,
  amount: 3_000_000n,
  pays: '3.0 USDC',
  nonce: `0x${'44'.repeat(32)}`,
}

/** Terms of a chain whose accounts are not 20 bytes. */
const textTerms: AppFeeClaimTerms = {
  ...terms,
  chainId: 792_703_809,
  recipient: '4Nd1mYQtzuA7ndnHqPpsqFxMuvD8XRkTWKoTV4bDyZ1u',
  currency: '1'.repeat(32),
}

test.each([
  ['20 bytes', terms],
  ['text', textTerms],
])(
  'L-78, F-148: the digest of a claim in %s is that of its typed data, as another library hashes it',
  (_form, signed) => {
    const { domain, types, primaryType, value: message } = appFeeClaimTypedData(signed)
    // CAST: viem derives the type of a message from types that are known when it is compiled.
    const typedData = { domain, types, primaryType, message } as Parameters<typeof hashTypedData>[0]
    expect(bytesToHex(appFeeClaimDigest(signed))).toBe(hashTypedData(typedData))
  },
)

describe('another', () => {
  test.each<[keyof AppFeeClaimTerms, Partial<AppFeeClaimTerms>]>([
    ['service', { service: 'https://api.example.evil' }],
    ['chainId', { chainId: 10 }],
    ['wallet', { wallet: `0x${'12'.repeat(20)}` }],
    ['recipient', { recipient: `0x${'23'.repeat(20)}` }],
    ['currency', { currency: `0x${'34'.repeat(20)}` }],
    ['amount', { amount: 3_000_001n }],
    ['pays', { pays: '4.0 USDC' }],
    ['nonce', { nonce: `0x${'45'.repeat(32)}` }],
  ])('%s is another claim', (_member, change) => {
    expect(appFeeClaimDigest({ ...terms, ...change })).not.toEqual(appFeeClaimDigest(terms))
  })

  test.each<[keyof AppFeeClaimTerms, Partial<AppFeeClaimTerms>]>([
    ['chainId', { chainId: 10 }],
    ['recipient', { recipient: textTerms.recipient.toLowerCase() }],
    ['currency', { currency: textTerms.recipient }],
    ['pays', { pays: '4.0 USDC' }],
    ['wallet', { wallet: `0x${'12'.repeat(20)}` }],
  ])('%s in text is another claim', (_member, change) => {
    expect(appFeeClaimDigest({ ...textTerms, ...change })).not.toEqual(appFeeClaimDigest(textTerms))
  })
})
