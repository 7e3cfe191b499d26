// Goal: a mistake in the settings of peers stops the start in words that show no key, and no oracle counts twice.
import { ConfigurationError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { signers } from '../../test/peerSupport/attestations.ts'
import { askedAhead, parsePeers, parseSignerPolicy, requiredSignatures, shownKeys } from './settings.ts'

describe('ORACLE_SIGNERS', () => {
  const ownSigner = signers.A.address
  const policy = (list: string | undefined, threshold?: string) =>
    parseSignerPolicy({ signers: list, threshold, ownSigner })
  const [a, b] = [signers.A.address, signers.B.address]

  test('scenario 29: signers count once whatever their case, and the threshold is compared with that', () => {
    const list = `${a};${b};0x${a.slice(2).toUpperCase()}`
    const { value, warnings } = policy(list, ' 2 ')
    expect([[...(value.signers ?? [])], value.threshold, warnings]).toEqual([[a, b], 2, []])
    expect(() => policy(list, '3')).toThrow(/THRESHOLD is 3, but ORACLE_SIGNERS names 2/)
  })

  test.each(['0', '1.5', 'abc', '-1', '1e3', '1x', 'x1', '1000000000', '1 2'])(
    'scenario 30: the threshold %s stops the start',
    (threshold) => {
      const refusal = /^ORACLE_SIGNERS_THRESHOLD is .* must be a whole number of at least 1/
      expect(() => policy(undefined, threshold)).toThrow(refusal)
      expect(() => policy(a, threshold)).toThrow(refusal)
    },
  )

  test.each([
    [a, '', 1, 0],
    [undefined, undefined, 1, 0],
    [undefined, ' ', 1, 0],
    [undefined, '12', 12, 1],
    ['', '1', 1, 1],
  ])(
    'scenario 30: for the signers %s an unset threshold is 1, and one without signers is warned about: %s',
    (list, threshold, expected, warned) => {
      const { value, warnings } = policy(list, threshold)
      expect(value.threshold).toBe(expected)
      expect(value.signers).toEqual(list ? new Set([a]) : undefined)
      expect(warnings).toHaveLength(warned)
      for (const warning of warnings) expect(warning).toMatch(/no effect without ORACLE_SIGNERS/)
    },
  )

  test.each([
    ['without the local signer', () => b, '1', 'own signer'],
    ['with the zero address', () => `${a};0x${'0'.repeat(40)}`, '1', 'ORACLE_SIGNERS entry 2'],
    ['with a malformed entry', () => `${a};0x1234`, '1', 'ORACLE_SIGNERS entry 2'],
    ['with an address without 0x', () => `${a};${b.slice(2)}`, '1', 'ORACLE_SIGNERS entry 2'],
    ['with separators alone', () => ';;', '1', 'ORACLE_SIGNERS entry 1'],
    ['shorter than the threshold', () => `${a};${b}`, '3', 'names 2'],
  ])('scenario 31: an allowlist %s stops the start', (_what, list, threshold, word) => {
    expect(() => policy(list(), threshold)).toThrow(ConfigurationError)
    expect(() => policy(list(), threshold)).toThrow(word)
  })

  test('the threshold counts only where signers are listed', () => {
    expect(requiredSignatures({ signers: undefined, threshold: 3 })).toBe(1)
    expect(requiredSignatures({ signers: new Set([a, b]), threshold: 2 })).toBe(2)
  })

  test('P-105: what peers signed ahead is enough with the threshold, and without signers always', () => {
    const { value: peers } = parsePeers('https://one.example|k1;https://two.example|k2')
    const listed = askedAhead({ signers: new Set([a, b]), threshold: 2 }, peers)
    expect([1, 2, 3].map((matched) => listed?.isEnough(matched))).toEqual([false, true, true])
    expect(askedAhead({ signers: undefined, threshold: 2 }, peers)?.isEnough(0)).toBe(true)
  })
})

const own = { host: '127.0.0.1', port: 3000 }
const baseUrls = (entries: string, listener: Parameters<typeof parsePeers>[1] = own) =>
  parsePeers(entries, listener).value.map(({ baseUrl }) => baseUrl)

describe('PEERS', () => {
  test.each([
    ['a missing key', 'https://one.example', 'a URL and a key'],
    ['an empty key', 'https://one.example|', 'a URL and a key'],
    ['a missing URL', '|key', 'a URL and a key'],
    ['a key with a bar', 'https://one.example|a|b', 'a URL and a key'],
    ['a key with a letter that no header takes', 'https://one.example|käy', 'unusual character'],
    ['such a letter first', 'https://one.example|äkey', 'unusual character'],
    ['such a letter last', 'https://one.example|keä', 'unusual character'],
    ['no URL', 'one.example|key', 'is no URL'],
    ['another protocol', 'ftp://one.example|key', 'must be an https URL'],
    ['http beyond loopback', 'http://one.example|key', 'must be https'],
    ['http to a name that begins like loopback', 'http://127.0.0.1.example|key', 'must be https'],
    ['a user name', 'https://me@one.example|key', 'user name'],
    ['a password', 'https://:secret@one.example|key', 'user name'],
    ['a query', 'https://one.example?x=1|key', 'query or fragment'],
    ['a fragment', 'https://one.example#x|key', 'query or fragment'],
  ])('with %s stops the start without printing a key', (_what, entry, word) => {
    const parse = () => parsePeers(`https://zero.example|k0;${entry}`, own)
    expect(parse).toThrow(ConfigurationError)
    expect(parse).toThrow(/^PEERS entry 2/)
    expect(parse).toThrow(word)
    expect(parse).not.toThrow(/secret|key$/)
  })

  test('P-86: are base URLs with keys, and pass-through is warned about', () => {
    const { value, warnings } = parsePeers(
      ' https://one.example/oracle/v1//|k1 ; http://[::1]:3100|pass-through ; http://localhost | ! ',
    )
    expect(value.map(({ name, baseUrl }) => [name, baseUrl])).toEqual([
      ['one.example', 'https://one.example/oracle/v1'],
      ['[::1]:3100', 'http://[::1]:3100'],
      ['localhost', 'http://localhost'],
    ])
    const keys = value.map(({ credential }) => credential.kind === 'key' && credential.key.reveal())
    expect(keys).toEqual(['k1', false, '!'])
    expect(warnings).toEqual([expect.stringMatching(/^PEERS entry 2 \(\[::1\]:3100\)/)])
    expect(JSON.stringify([value, warnings])).not.toContain('k1')
    expect(parsePeers(undefined)).toEqual({ value: [], warnings: [] })
  })

  test('keys that are shown to peers are named by their entries, for pass-through is none', () => {
    const entries = 'https://a|k1;https://b;https://c|;https://d| pass-through;https://e| k2 '
    expect(shownKeys(entries)).toEqual([
      { entryName: 'PEERS entry 1', key: 'k1' },
      { entryName: 'PEERS entry 5', key: 'k2' },
    ])
    expect(shownKeys(undefined)).toEqual([])
  })
})

describe('P-1: an oracle stands once in PEERS', () => {
  test.each([
    ['in other letters, with a slash at its end', 'https://one.example', 'https://ONE.example/'],
    ['with slashes after its path', 'https://one.example/a', 'https://one.example/a//'],
    ['with the port that https means', 'https://one.example', 'https://one.example:443'],
    ['by two names of loopback', 'http://localhost:3100', 'http://127.0.0.1:3100'],
    ['by an address of loopback that few use', 'http://[::1]:3100', 'http://127.1.20.255:3100'],
    ['by two protocols, as a port has one', 'http://localhost:443', 'https://localhost'],
  ])('not again %s', (_what, one, other) => {
    expect(() => baseUrls(`${one}|k1;${other}|k2`)).toThrow(/^PEERS entry 2 repeats the URL/)
  })

  test.each([
    ['path', 'https://one.example/a', 'https://one.example/b'],
    ['path, however slashes repeat in it', 'https://one.example/a/b', 'https://one.example/a//b'],
    ['port', 'http://localhost:3100', 'http://localhost:3101'],
    ['host', 'https://one.example', 'https://two.example'],
    ['host, beside loopback', 'https://one.example', 'https://localhost'],
  ])('another %s is another one', (_what, one, other) => {
    expect(baseUrls(`${one}|k1;${other}|k2`)).toEqual([one, other])
  })

  test.each([
    ['http://localhost:3000', '127.0.0.1', 3000],
    ['http://127.0.0.1:3000', '::1', 3000],
    ['http://[::1]:3000', '0.0.0.0', 3000],
    ['http://localhost:3000', '::', 3000],
    ['http://localhost', 'localhost', 80],
    ['https://localhost', 'localhost', 443],
    ['https://10.0.0.5:3000', '10.0.0.5', 3000],
    ['https://[2001:db8::1]:3000', '2001:db8::1', 3000],
  ])('%s is this oracle itself, which listens at %s port %i', (url, host, port) => {
    expect(() => baseUrls(`${url}|key`, { host, port })).toThrow('PEERS entry 1 is this oracle itself')
  })

  test.each([
    ['http://localhost:3001', '127.0.0.1', 3000],
    ['http://localhost:3000', '10.0.0.5', 3000],
    ['https://10.0.0.6:3000', '10.0.0.5', 3000],
    ['https://one.example:3000', '0.0.0.0', 3000],
    ['https://localhost', 'localhost', 80],
    ['http://localhost', 'localhost', 443],
    ['http://localhost:0', 'localhost', 0],
    ['http://localhost:3000', undefined, 3000],
  ])('%s is not the oracle that listens at %s port %i', (url, host, port) => {
    expect(baseUrls(`${url}|key`, { host, port })).toHaveLength(1)
  })
})
