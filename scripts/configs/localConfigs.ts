// Relative imports: parts of localnet that only scripts need.
import type {
  ChainDeployment,
  NetworkDeployment,
  PoolDeployment,
} from '../../packages/localnet/src/contracts/deployment.ts'
import { familyChainEntries, solanaAddressProgram } from '../../packages/localnet/src/families/familyPlans.ts'
import { localPicture } from '../../packages/localnet/src/families/localPicture.ts'
import { familyQuoteChains } from '../../packages/localnet/src/families/quotedFamilies.ts'
import type { RawConfigSet } from './configFiles.ts'

const source = 'local network'
const nativeCurrency = `0x${'0'.repeat(40)}`
const inventory = { kappaBps: 20, rewardCapBps: 10, maxSkewBps: 100, reserveBps: 500 }

/**
 * The three files of `ENVIRONMENT=local` for a deployed network. Endpoints and the fill wallet stay
 * placeholders: ports and keys differ from machine to machine, addresses do not.
 */
export function localConfigs(deployment: NetworkDeployment): RawConfigSet {
  const environment = 'local'
  return {
    chains: {
      $schema: './schema/chains.schema.json',
      environment,
      chains: [
        chainEntry(deployment.base),
        chainEntry(deployment.optimism),
        ...familyChainEntries(deployment.tron),
      ],
    },
    hub: {
      $schema: './schema/hub.schema.json',
      environment,
      id: 'relay',
      httpRpcUrl: '$RELAY_RPC_URL',
      evmChainId: deployment.hub.chainId,
      hubAddress: deployment.hub.hub,
      oracleAddress: deployment.hub.oracle,
      oracleVersion: '2',
      oracleMultisigAddress: deployment.hub.oracleMultisig,
      genericMappingAddress: deployment.hub.genericMapping,
      finality: { mode: 'depth', blocks: 2 },
      recoveryDelaySeconds: 60,
      // The local settlement chain is the hub itself.
      auroraEvmChainId: deployment.hub.chainId,
      auroraAllocatorAddress: deployment.hub.allocator,
      auroraAllocatorSpenderAddress: deployment.hub.allocator,
      auroraFinality: { mode: 'depth', blocks: 2 },
    },
    quote: { $schema: './schema/quote.schema.json', environment, ...quoteFile(deployment) },
  }
}

function chainEntry({ chainKey, chainId, depository, fillContract }: ChainDeployment): object {
  return {
    id: chainKey,
    vmType: 'ethereum-vm',
    httpRpcUrl: `$${chainKey.toUpperCase()}_RPC_URL`,
    wsRpcUrl: `$${chainKey.toUpperCase()}_WS_RPC_URL`,
    depository,
    fillContracts: [fillContract],
    hubChainId: String(chainId),
    finality: { mode: 'depth-and-time', blocks: 2, seconds: 0 },
  }
}

function quoteFile({ base, optimism, tron }: NetworkDeployment): object {
  return {
    servers: [{ url: '/', description: 'This local service' }],
    fillWallet: '$FILL_WALLET_ADDRESS',
    schedule: { flatMicroUsd: '20000', sameAssetBps: 0, stableBps: 1, majorBps: 6, longtailBps: 15 },
    orderLifetimeSeconds: 3_600,
    quoteLifetimeSeconds: 60,
    swapImpactMaxBps: 500,
    keylessPerMinute: { signatures: { perCaller: 0, all: 0 }, authorizations: { perCaller: 0, all: 0 } },
    rateLimits: { perKeyPerSecond: 0, perIpPerSecond: 0 },
    assets: [
      { id: 'usdc', class: 'stable', priceKey: 'USDC/USD', inventory },
      { id: 'usdx', class: 'stable', priceKey: 'USDX/USD' },
      { id: 'eth', class: 'major', priceKey: 'ETH/USD', inventory },
      { id: 'tide', class: 'longtail', priceKey: 'TIDE/USD' },
      { id: 'sol', class: 'major', priceKey: 'SOL/USD', inventory },
      { id: 'btc', class: 'major', priceKey: 'BTC/USD', inventory },
      { id: 'trx', class: 'major', priceKey: 'TRX/USD', inventory },
    ],
    prices: [
      // USDC has no pool as second source: every other price is measured against it.
      { key: 'USDC/USD', class: 'stable', feeds: [feed(base, 'USDC/USD')] },
      {
        key: 'USDX/USD',
        class: 'stable',
        feeds: [feed(base, 'USDX/USD')],
        pools: pricePools(base, base.tokens.USDX),
      },
      {
        key: 'ETH/USD',
        class: 'major',
        feeds: [feed(base, 'ETH/USD')],
        pools: pricePools(base, base.wrappedNative),
      },
      {
        key: 'TIDE/USD',
        class: 'longtail',
        feeds: [feed(base, 'TIDE/USD')],
        pools: pricePools(base, base.tokens.TIDE),
      },
      // No pool of these chains trades them.
      { key: 'SOL/USD', class: 'major', feeds: [feed(base, 'SOL/USD')] },
      { key: 'BTC/USD', class: 'major', feeds: [feed(base, 'BTC/USD')] },
      { key: 'TRX/USD', class: 'major', feeds: [feed(base, 'TRX/USD')] },
    ],
    chains: {
      base: quoteChain(base, 'Base (local)'),
      optimism: quoteChain(optimism, 'OP Mainnet (local)'),
      ...familyQuoteChains(tron, solanaAddressProgram, {
        native: { solver: true, targetShareBps: 10_000 },
        // A hundredth, as its account is funded: what chains weigh that have no share. So quotes between the first
        // two are the same where the others do not run.
        token: { solver: true, targetShareBps: 0 },
        source,
      }),
    },
  }
}

