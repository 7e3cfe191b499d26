// The explorer of the exchange stands on another host than its API, that of others does not.
import { Secret } from '@causeway/core'
import { expect, test } from 'vitest'
import { explorerUrl } from './openHyperliquidChain.ts'

test.each([
  ['https://api.hyperliquid.xyz', 'https://rpc.hyperliquid.xyz'],
  [' HTTPS://API.hyperliquid.xyz/ ', 'HTTPS://rpc.hyperliquid.xyz/'],
  ['https://user:api.key@api.example/path', 'https://user:api.key@rpc.example/path'],
  ['https://hyperliquid-api.example/api.v1', 'https://hyperliquid-api.example/api.v1'],
  ['https://node.example/?key=api.', 'https://node.example/?key=api.'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
])('the explorer of %s is at %s', (url, explorer) => {
  expect(explorerUrl(new Secret(url)).reveal()).toBe(explorer)
})
