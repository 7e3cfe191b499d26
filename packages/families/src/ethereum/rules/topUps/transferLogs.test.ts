import { describe, expect, test } from 'vitest'
import { amount, custody, sender, token, word } from './testSupport/calls.ts'
import { type ReceiptLog, topUpLogs, topUpTopics, transferTopic } from './transferLogs.ts'

const transfer: ReceiptLog = {
  address: token,
  topics: [transferTopic, `0x${word(sender)}`, `0x${word(custody)}`],
  data: `0x${word(amount)}`,
  logIndex: 9,
}

describe('the logs of a receipt', () => {
  test('give transfers of the token to custody with their place', () => {
    const other: ReceiptLog = { ...transfer, address: sender, logIndex: 8 }
    expect(topUpLogs([other, transfer], { token, custody })).toEqual([
      { ordinal: 1, logIndex: 9, from: sender, value: amount },
    ])
  })

  const [event, from, to] = [transferTopic, `0x${word(sender)}`, `0x${word(custody)}`] as const
  test.each<[string, Partial<ReceiptLog>]>([
    ['another contract', { address: custody }],
    ['another event', { topics: [`0x${'11'.repeat(32)}`, from, to] }],
    ['another receiver', { topics: [event, from, from] }],
    ['a fourth topic', { topics: [event, from, to, to] }],
    ['no indexed receiver', { topics: [event, from], data: `0x${word(custody)}${word(amount)}` }],
    ['more data than an amount', { data: `0x${word(amount)}00` }],
    ['no topics', { topics: [] }],
  ])('give nothing for %s', (_what, change) => {
    expect(topUpLogs([{ ...transfer, ...change }], { token, custody })).toEqual([])
  })
})

test('nodes filter by the event and the receiver, whoever sends', () => {
  expect(topUpTopics(custody)).toEqual([transferTopic, null, `0x${word(custody)}`])
})
