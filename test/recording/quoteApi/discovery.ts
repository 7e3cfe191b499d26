// Discovery routes: chains, currencies, prices, health, and the description of the interface.
import type { QuoteStage } from '../support/stage.ts'
import { addressOf } from './bodies.ts'
import { appFeeWallet } from './priced.ts'

export async function recordDiscovery({ quoteApi: session, world: { network } }: QuoteStage): Promise<void> {
  const get = (name: string, path: string) => session.ask({ name, path })
  const currencies = (name: string, body: object | string) =>
    session.ask({ name, path: '/currencies/v2', body })
  const usdc = addressOf(network, 'base', 'USDC')
  await get('the first page', '/')
  await get('is alive', '/lives/v1')
  await get('the address of websockets without an upgrade', '/intents/status/ws')
  await get('chains', '/chains')
  await get('chains with a query', '/chains?includeChains=8453')
  await currencies('all currencies', {})
  await currencies('currencies of a chain', { chainIds: [10] })
  await currencies('currencies by a term', { term: 'usd' })
  await currencies('currencies by address', { address: usdc.toUpperCase().replace('0X', '0x') })
  await currencies('currencies by asset', { currencyId: 'eth' })
  await currencies('currencies by token', { tokens: [`8453:${usdc}`, '10:0x', ':', 'x'] })
  await currencies('two currencies', { limit: 2 })
  await currencies('currencies with deposit addresses', { depositAddressOnly: true })
  await currencies('verified currencies of the default list', {
    verified: true,
    defaultList: true,
    includeAllChains: true,
    useExternalSearch: true,
  })
  await currencies('unverified currencies', { verified: false })
  await currencies('currencies of no chain', { chainIds: [1] })
  await currencies('currencies, a limit of zero', { limit: 0 })
  await currencies('currencies, a list', '[]')
  for (const currency of ['native', 'wrapped', 'USDC', 'USDX', 'TIDE'] as const) {
    const address = addressOf(network, 'base', currency)
    await get(`price of ${currency}`, `/currencies/token/price/v2?address=${address}&chainId=8453`)
  }
  await get(
    'price of an unknown currency',
    `/currencies/token/price/v2?address=${appFeeWallet(6)}&chainId=8453`,
  )
  await get('price on an unknown chain', `/currencies/token/price/v2?address=${usdc}&chainId=1`)
  await get('price without address', '/currencies/token/price/v2?chainId=8453')
  await get('price without chain', `/currencies/token/price/v2?address=${usdc}`)
  await get('price as a number', `/currencies/token/price?address=${usdc}&chainId=8453`)
  await get('price as a number, on an unknown chain', `/currencies/token/price?address=${usdc}&chainId=1`)
  await get('currencies to offer first', '/currencies/trending?chainId=10&sortBy=relay24hBuyTxCount&limit=2')
  await get('currencies to offer first, an unknown order', '/currencies/trending?sortBy=none')
  await get('health of a chain', '/chains/health?chainId=8453')
  await get('health of every chain', '/chains/health')
  await get('health of an unknown chain', '/chains/health?chainId=1')
  await session.ask({
    name: 'what the solver holds',
    path: '/chains/liquidity?chainId=8453',
    volatile: ['balance', 'amountUsd'],
  })
  await get('what the solver holds on an unknown chain', '/chains/liquidity?chainId=1')
  await get('sources of swaps', '/swap-sources')
  await get('sources of swaps of a chain', '/swap-sources?chainId=10')
  await get('sources of swaps of an unknown chain', '/swap-sources?chainId=1')
  const config = (name: string, change: string) =>
    session.ask({
      name,
      path: `/config/v2?originChainId=8453&destinationChainId=10${change}`,
      volatile: ['balance', 'maxBridgeAmount', 'capacityPerRequest', 'fee'],
    })
  await config('what can be bridged', '')
  await session.ask({
    name: 'what a user can bridge',
    path: `/config/v2?originChainId=8453&destinationChainId=10&currency=usdc&user=${appFeeWallet(6)}`,
    volatile: ['balance', 'maxBridgeAmount', 'capacityPerRequest', 'fee'],
    // A slow machine does not read it within its budget, and leaves it out.
    until: ({ body }) => typeof body === 'object' && body !== null && 'user' in body,
  })
  await config('what can be bridged of no asset', '&currency=none')
  await config('what nobody can bridge', '&user=me')
  await get('the state of a transaction', '/transactions/status?requestId=0x')
  const volatile = ['ageMs', 'readAgeMs', 'version', 'hash', 'number']
  await session.ask({ name: 'health of prices', path: '/prices/health', volatile })
}
