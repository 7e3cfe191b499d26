import { ConfigurationError } from '@causeway/core'
import { expect, test } from 'vitest'
import { parseTrustedProxies } from './trustedProxies.ts'

test('reads addresses and ranges', () => {
  expect(parseTrustedProxies('')).toEqual([])
  expect(parseTrustedProxies(' 10.0.0.0/8, ::1,fd00::/8 ,192.0.2.1')).toEqual([
    '10.0.0.0/8',
    '::1',
    'fd00::/8',
    '192.0.2.1',
  ])
})

test.each([
  'true',
  '1',
  '*',
  'loopback',
  '0.0.0.0/0',
  '::/0',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  'host',
])('refuses %s', (value) => {
  expect(() => parseTrustedProxies(value)).toThrow(ConfigurationError)
  expect(() => parseTrustedProxies(`10.0.0.1,${value}`)).toThrow(/^TRUSTED_PROXIES entry 2 must be/)
})
