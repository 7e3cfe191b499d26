// Which environments the allocator starts in, and which keys it will not stand beside.
import { ConfigurationError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { loadConfig } from './config.ts'

const load = (variables: Record<string, string> = {}) =>
  loadConfig({ ENVIRONMENT: 'local', ...variables }, '/srv/causeway')

test('outside local counts and the switch outlive the process', () => {
  const elsewhere = { ENVIRONMENT: 'mainnets.prod' }
  expect(() => load(elsewhere)).toThrow(/STATE_DIR is required/)
  expect(load({ ...elsewhere, STATE_DIR: 'state' }).stateDirectory).toBe('/srv/causeway/state')
  expect(load().stateDirectory).toBeUndefined()
})

describe('a start is refused, naming the setting and no value', () => {
  test.each([
    ['ENVIRONMENT', { ENVIRONMENT: '../secret' }],
    ['OPS_PORT', { OPS_PORT: 'secret-5d41402abc4b' }],
    ['POLL_INTERVAL_MS', { POLL_INTERVAL_MS: '1' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'secret-5d41402abc4b' }],
    ['ECDSA_PRIVATE_KEY', { ECDSA_PRIVATE_KEY: 'secret-5d41402abc4b' }],
    ['ECDSA_PRIVATE_KEY_FILE', { ECDSA_PRIVATE_KEY_FILE: 'secret-5d41402abc4b' }],
    ['AWS_KMS_SIGNER_KEY_ID', { AWS_KMS_SIGNER_KEY_ID: 'secret-5d41402abc4b' }],
    ['FILL_WALLET_PRIVATE_KEY_FILE', { FILL_WALLET_PRIVATE_KEY_FILE: 'secret-5d41402abc4b' }],
    ['CUSTODY_PRIVATE_KEY', { CUSTODY_PRIVATE_KEY: 'secret-5d41402abc4b' }],
    ['SOLVER_API_KEY', { SOLVER_API_KEY: 'secret-5d41402abc4b' }],
    ['ADMIN_API_KEY', { ADMIN_API_KEY: 'secret-5d41402abc4b' }],
    ['API_KEY_PEPPERS', { API_KEY_PEPPERS: 'secret-5d41402abc4b' }],
  ])('%s', (name, variables) => {
    expect(() => load(variables)).toThrow(ConfigurationError)
    expect(() => load(variables)).toThrow(name)
    expect(() => load(variables)).not.toThrow(/secret/)
  })
})
