// Goal: what a pattern of the interface document takes is refused for no spelling, only by a named second rule about
// what can be executed. Attack: a value at the edge of a pattern that a tighter schema turns away.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { sharedTestApp } from '../../../test/fixtures/app.ts'
import { chainA, chainB, marketWithPools, recipient, usdc, user } from '../../../test/fixtures/market.ts'
import { priceBodySchema, quoteBodySchema } from './quoteBody.ts'

const body = {
  user,
  recipient,
  originChainId: chainA,
  destinationChainId: chainB,
  originCurrency: usdc,
  destinationCurrency: usdc,
  amount: '100000000',
  tradeType: 'EXACT_INPUT',
}
const call = { to: recipient, value: '0', data: '0x' }
const fee = { recipient: user, fee: '1' }
const beyond = (2n ** 256n).toString()
const zeros = '0'.repeat(300)

const address = '^0x[a-fA-F0-9]{40}$'
const digits = '^[0-9]+$'

/** Patterns as the document writes them. */
const patterns = [
  {
    field: 'amount',
    pattern: digits,
    set: (amount: string) => ({ amount }),
    taken: ['100000000', `${zeros}100000000`],
    unexecutable: [[beyond, 'amount must fit in 256 bits.']],
    foreign: ['', '-1', '+1', '1.0', '1e8', '0x10', ' 1', '1\n', '١'],
  },
  {
    field: 'txs.0.to',
    pattern: address,
    set: (to: string) => ({ txs: [{ ...call, to }] }),
    taken: [`0x${'AB'.repeat(20)}`, `0x${'aB'.repeat(20)}`, `0x${'0'.repeat(40)}`],
    unexecutable: [],
    foreign: [
      '',
      '0x',
      `0X${'ab'.repeat(20)}`,
      `0x${'ab'.repeat(19)}a`,
      `0x${'ab'.repeat(20)}a`,
      `0x${'g'.repeat(40)}`,
    ],
  },
  {
    field: 'txs.0.data',
    pattern: '^0x[a-fA-F0-9]*$',
    set: (data: string) => ({ txs: [{ ...call, data }] }),
    taken: ['0x', '0x01', '0xAb'],
    unexecutable: [
      ['0x1', 'txs.0.data must have an even number of hex digits: half a byte is no data.'],
      [`0x${'ab'.repeat(16_384)}`, 'txs.0.data must have at most 32768 characters.'],
    ],
    foreign: ['', 'ab', '0X01', '0xg1', '0x01 '],
  },
  {
    field: 'appFees.0.fee',
    pattern: digits,
    set: (bps: string) => ({ appFees: [{ ...fee, fee: bps }] }),
    taken: ['0', '100', '000100', `${zeros}100`],
    unexecutable: [
      ['10001', 'appFees must not add up to more than 10000 basis points.'],
      ['9'.repeat(400), 'appFees must not add up to more than 10000 basis points.'],
    ],
    foreign: ['', '-1', '1.5', '1e2', '0x10'],
  },
  {
    field: 'appFees.0.recipient',
    pattern: address,
    set: (account: string) => ({ appFees: [{ ...fee, recipient: account }] }),
    taken: [`0x${'AB'.repeat(20)}`, `0x${'aB'.repeat(20)}`],
    unexecutable: [],
    foreign: ['', '0x', 'me', `0x${'ab'.repeat(21)}`],
  },
  {
    field: 'slippageTolerance',
    pattern: '^([0-9]{1,4}|10000)$',
    set: (slippageTolerance: string) => ({ slippageTolerance }),
    taken: ['0', '0050', '9999', '10000'],
    unexecutable: [],
    foreign: ['', '10001', '00050', '-1', '0.5', '010000'],
  },
] as const

const ask = sharedTestApp({ market: { current: marketWithPools() } })

async function answerTo(change: object) {
  const { response } = await ask({ method: 'POST', url: '/price', payload: { ...body, ...change } })
  return response
}

test.each(patterns)('Q-3: $field takes what its pattern takes: $pattern', async ({ set, taken }) => {
  for (const value of taken) {
    const { statusCode, body: text } = await answerTo(set(value))
    expect([value.slice(-50), statusCode, statusCode === 200 || text]).toEqual([value.slice(-50), 200, true])
  }
})

test.each(patterns)(
  'Q-3: $field refuses by a rule of its own what cannot be executed',
  async ({ set, unexecutable }) => {
    for (const [value, message] of unexecutable) {
      expect((await answerTo(set(value))).json()).toMatchObject({ statusCode: 400, message })
    }
  },
)

test.each(patterns)('Q-3: $field refuses what its pattern refuses', async ({ field, set, foreign }) => {
  for (const value of foreign) {
    const { statusCode, message } = (await answerTo(set(value))).json()
    expect([value, statusCode]).toEqual([value, 400])
    expect(message).toMatch(new RegExp(`^${field} must (be|have) `))
  }
})

const describedSchema = z.looseObject({
  paths: z.looseObject({
    '/price': z.looseObject({
      post: z.looseObject({
        requestBody: z.looseObject({ content: z.looseObject({ 'application/json': z.unknown() }) }),
      }),
    }),
  }),
})

test.each(patterns)('Q-3: the description has the pattern of $field', async ({ field, pattern }) => {
  const { response } = await ask({ method: 'GET', url: '/documentation/json' })
  const { content } = describedSchema.parse(response.json()).paths['/price'].post.requestBody
  const place = field.split('.').flatMap((member) => (member === '0' ? ['items'] : ['properties', member]))
  expect(content['application/json']).toHaveProperty(['schema', ...place, 'pattern'], pattern)
})

test('Q-3: any text of a pattern passes it, with every digit and length', () => {
  for (const { set, pattern } of patterns) {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(pattern)), (value) => {
        const { error } = priceBodySchema.safeParse({ ...body, ...set(value) })
        const isOfPattern = error?.issues.some(({ code }) => code === 'invalid_format')
        expect([value, isOfPattern ?? false]).toEqual([value, false])
      }),
    )
  }
})

test('Q-3: amounts of sponsorship take leading zeros, and are USDC that fits in 256 bits', () => {
  const parsed = (maxSubsidizationAmount: string) =>
    quoteBodySchema.safeParse({ ...body, maxSubsidizationAmount }).success
  expect([`${zeros}100000`, '0', '-1', '0.1', '0x10', '', beyond].map(parsed)).toEqual([
    ...[true, true, false, false, false, false, false],
  ])
})

test('Q-3: the value of a call is a number of wei in any spelling, within 256 bits', async () => {
  const ofValue = (value: unknown) =>
    priceBodySchema.safeParse({ ...body, txs: [{ ...call, value }] }).success
  const taken = ['0', `${zeros}7`, '0x0', `0x${zeros}7`, `0x${'f'.repeat(64)}`, 0, 7]
  expect(taken.map(ofValue)).toEqual(taken.map(() => true))
  const refused = ['', '0x', '-1', '1.5', -1, 1.5, null, true, beyond, `0x1${'0'.repeat(64)}`]
  expect(refused.map(ofValue)).toEqual(refused.map(() => false))
})
