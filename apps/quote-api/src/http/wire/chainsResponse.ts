import type { Hex } from '@causeway/core'
import { families } from '@causeway/families/rules'
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import type { QuotableChain, QuotableCurrency, QuoteRegistry } from '../../pricing/registry.ts'
import { takesPermits } from '../../pricing/routes/permit.ts'
import type { ChainStops } from '../../requests/stops/chainStops.ts'
import type { CurrencyWire } from './currencyAmount.ts'

const currency = z.object({
  id: z.string(),
  symbol: z.string(),
  name: z.string(),
  address: z.string(),
  decimals: z.number(),
})

const logo = z.object({ logoURI: z.string().describe('As configured; empty where none is') })

export const explorerPathsSchema = z.object({
  transaction: z.string(),
  address: z.string(),
  token: z.string(),
})
/** Paths to append to `explorerUrl`; explorers of all families have the same. */
export const explorerPaths = { transaction: '/tx/{TX_HASH}', address: '/address/', token: '/token/' }

/** Order of the first `vmType` names in the OpenAPI description; names of further families follow. */
const listedFirst = ['bvm', 'evm', 'svm', 'tvm', 'hypevm', 'lvm']
const publicNames = new Set([...listedFirst, ...Object.values(families).map(({ publicName }) => publicName)])

/** One chain of GET /chains. @source rule Q-147 */
const chainSchema = z.object({
  id: z.number(),
  name: z.string(),
  displayName: z.string(),
  httpRpcUrl: z
    .string()
    .describe('A public endpoint, as configured; empty where none is: those of this service are not public'),
  wsRpcUrl: z.string(),
  explorerUrl: z.string(),
  explorerName: z.string(),
  explorerPaths: explorerPathsSchema,
  depositEnabled: z.boolean(),
  tokenSupport: z.enum(['All', 'Limited']),
  disabled: z.boolean(),
  partialDisableLimit: z.number(),
  blockProductionLagging: z.boolean(),
  currency: z.object({ ...currency.shape, supportsBridging: z.boolean() }),
  withdrawalFee: z.number(),
  depositFee: z.number(),
  surgeEnabled: z.boolean(),
  featuredTokens: z.array(z.object({ ...currency.shape, supportsBridging: z.boolean(), metadata: logo })),
  erc20Currencies: z.array(
    z.object({
      ...currency.shape,
      metadata: logo,
      supportsBridging: z.boolean(),
      supportsPermit: z.boolean(),
      withdrawalFee: z.number(),
      depositFee: z.number(),
      surgeEnabled: z.boolean(),
    }),
  ),
  solverCurrencies: z.array(currency),
  iconUrl: z.string(),
  contracts: z.object({
    multicall3: z.string().optional(),
    erc20Router: z
      .string()
      .optional()
      .describe(
        'Hands on what the calls of an order sent to it; it holds nothing, and nobody may allow it anything',
      ),
    v3: z.object({ erc20Router: z.string() }).optional(),
  }),
  vmType: z.enum([...publicNames]),
  baseChainId: z.number().nullable(),
  solverAddresses: z.array(z.string()),
  topUp: z
    .object({ address: z.string(), currency: z.string() })
    .optional()
    .describe(
      'Where sponsors top their balance up: a transfer of `currency` to `address`, with the wallet to credit behind its arguments',
    ),
  tags: z.array(z.string()),
  protocol: z.object({
    v2: z.object({ chainId: z.string(), depository: z.string() }),
  }),
})

export const chainsResponseSchema = z.object({ chains: z.array(chainSchema) })

export type ChainWire = z.infer<typeof chainSchema>

/** Dependencies of the answers about chains. */
export type ChainDirectory = {
  readonly registry: QuoteRegistry
  readonly snapshot: () => MarketSnapshot
  readonly fillWallet: string | undefined
  readonly stops: Pick<ChainStops, 'list'>
  readonly balances: {
    readonly sponsorCurrency: CurrencyWire
    readonly topUpAddress: Hex | undefined
  }
}

/** The chain as GET /chains lists it; members without a meaning here have fixed values. */
export function chainToWire(
  chain: QuotableChain,
  { snapshot, fillWallet, balances }: ChainDirectory,
): ChainWire {
  const { config, native } = chain
  const market = snapshot().chain(chain.chainId)
  const canBridge = (currency: QuotableCurrency) => currency.asset.inventory !== undefined
  const erc20s = [...chain.currencies.values()].filter((currency) => !currency.isNative)
  return {
    id: chain.chainId,
    name: config.name,
    displayName: config.displayName,
    httpRpcUrl: config.publicRpcUrl,
    wsRpcUrl: config.publicWebsocketUrl,
    explorerUrl: config.explorerUrl,
    explorerName: config.explorerName,
    explorerPaths,
    depositEnabled: config.enabled,
    tokenSupport: 'Limited',
    disabled: !config.enabled,
    partialDisableLimit: 0,
    blockProductionLagging: 'reason' in market && market.reason === 'stale_head',
    currency: { ...currencyToWire(native), supportsBridging: canBridge(native) },
    withdrawalFee: 0,
    depositFee: 0,
    surgeEnabled: false,
    featuredTokens: erc20s
      .filter(({ solver }) => solver)
      .map((token) => ({ ...currencyToWire(token), supportsBridging: canBridge(token), ...logoOf(token) })),
    erc20Currencies: erc20s.map((currency) => ({
      ...currencyToWire(currency),
      ...logoOf(currency),
      supportsBridging: canBridge(currency),
      supportsPermit: takesPermits(chain, currency),
      withdrawalFee: 0,
      depositFee: 0,
      surgeEnabled: false,
    })),
    solverCurrencies: chain.solverCurrencies.map(currencyToWire),
    iconUrl: config.iconUrl,
    contracts: contractsOf(config),
    vmType: families[chain.vmType].publicName,
    baseChainId: null,
    // The default fill wallet may be an address of another family, which cannot pay on this chain.
    solverAddresses: [config.fillWallet ?? fillWallet].flatMap((wallet) =>
      wallet !== undefined && chain.codec.isAddress(wallet) ? [wallet] : [],
    ),
    ...topUpOf(chain, balances),
    tags: [],
    protocol: { v2: { chainId: chain.key, depository: chain.depository } },
  }
}

function currencyToWire({ asset, symbol, name, address, decimals }: QuotableCurrency) {
  return { id: asset.id, symbol, name, address, decimals }
}

/**
 * Public clients look for the router under both names.
 * @source github.com/relayprotocol/relay-kit, packages/sdk/src/types/api.ts
 */
function contractsOf({ multicall3, cleanupRouter }: QuotableChain['config']): ChainWire['contracts'] {
  // Every chain that is read by contract calls has it; no other chain has contracts to name.
  if (multicall3 === undefined) return {}
  if (cleanupRouter === undefined) return { multicall3 }
  return { multicall3, erc20Router: cleanupRouter, v3: { erc20Router: cleanupRouter } }
}

/** Empty where none is configured: a default image of a third party would show it who views which token. */
function logoOf({ logoUri }: QuotableCurrency) {
  return { metadata: { logoURI: logoUri ?? '' } }
}

/** Present on the chain on which balances are topped up, if an account is watched for it. */
function topUpOf(
  { chainId }: QuotableChain,
  { sponsorCurrency, topUpAddress }: ChainDirectory['balances'],
): Pick<ChainWire, 'topUp'> {
  if (topUpAddress === undefined || sponsorCurrency.chainId !== chainId) return {}
  return { topUp: { address: topUpAddress, currency: sponsorCurrency.address } }
}
