import { Secret } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { parseOracles } from './oracleSettings.ts'

const signer = (digit: string) => `0x${digit.repeat(40)}`
const three = ['1', '2', '3']
  .map((digit) => `http://oracle${digit}.test/|key${digit}|${signer(digit)}`)
  .join(';')

const parse = (text: string, threshold?: number, isLocal = false) =>
  parseOracles({ text: new Secret(text), threshold, isLocal })

describe('ORACLES', () => {
  test('is a list of address, key and signer, and asks for more than half', () => {
    const settings = parse(three)
    expect(settings?.threshold).toBe(2)
    expect(settings?.oracles.map(({ name, signer: pinned }) => [name, pinned])).toEqual([
      ['oracle1.test', signer('1')],
      ['oracle2.test', signer('2')],
      ['oracle3.test', signer('3')],
    ])
    expect(settings?.oracles[0]?.url.reveal()).toBe('http://oracle1.test')
    expect(settings?.oracles[0]?.apiKey?.reveal()).toBe('key1')
  })

  test('may be left out', () => {
    expect(parseOracles({ text: undefined, threshold: undefined, isLocal: true })).toBeUndefined()
  })

  test.each([
    ['no URL', `oracle|key|${signer('1')}`, undefined],
    ['no signer', 'http://oracle.test|key|0x12', undefined],
    ['one signer twice', `${three};http://other.test||${signer('1')}`, undefined],
    ['a threshold of one', three, 1],
    ['a threshold of half', `${three};http://oracle4.test||${signer('4')}`, 2],
    ['a threshold above all', three, 4],
    ['one oracle', `http://oracle.test||${signer('1')}`, undefined],
    ['nothing', ' ; ', undefined],
  ])('%s is refused outside local, and no value is told', (_what, text, threshold) => {
    expect(() => parse(text, threshold)).toThrow(/^ORACLES/)
    expect(() => parse(text, threshold)).not.toThrow(/key1|0x1111/)
  })

  test('one oracle is enough in a local network', () => {
    expect(parse(`http://oracle.test||${signer('1')}`, undefined, true)?.threshold).toBe(1)
  })
})
