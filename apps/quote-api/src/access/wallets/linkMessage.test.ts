import { hashMessage, hexToBytes } from 'viem'
import { createSiweMessage } from 'viem/siwe'
import { expect, test } from 'vitest'
import { personalMessageDigest, writeLinkMessage } from './linkMessage.ts'

const message = {
  domain: 'api.causeway.example',
  uri: 'https://api.causeway.example',
  wallet: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
  chainId: 8_453,
  nonce: '0123456789abcdef0123456789abcdef',
  apiKeyId: 'abcdefghij',
  issuedAt: new Date('2026-11-21T08:00:00.123Z'),
  expiresAt: new Date('2026-11-21T08:10:00.123Z'),
} as const

test('is the text that another EIP-4361 library writes for the same facts', () => {
  expect(writeLinkMessage(message)).toBe(
    createSiweMessage({
      address: '0x2E988a386a799F506693793c6A5AF6B54dfAaBfB',
      chainId: 8_453,
      domain: 'api.causeway.example',
      nonce: message.nonce,
      uri: message.uri,
      version: '1',
      statement: 'Link this wallet as fee sponsor for API key abcdefghij.',
      issuedAt: message.issuedAt,
      expirationTime: message.expiresAt,
      requestId: 'abcdefghij',
      resources: ['urn:causeway:key:abcdefghij'],
    }),
  )
})

test.each(['', 'plain', 'ünïcode \u{1f600}', 'x'.repeat(10_000)])(
  'the digest of %s is what a wallet signs',
  (text) => {
    expect(personalMessageDigest(text)).toEqual(hexToBytes(hashMessage(text)))
  },
)
