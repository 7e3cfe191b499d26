import { hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import { bytesToHex } from '../hashing/hexBytes.ts'
import { noFillOrRefundDigest } from '../signatures/noFillOrRefund.ts'
import { noFillOrRefundEntry, noFillOrRefundEntryKey } from './noFillOrRefund.ts'

const promise = {
  solverChainId: 'base',
  solver: '0x2e988a386a799f506693793c6a5af6b54dfaabfb',
  orderId: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4',
} as const
const entry = {
  user: '0x37af10adbc4864042698b5735132a3c8c2b146bf',
  id: '0xdd0970e29b4680229a8d3ba6d9d937f78751b498f4bc20358a8b4087672164c0',
  data: '0x01',
  nonce: '0xe4dddd8882c133ceb8ddb4fb6c5beb6e908560407a5daa7557cb31d6e14754f6',
}

test('a promise has the published entry, however its ids are spelled', () => {
  const upper = {
    ...promise,
    solver: `0x${promise.solver.slice(2).toUpperCase()}`,
    orderId: `0x${promise.orderId.slice(2).toUpperCase()}`,
  } as const
  for (const one of [promise, upper]) expect(noFillOrRefundEntry(one)).toEqual(entry)
  expect(noFillOrRefundEntryKey(promise)).toEqual({ user: entry.user, id: entry.id })
})

test('a promise is signed as viem signs its types', () => {
  const { solverChainId: chainId, ...message } = promise
  const digest = hashTypedData({
    domain: {
      name: 'RelayNoFillOrRefund',
      version: '1',
      chainId: 8453,
      verifyingContract: `0x${'0'.repeat(40)}`,
    },
    types: {
      NoFillOrRefund: [
        { name: 'chainId', type: 'string' },
        { name: 'solver', type: 'address' },
        { name: 'orderId', type: 'bytes32' },
      ],
    },
    primaryType: 'NoFillOrRefund',
    message: { ...message, chainId },
  })
  expect(bytesToHex(noFillOrRefundDigest(promise, 8453))).toBe(digest)
})
