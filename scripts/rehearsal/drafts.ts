import type { Rehearsal } from '@causeway/localnet'
import { rehearsalEnvironment, rehearsedCoins } from '@causeway/localnet'

const environment = rehearsalEnvironment
const source = 'rehearsal'
const nowhere = `0x${'0'.repeat(40)}`
const inventory = { kappaBps: 20, rewardCapBps: 10, maxSkewBps: 100, reserveBps: 500 }

type Markets = Rehearsal['markets']
type Market = Markets['base']

/**
 * The configuration files of a rehearsal as an operator has them before he deploys anything: what others run is named
 * in them, his own contracts are not. @returns contents by file name
 */
export function draftFiles({ base, optimism }: Markets): Readonly<Record<string, object>> {
  const markets = [base, optimism]
  return {
    [`chains.${environment}.json`]: { environment, chains: markets.map(chainEntry) },
    [`chains.hub.${environment}.json`]: {
      ...{ environment, id: 'relay', httpRpcUrl: '$RELAY_RPC_URL', evmChainId: 537_713 },
      ...{ oracleAddress: nowhere, oracleVersion: '2', recoveryDelaySeconds: 60, auroraEvmChainId: 537_713 },
      ...{ finality: { mode: 'depth', blocks: 2 }, auroraFinality: { mode: 'depth', blocks: 2 } },
    },
    [`quote.${environment}.json`]: quoteFile({ base, optimism }),
    [`solver.${environment}.json`]: {
      ...{ environment, toleranceBps: 30, lossPerOrderMicroUsd: '50000000' },
      ...{ lossPerHourMicroUsd: '500000000', claimsPerHourMicroUsd: '5000000000' },
      chains: Object.fromEntries(markets.map(({ chainKey }) => [chainKey, solverPolicy])),
    },
    [`allocator.${environment}.json`]: {
      ...{ environment, firstBlock: 0, maxFeePerGasWei: '50000000000' },
      depositories: markets.map(({ chainKey, usdc }) => ({
        ...{ chain: chainKey, caps: { [usdc]: '150000000000' } },
      })),
    },
  }
}

function chainEntry({ chainKey, chainId }: Market): object {
  const name = chainKey.toUpperCase()
  return {
    ...{ id: chainKey, vmType: 'ethereum-vm', httpRpcUrl: `$${name}_RPC_URL`, depository: nowhere },
    ...{ fillContracts: [], signingCaps: `$${name}_SIGNING_CAPS`, hubChainId: String(chainId) },
    finality: { mode: 'depth-and-time', blocks: 2, seconds: 0 },
  }
}

const solverPolicy = {
  ...{ maxFeePerGasWei: '5000000000', bumpAfterSeconds: 30 },
  ...{ gasPerHourWei: '20000000000000000', relayGasPerHourWei: '10000000000000000' },
  floors: [{ currency: nowhere, amount: '10000000000000000' }],
}

function quoteFile({ base, optimism }: Markets): object {
  const price = (key: 'ETH/USD' | 'USDC/USD', assetClass: string) => ({
    ...{ key, class: assetClass },
    feeds: [
      {
        ...{ chain: 'base', address: base.feeds[key], description: key.replace('/', ' / ') },
        ...{ decimals: 8, heartbeatSeconds: 3_600, source },
      },
    ],
    http: [{ adapter: 'defillama', id: rehearsedCoins[key] }],
  })
  return {
    environment,
    servers: [
      { url: '$MAINNETS_BASE_URL', description: 'Mainnets' },
      { url: '$TESTNETS_BASE_URL', description: 'Testnets' },
    ],
    fillWallet: '$FILL_WALLET_ADDRESS',
    schedule: { flatMicroUsd: '20000', sameAssetBps: 0, stableBps: 1, majorBps: 6, longtailBps: 15 },
    ...{ orderLifetimeSeconds: 3_600, quoteLifetimeSeconds: 60, swapImpactMaxBps: 500 },
    rateLimits: { perKeyPerSecond: 50, perIpPerSecond: 10 },
    assets: [
      { id: 'usdc', class: 'stable', priceKey: 'USDC/USD', inventory },
      { id: 'eth', class: 'major', priceKey: 'ETH/USD', inventory },
    ],
    prices: [price('USDC/USD', 'stable'), price('ETH/USD', 'major')],
    chains: { base: quoteChain(base, 'Base'), optimism: quoteChain(optimism, 'OP Mainnet') },
  }
}

function quoteChain(market: Market, displayName: string): object {
  const { chainKey, chainId, multicall3, wrappedNative, gasPriceOracle, usdc } = market
  const held = { solver: true, targetShareBps: 5_000, source }
  return {
    ...{ chainId, name: chainKey, displayName, blockTimeMs: 2_000, headMaxAgeMs: 15_000 },
    ...{ multicall3, wrappedNative },
    feeModel: { kind: 'op-stack', gasPriceOracle },
    pinPolicy: [{ upToMicroUsd: '1000000000', blocks: 0 }, { blocks: 1 }],
    currencies: [
      { address: nowhere, symbol: 'ETH', name: 'Ether', decimals: 18, asset: 'eth', ...held },
      {
        ...{ address: wrappedNative, symbol: 'WETH', name: 'Wrapped Ether' },
        ...{ decimals: 18, asset: 'eth', source },
      },
      {
        ...{ address: usdc, symbol: 'USDC', name: 'USD Coin', decimals: 6, asset: 'usdc' },
        ...{ permit: 'eip3009', ...held },
      },
    ],
  }
}