function feed(chain: ChainDeployment, key: keyof ChainDeployment['feeds']): object {
  return {
    chain: chain.chainKey,
    address: chain.feeds[key],
    description: key.replace('/', ' / '),
    decimals: 8,
    heartbeatSeconds: 3_600,
    source,
  }
}

/** The pool of a token against USDC with the lowest fee: arbitrage keeps it closest to the market. */
function pricePools(chain: ChainDeployment, token: string): readonly object[] {
  const holds = (pool: PoolDeployment, address: string) => pool.token0 === address || pool.token1 === address
  return chain.uniswapV3.pools
    .filter((pool) => holds(pool, token) && holds(pool, chain.tokens.USDC))
    .sort((one, other) => one.feePips - other.feePips)
    .slice(0, 1)
    .map((pool) => ({ chain: chain.chainKey, pool: pool.address, token }))
}

function quoteChain(chain: ChainDeployment, displayName: string): object {
  const { factory, quoterV2, swapRouter, pools } = chain.uniswapV3
  return {
    chainId: chain.chainId,
    name: chain.chainKey,
    displayName,
    publicRpcUrl: `$${chain.chainKey.toUpperCase()}_PUBLIC_ENDPOINT`,
    iconUrl: localPicture(displayName),
    blockTimeMs: 2_000,
    headMaxAgeMs: 15_000,
    multicall3: chain.multicall3,
    wrappedNative: chain.wrappedNative,
    fillContract: chain.fillContract,
    cleanupRouter: chain.cleanupRouter,
    depositRouter: chain.depositRouter,
    depositAddresses: chain.depositAddresses,
    permitRouter: chain.permitRouter,
    permit2Router: chain.permit2Router,
    // Idle development nodes let the base fee fall to nothing, and whoever tests sets it at will.
    feeModel: { kind: 'op-stack', gasPriceOracle: chain.gasPriceOracle, ceilingFromWei: '10000000000' },
    uniswapV3: {
      factory,
      quoterV2,
      swapRouter,
      pools: pools.map(({ address, token0, token1, feePips, tickSpacing }) => ({
        address,
        token0,
        token1,
        feePips,
        tickSpacing,
      })),
      fallbackFeeTiers: [100, 500, 3_000, 10_000],
      source,
    },
    pinPolicy: [{ upToMicroUsd: '1000000000', blocks: 0 }, { blocks: 1 }],
    currencies: currencies(chain),
  }
}

/** The solver holds ETH and USDC, half of each on either chain; USDX and TIDE are swapped in pools. */
function currencies({ chainKey, wrappedNative, tokens }: ChainDeployment): readonly object[] {
  const held = { solver: true, targetShareBps: 5_000 }
  // The tokens take both kinds: each chain uses another one, so that both are in use.
  const permit = chainKey === 'base' ? 'eip3009' : 'eip2612'
  return [
    {
      address: nativeCurrency,
      symbol: 'ETH',
      name: 'Ether',
      decimals: 18,
      asset: 'eth',
      ...held,
      source: 'native currency',
    },
    { address: wrappedNative, symbol: 'WETH', name: 'Wrapped Ether', decimals: 18, asset: 'eth', source },
    {
      address: tokens.USDC,
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      asset: 'usdc',
      ...held,
      permit,
      source,
    },
    { address: tokens.USDX, symbol: 'USDX', name: 'USD X', decimals: 6, asset: 'usdx', permit, source },
    { address: tokens.TIDE, symbol: 'TIDE', name: 'Tide', decimals: 18, asset: 'tide', permit, source },
  ]
}
