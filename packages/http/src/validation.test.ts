import { expect, test } from 'vitest'
import { z } from 'zod'
import { RequestFailure } from './failure.ts'
import { compileValidator } from './validation.ts'

const schema = z.object({
  user: z.string().min(2).max(4),
  amount: z.string().regex(/^[0-9]+$/, 'must be digits only'),
  chainId: z.int().positive(),
  tradeType: z.enum(['EXACT_INPUT', 'EXACT_OUTPUT']),
  txs: z
    .array(z.object({ to: z.string(), value: z.union([z.string(), z.int()]).optional() }))
    .max(1)
    .optional(),
  hash: z
    .templateLiteral(['0x', z.string().regex(/[0-9]{2}/)], { error: 'must be 0x and 2 digits' })
    .optional(),
  from: z.iso.datetime().optional(),
  raw: z.string().regex(/^a+$/).optional(),
  note: z.string({ error: 'must be a note' }).optional(),
  either: z.union([z.string(), z.object({ a: z.boolean() })]).optional(),
  value: z
    .union([
      z.string().regex(/^[0-9]+$/, 'must be digits only'),
      z.string().regex(/^0x[0-9a-f]+$/, 'must be 0x and hex digits'),
      z.int().min(0),
    ])
    .optional(),
  kind: z
    .discriminatedUnion('is', [z.object({ is: z.literal('a') }), z.object({ is: z.literal('b') })])
    .optional(),
  rules: z.strictObject({ perDay: z.number().optional() }).optional(),
  page: z.coerce.number().int().optional(),
  headers: z.record(z.string().regex(/^[a-z]+$/, 'must be a name in small letters'), z.string()).optional(),
  size: z.enum(['s', 'm', 'l']).optional(),
})
const needed = z.object({
  chainId: z.coerce.number().int().positive(),
  hash: z.templateLiteral(['0x', z.string()], { error: 'must be 0x and 2 digits' }),
  either: z.union([z.string(), z.boolean()]),
  tradeType: z.enum(['EXACT_INPUT', 'EXACT_OUTPUT']),
})
const valid = { user: 'abc', amount: '1', chainId: 10, tradeType: 'EXACT_INPUT' }

function refusalOf(checked: z.ZodType, data: unknown): RequestFailure {
  const result = compileValidator({ schema: checked })(data)
  if (!('error' in result)) throw new Error('accepted')
  expect(result.error).toBeInstanceOf(RequestFailure)
  return result.error
}
const refusal = (change: object): string => refusalOf(schema, { ...valid, ...change }).message

test('a valid body passes and unknown members are stripped', () => {
  expect(compileValidator({ schema })({ ...valid, extra: 1 })).toEqual({ value: valid })
})

test.each([
  ['user is required and must be a string.', { user: undefined }],
  ['user must be a string.', { user: 5 }],
  ['user must be a string.', { user: null }],
  ['user must have at least 2 characters.', { user: 'a' }],
  ['user must have at most 4 characters.', { user: 'abcde' }],
  ['amount must be digits only.', { amount: '-1' }],
  ['raw must match /^a+$/.', { raw: 'b' }],
  ['hash must be 0x and 2 digits.', { hash: '0x1' }],
  ['from must be a valid datetime.', { from: 'yesterday' }],
  ['chainId must be a number.', { chainId: '1' }],
  ['chainId must be an integer.', { chainId: 1.5 }],
  ['chainId must be more than 0.', { chainId: 0 }],
  ['tradeType must be "EXACT_INPUT" or "EXACT_OUTPUT".', { tradeType: 'x' }],
  ['size must be "s", "m", or "l".', { size: 'xl' }],
  ['txs must be an array.', { txs: {} }],
  ['txs must have at most 1 item.', { txs: [{ to: 'a' }, { to: 'b' }] }],
  ['txs.0 must be an object.', { txs: ['a'] }],
  ['txs.0.to is required and must be a string.', { txs: [{}] }],
  ['txs.0.value must be a string or a number.', { txs: [{ to: 'a', value: true }] }],
  ['note must be a note.', { note: 1 }],
  ['either must be a string or an object.', { either: 5 }],
  ['either must be a string, or its member a must be a boolean.', { either: { a: 1 } }],
  ['either must be a string, or its member a is required and must be a boolean.', { either: {} }],
  ['value must be a string or a number.', { value: true }],
  ['value must be digits only, 0x and hex digits, or a number.', { value: '-1' }],
  ['value must be at least 0.', { value: -1 }],
  ['kind.is must be "a" or "b".', { kind: { is: 'c' } }],
  ['rules must not have the member "perWeek".', { rules: { perWeek: 1 } }],
  ['rules must not have the members "perWeek" and "perYear".', { rules: { perWeek: 1, perYear: 1 } }],
  ['page must be a number.', { page: 'two' }],
  ['headers must be an object.', { headers: 'a' }],
  ['headers.X must be a name in small letters.', { headers: { X: 'a' } }],
  ['user is required and must be a string (and 1 more).', { user: undefined, amount: 'x' }],
])('Q-1: %s', (sentence, change) => {
  expect(refusal(change)).toBe(sentence)
})

test.each([
  ['hash is required and must be 0x and 2 digits.', { hash: undefined }],
  ['either is required and must be a string or a boolean.', { either: undefined }],
  ['chainId is required and must be a number.', { chainId: undefined }],
  ['tradeType is required and must be "EXACT_INPUT" or "EXACT_OUTPUT".', { tradeType: undefined }],
])('Q-1: %s', (sentence, change) => {
  const complete = { chainId: '10', hash: '0x11', either: true, tradeType: 'EXACT_INPUT' }
  expect(refusalOf(needed, { ...complete, ...change }).message).toBe(sentence)
})

test('a refusal names the member it is about', () => {
  expect(refusalOf(schema, { ...valid, txs: [{}] }).field).toBe('txs.0.to')
  expect(refusalOf(schema, 5).field).toBeUndefined()
})

test('a refusal never repeats the value, and of a name no more than 64 characters', () => {
  for (const change of [
    { user: 'SECRET' },
    { amount: 'SECRET' },
    { tradeType: 'SECRET' },
    { value: 'SECRET' },
  ]) {
    expect(refusal(change)).not.toContain('SECRET')
  }
  for (const holder of ['rules', 'headers'])
    expect(refusal({ [holder]: { ['M'.repeat(1_000)]: 1 } }).length).toBeLessThan(120)
})

test('no body at all is a request that must be an object', () => {
  expect(refusalOf(schema, undefined).message).toBe('The request is required and must be an object.')
})
