// Goal: calls are submitted for a quoted deposit that pays for them, and for nothing else.
import type { SimulatedCalls } from '@causeway/families'
import { describe, expect, test } from 'vitest'
import {
  type Calls,
  type ExecutedRequest,
  failuresPerHourMax,
  judgeRequest,
  judgeSimulation,
} from './judgeExecution.ts'

const [account, own] = [`0x${'a1'.repeat(20)}`, `0x${'0f'.repeat(20)}`] as const
const id = `0x${'1d'.repeat(32)}` as const
const request: ExecutedRequest = {
  orderId: id,
  originChainId: 8_453,
  status: 'waiting',
  isRelayedOtherwise: false,
  apiKeyId: 'key',
  originGasOverhead: 80_000n,
  debitMicroUsd: 0n,
  expiresAtSeconds: 1_000,
}
const calls: Calls = { chainId: 8_453, to: account, data: '0x01', valueWei: 0n, isSponsored: false }
const known = { keyId: 'key', nowSeconds: 900, ownContracts: new Set([own]), failuresLastHour: 0 }

describe('a request', () => {
  test('is executed where it was quoted for that, with the key that quoted it or where none did', () => {
    expect(judgeRequest(request, calls, known)).toBeUndefined()
    expect(judgeRequest({ ...request, apiKeyId: undefined }, calls, known)).toBeUndefined()
    const sponsored = { ...request, debitMicroUsd: 1n }
    expect(judgeRequest(sponsored, { ...calls, isSponsored: true }, known)).toBeUndefined()
  })

  test.each([
    ['value', {}, { valueWei: 1n }, {}],
    ['own_contract', {}, { to: own }, {}],
    ['not_quoted', { orderId: undefined }, {}, {}],
    ['not_quoted', { isRelayedOtherwise: true }, {}, {}],
    ['other_key', {}, {}, { keyId: 'another' }],
    ['other_chain', {}, { chainId: 10 }, {}],
    ['no_gas', { originGasOverhead: 0n }, {}, {}],
    ['not_sponsored', {}, { isSponsored: true }, {}],
    ['deposited', { status: 'pending' }, {}, {}],
    ['expired', {}, {}, { nowSeconds: 986 }],
    ['budget', {}, {}, { failuresLastHour: failuresPerHourMax }],
  ] as const)('Q-198: is refused as %s: %o %o %o', (reason, ofRequest, ofCalls, ofKnown) => {
    const judged = judgeRequest(
      { ...request, ...ofRequest },
      { ...calls, ...ofCalls },
      { ...known, ...ofKnown },
    )
    expect(judged).toBe(reason)
  })
})

describe('a trial', () => {
  const order = { id, currency: account, amount: 100n, gasMax: 300_000n }
  const done = (gas: bigint, ...deposits: object[]): SimulatedCalls => ({
    succeeds: true,
    gas,
    deposits: deposits.map((change) => ({ id, currency: account, amount: 100n, ...change })),
  })

  test('makes at least the deposit of the order, for at most the gas that was charged', () => {
    expect(judgeSimulation(done(300_000n, {}), order)).toBeUndefined()
    expect(judgeSimulation(done(1n, { amount: 1n }, { amount: 101n }), order)).toBeUndefined()
  })

  test.each([
    ['reverted', { succeeds: false }],
    ['no_deposit', done(1n)],
    ['no_deposit', done(1n, { amount: 99n })],
    ['no_deposit', done(1n, { id: `0x${'00'.repeat(32)}` })],
    ['no_deposit', done(1n, { currency: own })],
    ['gas', done(300_001n, {})],
  ] as const)('is refused as %s: %o', (reason, simulated) => {
    expect(judgeSimulation(simulated, order)).toBe(reason)
  })
})
