// Vectors of ids and keys, rules P-118 and P-127.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { orderBId, orderCId, repeated } from '../../test/vectors/orders.ts'
import { codecOf, mainNetwork } from '../encodings/codecs.ts'
import type { Hex } from '../hex.ts'
import {
  depositsExecutionKey,
  deterministicId,
  onchainId,
  recoveryKey,
  settlementExecutionKey,
  withdrawalExecutedKey,
  withdrawalExpiredKey,
  withdrawalInitiationKey,
  withdrawalKey,
} from './deterministicIds.ts'

const ethereumOnchainId: Hex = '0xd16f7f4f46f9cf8c7e42b371e81a4867d79e7a3572db9949b95a50babcf3137c'
const bitcoinOnchainId: Hex = '0x6f2435b849ec6842325adef492693ce4e823d58c25fcfd0a01ed4e7457a5163e'

test.each<[string, string, string, string]>([
  ['ethereum', repeated('aa', 32), '7', ethereumOnchainId],
  [
    'solana',
    '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
    '0',
    '0xcf86ce070a961e9da97d7cbac61fb83c2ccc58f75aad959d94f170d975b2a39a',
  ],
  [
    'hyperliquid',
    repeated('aa', 32),
    '0',
    '0x0bd0108665a935536dc9231a1a35d5ede81ada16dfe9f68d2f6cf4bb94110099',
  ],
  ['lighter', 'ab'.repeat(40), '0', '0xde8a93812c84916bd397b7fc6070a6d6d847fc5499140f4c4912ea4c1692de5f'],
  ['tron', 'aa'.repeat(32), '3', '0xd54cd1db9581a36eef5499e668ac4f0adced295f03a04d6f315a7713efdc48ac'],
  ['bitcoin', '4A5E1E4BAAB89F3A32518A88C31BC87F618F76673E2CC77AB2127B7AFDEDA33B', '1', bitcoinOnchainId],
])('onchainId of %s %s %s is the published one', (chainId, transactionId, onchainIndex, id) => {
  expect(onchainId({ chainId, transactionId, onchainIndex })).toBe(id)
})

test('P-127: a tron id in its 0x form has the onchainId of its bare form once it is canonical', () => {
  const codec = codecOf(mainNetwork('tron-vm'))
  const idOf = (transactionId: string) => onchainId({ chainId: 'tron', transactionId, onchainIndex: '3' })
  expect(idOf(repeated('aa', 32))).toMatch(/^0x2f92fde2/)
  expect(idOf(codec.canonicalTransactionId(repeated('AA', 32)))).toBe(idOf('aa'.repeat(32)))
})

test('P-127: the execution key of deposits is the published one', () => {
  expect(depositsExecutionKey({ chainId: 'ethereum', transactionId: repeated('aa', 32) })).toBe(
    '0x92f8ee69568e8b3d16a91449326ae6ff4b1f1cd5d4993b05dcd562b9b8d1b74d',
  )
})

describe('settlementExecutionKey', () => {
  test('of one deposit is the published one', () => {
    expect(deterministicId(ethereumOnchainId)).toBe(
      '0x131dd4dc4a43f257d602f4d009a98ac4410b28d010c988ef0552e1debff943c7',
    )
    expect(settlementExecutionKey({ onchainIds: [ethereumOnchainId], orderId: orderBId })).toBe(
      '0xa2f3d1e522b0847b01d7e9a614ae5f780247b6f0a4371162eaf4e4fd7c0b1903',
    )
  })

  test.each([[[ethereumOnchainId, bitcoinOnchainId]], [[bitcoinOnchainId, ethereumOnchainId]]])(
    'of two deposits is the published one, in either order',
    (onchainIds) => {
      expect(deterministicId(bitcoinOnchainId, ethereumOnchainId)).toBe(
        '0x73a5d2ec60db29fafef1771d7157ad09209b1fa96f10de54218f4315635ff418',
      )
      expect(settlementExecutionKey({ onchainIds, orderId: orderCId })).toBe(
        '0x6c7607e035b1e450d4edaf8fe1f361e556bd0d6a56fe2ed65d5168b2027f1434',
      )
    },
  )

  test('does not depend on the order of the deposits', () => {
    const id = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 6 }), fc.nat(), (ids, turn) => {
        const at = turn % ids.length
        const turned = [...ids.slice(at), ...ids.slice(0, at)].reverse()
        expect(settlementExecutionKey({ onchainIds: turned, orderId: orderBId })).toBe(
          settlementExecutionKey({ onchainIds: ids, orderId: orderBId }),
        )
      }),
    )
  })
})

describe('withdrawal keys', () => {
  const withdrawalId: Hex = '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc'

  test('of an executed withdrawal', () => {
    expect(withdrawalExecutedKey({ withdrawalId, transactionId: repeated('bb', 32) })).toBe(
      '0x253748c408ba9e829df4f67c140fc1f4328dc2ff7d2035cb7a3d03a00bf28f6a',
    )
    expect(withdrawalExecutedKey({ withdrawalId, transactionId: '' })).toBe(
      '0xe0e0159f345f863d6dac9644581c8a10d83e0bbcc292eba2bf6464e3d0acef65',
    )
  })

  test('of an expired withdrawal', () => {
    expect(withdrawalExpiredKey(withdrawalId)).toBe(
      '0xa09e20440f41acb64e2a67ac9aad84fe7de2ca8b79a5ff4065bd97faa57f4690',
    )
    expect(deterministicId(withdrawalId, repeated('bb', 32), '2')).toBe(
      '0xf0288e82bdc3dc85427397dec1800cace7e86fc47c3d9ed8e62c404d373c2e10',
    )
  })

  test('P-118: of a payload and of a recovery name what they are', () => {
    expect(withdrawalKey({ hubId: 'relay', payloadId: withdrawalId })).toBe(
      deterministicId('relay', 'withdrawal', withdrawalId),
    )
    expect(recoveryKey(withdrawalId)).toBe(deterministicId(withdrawalId, 'recover'))
  })

  test('of a started withdrawal', () => {
    const initiation = {
      hubId: 'relay',
      hubTokenId: 72630457970927688859518598921094794508663362931548696331709346694245435211328n,
      withdrawalAddress: '0x0058aafbf2fb0f044f7879fba7c8a7ef5bc90bfd',
    } as const
    expect(withdrawalInitiationKey(initiation)).toBe(
      '0x66ee6aa9676deeb257c857453a42c76bc8c25b8fa1e2544e50263e3b15c981f6',
    )
  })
})
