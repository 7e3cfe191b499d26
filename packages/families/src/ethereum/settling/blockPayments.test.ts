import type { Hex } from '@causeway/core'
import { MalformedAnswerError, type RpcAnswer, toQuantity } from '@causeway/rpc'
import { encodeFunctionData, encodePacked, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { largestTransfers, payersOf, sumPayments } from '../../shared/addressPayments.ts'
import { addressesIn, parseBlockPayments } from './blockPayments.ts'

const address = (digit: string): Hex => `0x${digit.repeat(40)}`
const hash = (digit: string): Hex => `0x${digit.repeat(64)}`
const ok = (result: unknown): RpcAnswer => ({ ok: true, result })

function block(number: bigint, hashDigit: string, parentDigit: string, transactions: readonly object[] = []) {
  return ok({
    number: toQuantity(number),
    hash: hash(hashDigit),
    parentHash: hash(parentDigit),
    timestamp: '0x1',
    transactions,
  })
}

const payment = (to: Hex | null, value: string, from = address('f')) => ({
  hash: hash(value.slice(2)),
  from,
  to,
  value,
  input: '0x',
})
const range = { from: 8n, to: 9n, transfersFrom: 8n }
const watched = { nativeCurrency: address('0'), tokens: new Set([address('1'), address('2')]) }
const log = (recipient: string, amount: string, token: Hex = address('1')) => ({
  address: token,
  blockNumber: '0x8',
  blockHash: hash('8'),
  logIndex: '0x1',
  transactionHash: hash(amount.slice(-1)),
  topics: [hash('d'), hash('e'), `0x${recipient.repeat(40).padStart(64, '0')}`],
  data: `0x${amount.padStart(64, '0')}`,
})
const emptyBlocks = [block(8n, '8', '7'), block(9n, '9', '8')]

test('sums what transactions pay, and leaves out what pays nobody', () => {
  const eight = block(8n, '8', '7', [
    payment(address('a'), '0x5'),
    payment(address('b'), '0x0'),
    payment(null, '0x9'),
  ])
  const nine = block(9n, '9', '8', [payment(address('a'), '0x2', address('c'))])
  const { last, payments, named } = parseBlockPayments([eight, nine], range, watched)
  expect([last?.number, last?.hash]).toEqual([9n, hash('9')])
  expect(sumPayments(payments)).toEqual(new Map([[address('a'), new Map([[address('0'), 7n]])]]))
  expect(payersOf(payments)).toEqual(new Map([[address('a'), new Set([address('f'), address('c')])]]))
  expect(named).toEqual([])
})

test('sums what is received of each token apart, and leaves out what is nothing', () => {
  const logs = [log('a', '5'), log('a', '3'), log('a', '9', address('2')), log('b', '0')]
  const { payments, named } = parseBlockPayments([...emptyBlocks, ok(logs)], range, watched)
  expect(payersOf(payments)).toEqual(new Map([[address('a'), new Set([address('e')])]]))
  expect(sumPayments(payments)).toEqual(
    new Map([
      [
        address('a'),
        new Map([
          [address('1'), 8n],
          [address('2'), 9n],
        ]),
      ],
    ]),
  )
  expect(named).toEqual([])
})

test('Q-107: the largest transfer of each currency is told, not the dust behind it', () => {
  const nine = block(9n, '9', '8', [payment(address('a'), '0x7', address('c')), payment(address('a'), '0x2')])
  const logs = [log('a', '5'), log('a', '9'), log('a', '3')]
  const { payments } = parseBlockPayments([block(8n, '8', '7'), nine, ok(logs)], range, watched)
  expect(largestTransfers(payments).get(address('a'))).toEqual(
    new Map([
      [address('0'), { transactionHash: hash('7'), from: address('c'), amount: 7n }],
      [address('1'), { transactionHash: hash('9'), from: address('e'), amount: 9n }],
    ]),
  )
})

test('a transfer of somebody’s own contract is no answer to the question for listed tokens', () => {
  const answers = [...emptyBlocks, ok([log('a', 'ff', address('3'))])]
  expect(() => parseBlockPayments(answers, range, watched)).toThrow(MalformedAnswerError)
})

test('a token of its own kind under the same event pays nothing', () => {
  const { data: _data, ...nft } = log('a', '1')
  const answers = [...emptyBlocks, ok([{ ...nft, data: '0x' }])]
  expect(parseBlockPayments(answers, range, watched).payments).toEqual([])
})

test('blocks of two branches are no answer: one of them would be skipped', () => {
  const blocks = [block(8n, '8', '7'), block(9n, '9', '6')]
  expect(() => parseBlockPayments(blocks, range, watched)).toThrow(MalformedAnswerError)
})

test('Q-213: an address is found where a contract is told to pay it, in a call within a call as well', () => {
  const batch = encodeFunctionData({
    abi: parseAbi(['function pay(address[] recipients, uint256[] amounts)']),
    functionName: 'pay',
    args: [
      [address('a'), address('b')],
      [10n ** 17n, 1n],
    ],
  })
  const wallet = encodeFunctionData({
    abi: parseAbi(['function execute(address to, uint256 value, bytes data)']),
    functionName: 'execute',
    args: [address('c'), 0n, batch],
  })
  expect(addressesIn(wallet)).toEqual(expect.arrayContaining(['a', 'b', 'c'].map(address)))
  // Other words that look like an address are looked up too, and match none.
  expect(addressesIn(wallet).length).toBeLessThan(wallet.length / 64)
  expect(addressesIn(encodePacked(['uint256', 'uint256', 'uint256'], [10n ** 18n, 2n ** 64n, 0n]))).toEqual(
    [],
  )
})
