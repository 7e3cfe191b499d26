// Goal: no message reaches a network that is not the internet, however its address is spelled.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isPublicAddress } from './publicAddress.ts'
import { checkWebhookUrl } from './webhookFields.ts'

describe('an address is public', () => {
  test.each(['1.1.1.1', '8.8.8.8', '172.15.255.255', '172.32.0.0', '100.128.0.0', '2606:4700:4700::1111'])(
    '%s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
})

describe('an address is not public', () => {
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd12:3456::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '4000::1',
    'localhost',
    '127.1',
    '',
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(false))

  test('any of the private IPv4 ranges, written inside IPv6 as well', () => {
    const part = fc.integer({ min: 0, max: 255 })
    const address = fc.oneof(
      fc.tuple(fc.constantFrom('10', '127', '0'), part, part, part),
      fc.tuple(fc.constantFrom('192.168', '169.254', '172.16', '172.31'), part, part),
    )
    fc.assert(
      fc.property(address, (parts) => {
        const text = parts.join('.')
        expect(isPublicAddress(text)).toBe(false)
        expect(isPublicAddress(`::ffff:${text}`)).toBe(false)
        expect(isPublicAddress(`64:ff9b::${text}`)).toBe(false)
      }),
    )
  })
})

describe('the URL of a webhook', () => {
  test.each([
    ['http://example.org/hook', 'must begin with https://'],
    ['ftp://example.org/', 'must begin with https://'],
    ['https://user:password@example.org/', 'must hold no credentials'],
    ['https://example.org/#part', 'must have no fragment'],
    ['https://127.0.0.1/', 'not on the internet'],
    ['https://0x7f.1/', 'not on the internet'],
    ['https://2130706433/', 'not on the internet'],
    ['https://[::1]/', 'not on the internet'],
    ['https://[::ffff:10.0.0.1]/', 'not on the internet'],
    ['https://169.254.169.254/latest/meta-data', 'not on the internet'],
    ['example.org/hook', 'cannot be read'],
    ['', 'cannot be read'],
  ])('%s %s', (url, problem) => {
    expect(() => checkWebhookUrl(url, false)).toThrow(problem)
  })

  test('may lead to the own network where that is allowed', () => {
    expect(checkWebhookUrl('http://127.0.0.1:8080/hook', true)).toBe('http://127.0.0.1:8080/hook')
    expect(() => checkWebhookUrl('ftp://127.0.0.1/', true)).toThrow('must begin with https://')
  })

  test('is taken as it is requested', () => {
    expect(checkWebhookUrl('https://EXAMPLE.org:443/hook?a=1', false)).toBe('https://example.org/hook?a=1')
  })
})
