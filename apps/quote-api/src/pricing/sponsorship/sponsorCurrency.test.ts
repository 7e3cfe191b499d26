// Goal: sponsors are told one chain and one token, those that their balances are kept in.
import { createJsonRpcClient } from '@causeway/rpc'
import { afterAll, expect, test } from 'vitest'
import { chainA, testRegistry, usdc } from '../../../test/fixtures/market.ts'
import { findSponsorshipChain, sponsorCurrency } from './sponsorCurrency.ts'

const registry = testRegistry()
const [base, baseSepolia] = [8_453, 84_532]
/** A registry whose chains have these ids, under the keys `chain 0` and so on. */
const withChains = (...chainIds: readonly number[]) => {
  const [model] = registry.chains
  if (model === undefined) throw new Error('the test configuration has no chain')
  const chains = chainIds.map((chainId, index) => ({ ...model, chainId, key: `chain ${index}` }))
  return { ...registry, chains, chainById: new Map(chains.map((chain) => [chain.chainId, chain])) }
}
const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url: 'http://127.0.0.1:1' }] })
afterAll(() => client.close())

test.each([
  ['Base', [baseSepolia, base], base, true],
  ['its testnet without Base', [baseSepolia], baseSepolia, false],
  ['Base without a client where neither is configured', [10], base, false],
])('wallets of sponsors are on %s', (_what, configured, chainId, hasClient) => {
  const clients = new Map([['chain 1', client]])
  expect(findSponsorshipChain(withChains(...configured), clients)).toEqual({
    chainId,
    client: hasClient ? client : undefined,
  })
})

test.each([
  ['its address', chainA, 'usdc', usdc],
  ['no address of an asset that is not there', chainA, 'gold', ''],
  ['no address without an asset', chainA, undefined, ''],
  ['no address on a chain that is not configured', base, 'usdc', ''],
])('the currency of balances has %s', (_what, chainId, assetId, currency) => {
  expect(sponsorCurrency(registry, { chainId, assetId })).toEqual({ chainId, currency })
})
