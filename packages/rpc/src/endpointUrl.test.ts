import { ConfigurationError, Secret } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { countHosts, parseEndpoint } from './endpointUrl.ts'
import { retryAfterMs } from './httpTransport.ts'

describe('parseEndpoint', () => {
  test('moves user information to a header and keeps path and query', () => {
    const url = new Secret('https://user:p%40ss@rpc.example:8443/v2/key?token=abc')
    const target = parseEndpoint({ url }, 2)
    expect(target.origin).toBe('https://rpc.example:8443')
    expect(target.path.reveal()).toBe('/v2/key?token=abc')
    expect(target.authorization?.reveal()).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`)
    expect(target.alias).toBe('rpc.example:8443#2')
  })

  test('shows no secret part when it is printed', () => {
    const target = parseEndpoint({ url: 'https://user:pass@rpc.example/v2/key?token=abc' }, 1)
    const printed = JSON.stringify(target)
    for (const secret of ['user', 'pass', 'key', 'token', 'abc']) expect(printed).not.toContain(secret)
  })

  test.each(['', 'rpc.example', 'ws://rpc.example', 'file:///etc/passwd', '$BASE_RPC_URL'])(
    'refuses %j without repeating it',
    (url) => {
      expect(() => parseEndpoint({ url }, 3)).toThrow(
        new ConfigurationError('RPC endpoint 3 is not an http(s) URL'),
      )
    },
  )

  test.each(['https://rpc.example/key', 'user@host', '', 'a b'])('refuses %j as an alias', (alias) => {
    expect(() => parseEndpoint({ url: 'http://rpc.example', alias }, 1)).toThrow(ConfigurationError)
  })

  test('takes a stray percent sign in a password literally', () => {
    const target = parseEndpoint({ url: 'http://u:50%@rpc.example' }, 1)
    expect(target.authorization?.reveal()).toBe(`Basic ${Buffer.from('u:50%').toString('base64')}`)
  })
})

describe('the URLs of a chain', () => {
  test.each([
    [
      'paths, keys and users',
      ['https://rpc.example/a', 'https://rpc.example/b?key=1', 'https://u:p@rpc.example/'],
    ],
    ['ports and schemes', ['https://rpc.example', 'http://rpc.example:8545', 'https://rpc.example:9000']],
    ['spellings', ['https://RPC.example', 'https://rpc.example./x', new Secret(' https://rpc.example ')]],
    ['paths on loopback', ['http://127.0.0.1:8545/a', 'http://127.0.0.1:8545/b']],
  ])('of one host are one voice: %s', (_name, urls) => {
    expect(countHosts(urls)).toBe(1)
  })

  test.each([
    ['hosts', ['https://a.example', 'https://b.example'], 2],
    ['hosts below one domain', ['https://a.rpc.example', 'https://b.rpc.example'], 2],
    [
      'ports of loopback',
      ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://localhost:1', 'http://[::1]:1'],
      4,
    ],
    ['none', [], 0],
  ])('of different %s are different voices', (_name, urls, voices) => {
    expect(countHosts(urls)).toBe(voices)
  })
})

describe('retryAfterMs', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z')
  test.each([
    ['7', 7_000],
    ['0', 0],
    ['86400', 30_000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
    [['3', '9'], 3_000],
  ])('reads %j as %s', (header, expected) => {
    expect(retryAfterMs(header, nowMs)).toBe(expected)
  })
})
