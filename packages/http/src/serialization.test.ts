import { expect, test } from 'vitest'
import { z } from 'zod'
import { compileSerializer, serializerOf } from './serialization.ts'

test('writes what JSON.stringify writes for a value of the schema', () => {
  const schema = z.object({
    text: z.string(),
    count: z.int(),
    ratio: z.number(),
    flag: z.boolean(),
    kind: z.enum(['a', 'b']),
    only: z.literal('v1'),
    list: z.array(z.object({ id: z.string() })),
    map: z.record(z.string(), z.int()),
    nothing: z.null(),
    absent: z.string().optional(),
    nullable: z.string().nullable(),
    nullableObject: z.object({ a: z.int() }).nullable(),
    either: z.union([z.string(), z.object({ a: z.boolean() })]),
    anything: z.unknown(),
  })
  const value: z.infer<typeof schema> = {
    text: 'quote " backslash \\ newline \n NUL \u0000 € 😀 \ud800',
    count: -5,
    ratio: 0.25,
    flag: false,
    kind: 'b',
    only: 'v1',
    list: [{ id: '1' }, { id: '2' }],
    map: { x: 1, 'y"': 2 },
    nothing: null,
    nullable: null,
    nullableObject: null,
    either: { a: true },
    anything: { deep: [1, 'x'] },
  }
  const serialize = compileSerializer(schema)
  expect(serialize(value)).toBe(JSON.stringify(value))
  const other = { ...value, nullable: 'x', nullableObject: { a: 1 }, either: 'text' }
  expect(serialize(other)).toBe(JSON.stringify(other))
})

test('members the schema does not name are dropped at every depth', () => {
  const serialize = compileSerializer(z.object({ a: z.object({ b: z.string() }), c: z.array(z.object({})) }))
  expect(serialize({ a: { b: 'x', privateKey: 'y' }, c: [{ secret: 1 }], d: 1 })).toBe(
    '{"a":{"b":"x"},"c":[{}]}',
  )
})

test('a missing required member is a bug, not an answer', () => {
  expect(() => compileSerializer(z.object({ a: z.string() }))({})).toThrow(/required/)
})

test('a schema that JSON cannot express is refused at its first answer, what is no schema at once', () => {
  expect(() => compileSerializer(z.object({ a: z.bigint() }))({ a: 1n })).toThrow(/BigInt/)
  expect(() => serializerOf({ schema: { type: 'object' } })).toThrow(/zod/)
})

test('one schema is compiled once, for all apps', () => {
  const schema = z.object({ a: z.string() })
  expect(serializerOf({ schema })).toBe(serializerOf({ schema }))
})
