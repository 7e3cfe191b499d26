import { InvalidWithdrawRequestError } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  additionalDataOf,
  type PlainWithdrawRequest,
  spellWithdrawRequest,
  uint64Of,
} from './withdrawRequestParts.ts'

const plain = { depository: 'd', currency: 'c', recipient: 'r' }

describe('a withdraw request', () => {
  const echo = (request: PlainWithdrawRequest, network?: string) => ({
    depository: Object.keys(request).join(),
    currency: request.currency,
    recipient: network ?? 'main',
    data: '0x' as const,
  })

  test('is spelled from its own members alone, for its network', () => {
    const more = { ...plain, kind: 'other', chainId: 1 }
    expect(spellWithdrawRequest(echo, more, 'testnet')).toEqual({
      kind: 'withdraw-request',
      depository: 'depository,currency,recipient',
      currency: 'c',
      recipient: 'testnet',
      data: '0x',
    })
  })

  test('keeps its additional data, and has no such member without', () => {
    const additionalData = { 'lighter-vm': { memo: '' } }
    expect(spellWithdrawRequest(echo, { ...plain, additionalData }, undefined).depository).toBe(
      'depository,currency,recipient,additionalData',
    )
  })
})

describe('additional data', () => {
  const schema = z.object({ fee: z.object({ rate: z.number() }) })
  const read = (additionalData?: Readonly<Record<string, unknown>>) =>
    additionalDataOf({ ...plain, ...(additionalData && { additionalData }) }, 'bitcoin-vm', schema)

  test('is what stands under the family', () => {
    const own = { fee: { rate: 1 } }
    expect(read({ 'lighter-vm': {}, 'bitcoin-vm': own })).toEqual(own)
  })

  test.each<[string, Readonly<Record<string, unknown>> | undefined]>([
    ['there is none', undefined],
    ['another family has some', { 'lighter-vm': { fee: { rate: 1 } } }],
    ['the family has nothing', { 'bitcoin-vm': undefined }],
    ['it is only inherited', Object.create({ 'bitcoin-vm': { fee: { rate: 1 } } })],
  ])('is required where %s', (_what, data) => {
    expect(() => read(data)).toThrow('required for bitcoin-vm')
  })

  test.each<[string, unknown, string]>([
    ['names the member', { fee: { rate: 'x' } }, 'fee.rate'],
    ['is malformed as a whole', 'x', ''],
  ])('that %s is refused by its place', (_what, data, field) => {
    expect(refusalOf(() => read({ 'bitcoin-vm': data }))?.message).toContain('bitcoin-vm is malformed')
    expect(refusalOf(() => read({ 'bitcoin-vm': data }))?.data).toMatchObject({ field })
  })
})

test('a uint64 has 64 bits, and the field that has more is named', () => {
  expect([uint64Of(7, 'nonce'), uint64Of('18446744073709551615', 'nonce')]).toEqual([7n, 2n ** 64n - 1n])
  const refusal = refusalOf(() => uint64Of('18446744073709551616', 'nonce'))
  expect(refusal?.message).toContain('no uint64')
  expect(refusal?.data).toMatchObject({ field: 'nonce' })
})

function refusalOf(use: () => unknown): InvalidWithdrawRequestError | undefined {
  try {
    use()
    return undefined
  } catch (error) {
    if (error instanceof InvalidWithdrawRequestError) return error
    throw error
  }
}
