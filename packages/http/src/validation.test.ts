import { expect, test } from 'vitest'
import { z } from 'zod'
import { RequestFailure } from './failure.ts'
import { compileValidator } from './validation.ts'

const schema = z.object({
  user: z.string().min(2).max(4),
  amount: z.string().regex(/^[0-9]+$/),
  chainId: z.int().positive(),
  tradeType: z.enum(['EXACT_INPUT', 'EXACT_OUTPUT']),
  txs: z
    .array(z.object({ to: z.string() }))
    .max(1)
    .optional(),
  note: z.string({ error: 'must be a note' }).optional(),
  either: z.union([z.string(), z.object({ a: z.boolean() })]).optional(),
})
const valid = { user: 'abc', amount: '1', chainId: 10, tradeType: 'EXACT_INPUT' }

function refusal(change: object): string | undefined {
  const result = compileValidator({ schema })({ ...valid, ...change })
  if (!('error' in result)) throw new Error('accepted')
  expect(result.error).toBeInstanceOf(RequestFailure)
  return result.error.detail
}

test('a valid body passes and unknown members are stripped', () => {
  expect(compileValidator({ schema })({ ...valid, extra: 1 })).toEqual({ value: valid })
})

test.each([
  ['user is required and must be a string.', { user: undefined }],
  ['user must be a string.', { user: 5 }],
  ['user must be a string.', { user: null }],
  ['user must have at least 2 characters.', { user: 'a' }],
  ['user must have at most 4 characters.', { user: 'abcde' }],
  ['amount must match /^[0-9]+$/.', { amount: '-1' }],
  ['chainId must be a number.', { chainId: '1' }],
  ['chainId must be an integer.', { chainId: 1.5 }],
  ['chainId must be more than 0.', { chainId: 0 }],
  ['tradeType must be "EXACT_INPUT" or "EXACT_OUTPUT".', { tradeType: 'x' }],
  ['txs must have at most 1 items.', { txs: [{ to: 'a' }, { to: 'b' }] }],
  ['txs.0.to is required and must be a string.', { txs: [{}] }],
  ['note must be a note.', { note: 1 }],
  ['either matches none of the accepted forms.', { either: 5 }],
  ['user is required and must be a string (and 1 more).', { user: undefined, amount: 'x' }],
])('%s', (sentence, change) => {
  expect(refusal(change)).toBe(sentence)
})

test('a refusal never repeats the value', () => {
  for (const change of [{ user: 'SECRET' }, { amount: 'SECRET' }, { tradeType: 'SECRET' }]) {
    expect(refusal(change)).not.toContain('SECRET')
  }
})

test('no body at all is a request that must be an object', () => {
  const result = compileValidator({ schema })(undefined)
  expect(result).toMatchObject({ error: { detail: 'The request is required and must be an object.' } })
})
