import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addressesIn, resolvePlaceholders } from '@causeway/chains'
import { isContractChain, solverFileSchema } from '@causeway/core/config'
import { describe, expect, test } from 'vitest'
import { localAddressesOf } from '../../packages/chains/src/guards.ts'
import { environments, fileNames, parseConfigSet, placeholdersOf, readRawConfigSet } from './configFiles.ts'
import { findBrokenReferences } from './crossReferences.ts'

const folder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'configs')

describe('configuration files', () => {
  test('the folder holds the files of every environment, of the allocator, and nothing else', () => {
    const expected = environments.flatMap((environment) => [
      ...Object.values(fileNames(environment)),
      `solver.${environment}.json`,
    ])
    // An allocator needs an own hub, which the local network alone has.
    expected.push('allocator.local.json')
    const found = readdirSync(folder).filter((name) => name.endsWith('.json'))
    expect(found.sort()).toEqual([...expected].sort())
  })

  test.each(environments)('the files of %s keep their schemas and agree with each other', (environment) => {
    const config = parseConfigSet(environment, readRawConfigSet(folder, environment))
    expect(findBrokenReferences(config)).toEqual([])
  })

  test.each(environments)('a solver of %s pays on chains that are quoted', (environment) => {
    const json: unknown = JSON.parse(readFileSync(join(folder, `solver.${environment}.json`), 'utf8'))
    const { chains } = solverFileSchema.parse(resolvePlaceholders(json, {}).value)
    const { quote } = parseConfigSet(environment, readRawConfigSet(folder, environment))
    const quoted = Object.entries(quote.chains)
    const called = quoted.filter(([, chain]) => isContractChain(chain)).map(([key]) => key)
    expect(Object.keys(chains)).toEqual(expect.arrayContaining(called))
    expect(quoted.map(([key]) => key)).toEqual(expect.arrayContaining(Object.keys(chains)))
  })

  test('no other environment names an address of the local network', () => {
    const local = localAddressesOf([readRawConfigSet(folder, 'local')])
    expect(local.size).toBeGreaterThan(20)
    for (const environment of environments.filter((name) => name !== 'local')) {
      const used = addressesIn(readRawConfigSet(folder, environment))
      expect(used.filter(({ address }) => local.has(address.toLowerCase()))).toEqual([])
    }
  })

  test.each(environments)(
    'every chain of %s takes its endpoint from the variable named after it',
    (environment) => {
      const { chains } = parseRaw(environment)
      for (const { id, httpRpcUrl } of chains)
        expect(httpRpcUrl).toBe(`$${id.toUpperCase().replaceAll('-', '_')}_RPC_URL`)
    },
  )

  test('placeholders are found wherever they stand', () => {
    expect(placeholdersOf({ a: '$A_URL', b: ['$B_URL', { c: '$C_URL' }], d: 'no $E_URL', e: 1 })).toEqual([
      'A_URL',
      'B_URL',
      'C_URL',
    ])
  })
})

function parseRaw(environment: string): { chains: readonly { id: string; httpRpcUrl: unknown }[] } {
  const raw = readRawConfigSet(folder, environment).chains
  // CAST: the schema test above proves the shape; here the placeholders must stay as written.
  return raw as { chains: readonly { id: string; httpRpcUrl: unknown }[] }
}
