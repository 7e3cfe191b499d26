import { ConfigurationError } from '@causeway/core'
import { expect, test } from 'vitest'
import { parsePrivateKey, readPrivateKeySetting } from './privateKey.ts'

const key = `0x${'1f'.repeat(32)}`
const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'

test('reads a key and forgives the white space around it', () => {
  expect(parsePrivateKey(`${key}\n`, 'KEY').reveal()).toBe(key)
  expect(parsePrivateKey(`0x${order.slice(0, -1)}0`, 'KEY').reveal()).toMatch(/0$/)
})

test.each([
  ['empty', ''],
  ['without prefix', key.slice(2)],
  ['too short', key.slice(0, -2)],
  ['too long', `${key}00`],
  ['not hex', key.replace('1f', 'xy')],
  ['zero', `0x${'0'.repeat(64)}`],
  ['the order of the curve', `0x${order}`],
  ['above the order', `0x${'f'.repeat(64)}`],
  ['two lines', `${key}\n${key}`],
])('refuses a key that is %s, by the name of the setting and without its value', (_name, text) => {
  const attempt = () => parsePrivateKey(text, 'ECDSA_PRIVATE_KEY')
  expect(attempt).toThrow(ConfigurationError)
  expect(attempt).toThrow(/^ECDSA_PRIVATE_KEY /)
  if (text.length > 40) expect(attempt).not.toThrow(text.trim().slice(2, 40))
})

const read = (environment: Record<string, string>) =>
  readPrivateKeySetting({
    environment,
    name: 'ECDSA_PRIVATE_KEY',
    readFile: (path) => {
      if (path !== '/run/key') throw new Error(`no such file ${path}`)
      return `${key}\n`
    },
  })

test('the key comes from the variable or from the file, not from both', () => {
  expect(read({ ECDSA_PRIVATE_KEY: key })?.reveal()).toBe(key)
  expect(read({ ECDSA_PRIVATE_KEY: '', ECDSA_PRIVATE_KEY_FILE: '/run/key' })?.reveal()).toBe(key)
  expect(read({})).toBeUndefined()
  expect(() => read({ ECDSA_PRIVATE_KEY: key, ECDSA_PRIVATE_KEY_FILE: '/run/key' })).toThrow('not both')
})

test('a file that cannot be read refuses the start', () => {
  expect(() => read({ ECDSA_PRIVATE_KEY_FILE: '/nowhere' })).toThrow(ConfigurationError)
  expect(() => read({ ECDSA_PRIVATE_KEY_FILE: '/nowhere' })).toThrow(/ECDSA_PRIVATE_KEY_FILE/)
})
