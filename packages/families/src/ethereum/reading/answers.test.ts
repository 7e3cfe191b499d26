import { MalformedAnswerError } from '@causeway/rpc'
import { expect, test } from 'vitest'
import { parseReceipt } from './answers.ts'

const id = `0x${'11'.repeat(32)}`
const blockHash = `0x${'22'.repeat(32)}`
const place = { transactionHash: id, blockHash, blockNumber: '0x5' }
const log = { ...place, address: `0x${'a0'.repeat(20)}`, topics: [], data: '0x', logIndex: '0x2' }
const read = (receipt: object) => parseReceipt({ ok: true, result: { ...place, logs: [], ...receipt } }, id)

test('F-3: a receipt of the time before EIP-658 does not say whether the transaction succeeded', () => {
  expect(read({ root: `0x${'33'.repeat(32)}` })).toBe('unreadable')
  expect(read({ root: `0x${'33'.repeat(32)}`, status: '0x1' })).toMatchObject({ succeeded: true })
  expect(() => read({})).toThrow(MalformedAnswerError)
  expect(() => read({ root: null })).toThrow(MalformedAnswerError)
})

test('F-3: a receipt of the bridge of Polygon names another place in the block than its logs', () => {
  const receipt = read({
    status: '0x1',
    transactionIndex: '0x0',
    logs: [{ ...log, transactionIndex: '0x6d' }],
  })
  expect(receipt).toMatchObject({ logs: [{ logIndex: 2n }] })
  const elsewhere = { ...log, blockHash: `0x${'44'.repeat(32)}` }
  expect(() => read({ status: '0x1', logs: [elsewhere] })).toThrow(MalformedAnswerError)
})
