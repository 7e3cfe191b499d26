// Goal: a bad setting is named and never shown, and the solver is given no key but the fill wallet's.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadConfig, workSettings } from './config.ts'

const signer = `0x${'AB'.repeat(20)}`
const whole = {
  ENVIRONMENT: 'mainnets.prod',
  DATABASE_URL: 'postgres://solver:hunter2-5d41402abc4b@db/solver',
  QUOTE_API_URL: 'http://quote-api:3000',
  SOLVER_API_KEY: 'a-key-of-the-solver',
  ORDER_SIGNERS: `${signer};${signer}`,
}

describe('configuration', () => {
  test('order signers are compared in lower case, secrets are hidden', () => {
    const config = loadConfig(whole, '/repository')
    expect([...workSettings(config).orderSigners]).toEqual([signer.toLowerCase()])
    expect(JSON.stringify(config)).not.toMatch(/hunter2-5d41402abc4b|a-key-of-the-solver/)
    expect(config.configDirectory).toBe('/repository/configs')
  })

  test.each(['QUOTE_API_URL', 'SOLVER_API_KEY', 'ORDER_SIGNERS'])('%s is needed to work', (name) => {
    const config = loadConfig({ ...whole, [name]: '' }, '/repository')
    expect(() => workSettings(config)).toThrow(name)
  })

  test.each([
    ['DATABASE_URL', ''],
    ['ORDER_SIGNERS', 'hunter2-5d41402abc4b'],
    ['QUOTE_API_URL', 'file:///hunter2-5d41402abc4b'],
    ['DRY_RUN', 'hunter2-5d41402abc4b'],
    ['LEASE_MS', '1'],
    ['ALLOCATOR_ECDSA_PRIVATE_KEY', 'hunter2-5d41402abc4b'],
    ['CUSTODY_PRIVATE_KEY', 'hunter2-5d41402abc4b'],
  ])('%s that is wrong stops the start by its name alone', (name, value) => {
    const load = () => loadConfig({ ...whole, [name]: value }, '/repository')
    expect(load).toThrow(name)
    expect(load).not.toThrow('hunter2-5d41402abc4b')
  })

  test("knows no key but the fill wallet's", () => {
    const text = readFileSync(new URL('./config.ts', import.meta.url), 'utf8')
    const names = [...text.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name = '']) => name)
    expect(names).toContain('SOLVER_API_KEY')
    // The signer of packages/signer reads the one key; an allocator's, custody's or oracle's has no name here.
    const others = names.filter((name) => /ALLOCATOR|CUSTODY|ORACLE|PRIVATE_KEY|MNEMONIC/.test(name))
    // Whom it asks to vouch for what it says of its own nonces.
    expect(others).toEqual(['ORACLES', 'ORACLES_THRESHOLD'])
  })
})
