// Settings of the specification: defaults, the port's order, and what refuses to start.
import { createHash } from 'node:crypto'
import { ConfigurationError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { createConfiguredKeys, parseKeySettings } from '../service/keySetting.ts'
import { loadConfig } from './config.ts'

const load = (variables: Record<string, string> = {}) =>
  loadConfig({ ENVIRONMENT: 'local', ...variables }, '/srv/causeway')

test('defaults are those of the specification', () => {
  const { http, rateLimit, peers, apiKeys, signers } = load()
  expect({ http, rateLimit, peers, apiKeys, signers }).toEqual({
    http: { host: '0.0.0.0', port: 3000 },
    rateLimit: { max: 2, windowMs: 1_000 },
    peers: { entries: undefined, timeoutMs: 10_000 },
    apiKeys: [],
    signers: { entries: undefined, threshold: undefined },
  })
})

test.each([
  [{ HTTP_PORT: '8001', PORT: '8002' }, 8001],
  [{ PORT: '8002' }, 8002],
  [{ HTTP_PORT: '', PORT: '8002' }, 8002],
  [{}, 3000],
])('the port of %j is %i', (variables, port) => {
  expect(load(variables).http.port).toBe(port)
})

describe('a start is refused, naming the setting and no value', () => {
  test.each([
    ['ENVIRONMENT', { ENVIRONMENT: '' }],
    ['ENVIRONMENT', { ENVIRONMENT: '../secret' }],
    ['HTTP_PORT', { HTTP_PORT: 'secret-5d41402abc4b' }],
    ['UNAUTHENTICATED_RATE_LIMIT_MAX', { UNAUTHENTICATED_RATE_LIMIT_MAX: 'secret-5d41402abc4b' }],
    ['UNAUTHENTICATED_RATE_LIMIT_WINDOW_MS', { UNAUTHENTICATED_RATE_LIMIT_WINDOW_MS: '0' }],
    ['PEER_REQUEST_TIMEOUT_MS', { PEER_REQUEST_TIMEOUT_MS: '1.5' }],
    ['TRUSTED_PROXIES', { TRUSTED_PROXIES: 'true' }],
    ['SECURITY_CONTACT', { SECURITY_CONTACT: 'secret@example.org' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'secret-5d41402abc4b' }],
    ['API_KEYS entry 1', { API_KEYS: 'secret-5d41402abc4b' }],
    ['API_KEYS entry 2', { API_KEYS: 'secret:one;secret2:' }],
    ['API_KEYS entry 1', { API_KEYS: 'sha256$secret:label' }],
    ['API_KEYS', { API_KEYS: 'secret:one;secret:two' }],
    ['PEER_API_KEYS entry 1', { PEER_API_KEYS: 'secret-5d41402abc4b' }],
    ['PEER_API_KEYS', { PEER_API_KEYS: 'secret:one;secret:two' }],
    ['FORCE', { FORCE: 'secret-5d41402abc4b' }],
    ['HEAD_AGE_MAX_MS', { HEAD_AGE_MAX_MS: '999' }],
    ['CAPS_SHARE', { CAPS_SHARE: 'secret' }],
    ['CAPS_SHARE', { CAPS_SHARE: '2/3' }],
    ['CAPS_SHARE', { CAPS_SHARE: '1/0' }],
    ['CAPS_SHARE', { CAPS_SHARE: '1/1000' }],
    ['CAPS_SHARE', { CAPS_SHARE: '1/2', ORACLE_DATABASE_URL: 'postgres://secret' }],
    ['ORACLE_DATABASE_URL', { CAPS_SHARE: '1/2', ORACLE_DATABASE_URL: 'postgres://secret' }],
    ['ALLOCATOR_ECDSA_PRIVATE_KEY', { ALLOCATOR_ECDSA_PRIVATE_KEY: 'secret-5d41402abc4b' }],
  ])('%s of %j', (name, variables) => {
    expect(() => load(variables)).toThrow(ConfigurationError)
    expect(() => load(variables)).toThrow(name)
    expect(() => load(variables)).not.toThrow(/secret/)
  })
})

test('O-20: CAPS_SHARE is the n-th part, by default all, and stands beside a database only as all', () => {
  expect([load(), load({ CAPS_SHARE: '1/3' })].map(({ capsShare }) => capsShare)).toEqual([1, 3])
  expect(load({ ORACLE_DATABASE_URL: 'postgres://x' }).databaseUrl?.reveal()).toBe('postgres://x')
  expect(load({ CAPS_SHARE: '1/1', ORACLE_DATABASE_URL: 'postgres://x' }).capsShare).toBe(1)
})

describe('a key of a peer may not force', () => {
  const hash = createHash('sha256').update('secret').digest('hex')

  test.each([
    ['secret:operator', 'secret:peer'],
    ['other:operator;secret:operator2', 'one:peer;secret:peer2'],
    ['secret:operator', `sha256$${hash}:peer`],
    [`sha256$${hash}:operator`, 'secret:peer'],
    [`sha256$${hash}:operator`, `sha256$${hash.toUpperCase()}:peer`],
  ])('P-87: so API_KEYS=%s beside PEER_API_KEYS=%s stops the start, naming both', (operators, peers) => {
    const refused = () => load({ API_KEYS: operators, PEER_API_KEYS: peers })
    expect(refused).toThrow(ConfigurationError)
    expect(refused).toThrow(/\bAPI_KEYS\b.*\bPEER_API_KEYS\b/)
    expect(refused).not.toThrow(new RegExp(`secret|${hash}`))
  })

  test('P-87: so a key that is shown to a peer may not be one of API_KEYS', () => {
    const refused = () =>
      load({ API_KEYS: 'secret:operator', PEERS: 'https://b.example|other;https://c.example|secret' })
    expect(refused).toThrow(/PEERS entry 2.*API_KEYS/)
    expect(refused).not.toThrow(/secret/)
  })

  test('two peers may share a label with an operator, and one key may be shown both ways', async () => {
    const { apiKeys } = load({
      API_KEYS: 'a:one',
      PEER_API_KEYS: 'b:one',
      PEERS: 'https://b.example|b',
    })
    const keys = createConfiguredKeys(apiKeys)
    expect((await keys.find('a'))?.scopes).toEqual(new Set(['force']))
    expect((await keys.find('b'))?.scopes).toEqual(new Set())
    expect((await keys.find('a'))?.keyId).not.toBe((await keys.find('b'))?.keyId)
  })
})

describe('API_KEYS', () => {
  const hash = createHash('sha256').update('third').digest('hex')
  const keys = createConfiguredKeys(
    parseKeySettings({
      operators: ` first:one ; second:two:2;sha256$${hash}:three `,
      peers: '',
      isLocal: true,
    }),
  )

  test.each([
    ['first', 'one'],
    ['second', 'two:2'],
    ['third', 'three'],
  ])('P-86: %s is known as %s', async (key, label) => {
    expect(await keys.find(key)).toMatchObject({ label })
  })

  test.each([
    '',
    'First',
    'first:one',
    hash,
    `sha256$${hash}`,
    ...Object.getOwnPropertyNames(Object.prototype),
  ])('%j is no key', async (key) => {
    expect(await keys.find(key)).toBeUndefined()
  })
})
