// Goal: a router's event ends a request only where it says that all was paid that was quoted. Attack: a stranger
// names somebody's request with less money, other money or another recipient, or writes such an event himself.
import { depositRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { type PaidSwap, readPaidSwap } from '@causeway/families'
import type { ReceiptLog } from '@causeway/families/rules'
import { encodeAbiParameters, encodeEventTopics, parseAbiParameters } from 'viem'
import { describe, expect, test } from 'vitest'
import { findPaidSwap, type QuotedSwap } from './paidSwap.ts'

const account = (digit: string): Hex => `0x${digit.repeat(40)}`
const router = account('a')
const requestId: Hex = `0x${'5d'.repeat(32)}`
const quoted: QuotedSwap = {
  requestId,
  // As a caller may have written it.
  recipient: `0x${'B'.repeat(40)}`,
  quoted: {
    operation: 'swap',
    originCurrency: account('c'),
    destinationCurrency: account('d'),
    amountOutMin: 95n,
  },
}
const paid: PaidSwap = {
  requestId,
  recipient: account('b'),
  tokenIn: account('c'),
  amountIn: 100n,
  tokenOut: account('d'),
  amountOut: 95n,
}

function logOf(swap: PaidSwap): ReceiptLog {
  const topics = encodeEventTopics({
    abi: depositRouterAbi,
    eventName: 'SwapPaid',
    args: { id: swap.requestId },
  })
  return {
    address: router,
    topics: topics.flatMap((topic) => (typeof topic === 'string' ? [topic] : [])),
    data: encodeAbiParameters(parseAbiParameters('address, address, uint256, address, uint256'), [
      swap.recipient,
      swap.tokenIn,
      swap.amountIn,
      swap.tokenOut,
      swap.amountOut,
    ]),
    logIndex: 3,
  }
}

describe('a log', () => {
  test('of the router is read as its contract writes it', () => {
    expect(readPaidSwap(logOf(paid), router.toUpperCase().replace('0X', '0x'))).toEqual(paid)
    const most = { ...paid, amountOut: 2n ** 256n - 1n }
    expect(readPaidSwap(logOf(most), router)).toEqual(most)
  })

  test.each<[string, Partial<ReceiptLog>]>([
    ['of another contract', { address: account('e') }],
    ['of another event', { topics: [`0x${'00'.repeat(32)}`, requestId] }],
    ['without a request', { topics: logOf(paid).topics.slice(0, 1) }],
    ['with one member more', { data: `${logOf(paid).data}${'00'.repeat(32)}` }],
    ['with one member less', { data: '0x' }],
  ])('%s says nothing', (_what, change) => {
    expect(readPaidSwap({ ...logOf(paid), ...change }, router)).toBeUndefined()
  })

  test('says nothing on a chain without a router', () => {
    expect(readPaidSwap(logOf(paid), undefined)).toBeUndefined()
  })
})

describe('a request', () => {
  test('is done by the least that was quoted and by more, whatever else was paid', () => {
    expect(findPaidSwap(quoted, [paid])).toEqual(paid)
    expect(
      findPaidSwap(quoted, [
        { ...paid, requestId: `0x${'00'.repeat(32)}` },
        { ...paid, amountOut: 96n },
      ]),
    ).toEqual({ ...paid, amountOut: 96n })
  })

  test.each<[string, Partial<PaidSwap>]>([
    ['of another request', { requestId: `0x${'00'.repeat(32)}` }],
    ['to another recipient', { recipient: account('e') }],
    ['of one unit less', { amountOut: 94n }],
    ['in another currency', { tokenOut: account('c') }],
    ['for another input', { tokenIn: account('d') }],
  ])('Q-201: is not done by a payment %s', (_what, change) => {
    expect(findPaidSwap(quoted, [{ ...paid, ...change }])).toBeUndefined()
  })

  test('is not done by two halves', () => {
    expect(
      findPaidSwap(quoted, [
        { ...paid, amountOut: 48n },
        { ...paid, amountOut: 48n },
      ]),
    ).toBeUndefined()
  })

  test('that is no swap is never done by one', () => {
    const send = { ...quoted, quoted: { ...quoted.quoted, operation: 'send' as const } }
    expect(findPaidSwap(send, [paid])).toBeUndefined()
  })
})
