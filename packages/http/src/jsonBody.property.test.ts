import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJsonBody } from './json.ts'

const plainKeys = fc.string().filter((key) => !['__proto__', 'constructor', 'prototype'].includes(key))
const members = fc.dictionary(plainKeys, fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)))

test('any object as JSON.stringify writes it is accepted unchanged', () => {
  fc.assert(
    fc.property(members, members, fc.boolean(), (outer, inner, indented) => {
      const text = JSON.stringify({ outer, list: [inner, outer] }, null, indented ? 2 : 0)
      if (text.includes('\\u0000')) return
      expect(parseJsonBody(text)).toEqual(JSON.parse(text))
    }),
  )
})

test('writing one member twice is refused wherever it is', () => {
  fc.assert(
    fc.property(members, plainKeys, fc.string(), (object, key, value) => {
      const member = `${JSON.stringify(key)}:${JSON.stringify(value)}`
      const rest = JSON.stringify(object).slice(1)
      const text = `[{${member},${member}${rest === '}' ? '' : ','}${rest}]`
      expect(() => parseJsonBody(text)).toThrow()
    }),
  )
})
