import {
  type Deployable,
  deploymentSalt,
  type ExistingContracts,
  type PaidDepository,
  type PlannedDeployment,
  planCreate2Deployment,
  planDeployment,
  planDepository,
  planSettlement,
  type SettlementPlan,
} from '@causeway/contracts'
import { bytesToHex, derivedHubChainId, type Hex } from '@causeway/core'
import { solanaCodec, tronEvmAddress } from '@causeway/core/encodings'
import { deriveProgramAddresses } from '@causeway/families/rules'
import { encodeDeployData, zeroAddress } from 'viem'
import { priceFeedAbi, tokenAbi, wrappedNativeAbi } from '../contracts/abis.generated.ts'
import type { Artifacts } from '../contracts/artifacts.ts'
import { type FeedKey, forEachFeed, localChainIds, type TokenSymbol } from '../contracts/deployment.ts'
import {
  familyDepositories,
  hyperliquidNetwork,
  lighterChainId,
  solanaDomain,
  tronChainId,
} from '../families/familyPlans.ts'
import { zeroSalt } from '../uniswap/create2.ts'
import { multicall3Address } from './predeploys.ts'

/** A contract that goes through the CREATE2 proxy: its address depends on its salt and code alone. */
export type PlannedContract = Deployable & { readonly what: string }

/** Tokens and feeds of one user chain. */
export type MarketPlan = {
  readonly wrappedNative: PlannedContract
  readonly tokens: Readonly<Record<TokenSymbol, PlannedContract>>
  readonly feeds: Readonly<Record<FeedKey, PlannedContract>>
}

export type UserChainPlan = MarketPlan & {
  readonly depository: PlannedContract & PlannedDeployment
  readonly fillContract: PlannedContract
  readonly cleanupRouter: PlannedContract
}

/** Environment whose name is the salt of an operator's contracts on local chains. */
export const localEnvironment = 'local'

/**
 * Everybody may call through it, so no address depends on a key of one machine. Where nobody else sends
 * transactions that is safe; elsewhere the initializer is an account.
 */
const initializer = multicall3Address

/**
 * Contracts that others have deployed on both user chains before an operator comes: equal on every machine, because
 * nothing in it depends on a key. @param salt another one for every kind of network, so that they share no address
 */
export function marketPlan(artifacts: Artifacts, salt: Hex): MarketPlan {
  const plan = (subject: string, initCode: Hex) => ({
    what: subject,
    ...planCreate2Deployment(salt, initCode),
  })
  const token = (name: string, symbol: TokenSymbol, decimals: number, version: string) =>
    plan(
      symbol,
      encodeDeployData({
        abi: tokenAbi,
        bytecode: artifacts.Token.bytecode,
        args: [name, symbol, decimals, version],
      }),
    )
  const feed = (key: FeedKey) =>
    plan(
      `${key} feed`,
      encodeDeployData({
        abi: priceFeedAbi,
        bytecode: artifacts.PriceFeed.bytecode,
        args: [key.replace('/', ' / ')],
      }),
    )
  return {
    wrappedNative: plan(
      'wrapped native',
      encodeDeployData({ abi: wrappedNativeAbi, bytecode: artifacts.WrappedNative.bytecode }),
    ),
    tokens: {
      USDC: token('USD Coin', 'USDC', 6, '2'),
      USDX: token('USD X', 'USDX', 6, '1'),
      TIDE: token('Tide', 'TIDE', 18, '1'),
    },
    feeds: forEachFeed(feed),
  }
}

/** Contracts of both user chains, with equal addresses on every machine. */
export function userChainPlan(artifacts: Artifacts): UserChainPlan {
  return {
    depository: named(localDepository()),
    fillContract: quotingContract('FillContract', { depository: zeroAddress }),
    cleanupRouter: quotingContract('CleanupRouter', { depository: zeroAddress }),
    ...marketPlan(artifacts, zeroSalt),
  }
}

export type TronPlan = {
  readonly depository: PlannedContract & PlannedDeployment
  readonly fillContract: PlannedContract
  readonly usdc: PlannedContract
}

/** Makes addresses of its own out of the same code. */
const tronEnvironment = 'local.tron'

export function tronPlan(artifacts: Artifacts): TronPlan {
  const { tokens } = marketPlan(artifacts, deploymentSalt(tronEnvironment))
  return {
    depository: named(tronDepository()),
    fillContract: quotingContract('FillContract', { depository: zeroAddress }, tronEnvironment),
    usdc: { ...tokens.USDC, what: 'USDC of Tron' },
  }
}

function tronDepository(): PlannedDeployment {
  return planDepository(tronEnvironment, initializer)
}

/** On each user chain. */
function localDepository(): PlannedDeployment {
  return planDepository(localEnvironment, initializer)
}

/** Apart from the rest, because they need the depository's address, and one of them the swap router's. */
export function routerPlan(around: Required<ExistingContracts>): {
  readonly depositRouter: PlannedContract
  readonly depositAddresses: PlannedContract
  readonly permitRouter: PlannedContract
  readonly permit2Router: PlannedContract
} {
  return {
    depositRouter: quotingContract('DepositRouter', around),
    depositAddresses: quotingContract('DepositAddresses', around),
    permitRouter: quotingContract('PermitRouter', around),
    permit2Router: quotingContract('Permit2Router', around),
  }
}

/**
 * Depositories that the allocator of a local network pays from.
 * @param own depositories of families in place of the planned ones
 */
export function paidDepositories(
  own: Partial<Record<'solana' | 'hyperliquid', string>> = {},
): readonly PaidDepository[] {
  const depository = localDepository().address
  const families = { ...familyDepositories(tronDepository().address), ...own }
  const evm = { depository, builder: { name: 'EvmPayloadBuilder' } } as const
  const family = (id: 'solana' | 'bitcoin' | 'hyperliquid' | 'lighter') => ({
    ...{ chainId: derivedHubChainId(id), depository: families[id] },
  })
  return [
    { chainId: BigInt(localChainIds.base), ...evm },
    { chainId: BigInt(localChainIds.optimism), ...evm },
    // Requests spell Tron's accounts as 20 bytes.
    { ...evm, chainId: tronChainId, depository: tronEvmAddress(families.tron) },
    {
      ...family('solana'),
      builder: {
        ...{ name: 'SolanaPayloadBuilder', domain: solanaDomain },
        vault: bytesToHex(solanaCodec.encodeAddress(deriveProgramAddresses(families.solana).vault)),
      },
    },
    { ...family('bitcoin'), builder: { name: 'BitcoinPayloadBuilder' } },
    {
      ...family('hyperliquid'),
      builder: {
        ...{ name: 'HyperliquidPayloadBuilder', networkName: hyperliquidNetwork.name },
        tokens: hyperliquidNetwork.tokens,
      },
    },
    { ...family('lighter'), builder: { name: 'LighterPayloadBuilder', networkId: lighterChainId } },
  ]
}

export function hubPlan(depositories = paidDepositories()): SettlementPlan {
  return planSettlement(localEnvironment, initializer, depositories)
}

/** As an operator's command plans it. */
function quotingContract(
  name: PlannedDeployment['name'],
  around: ExistingContracts,
  environment = localEnvironment,
): PlannedContract {
  const plannedContract = planDeployment(environment, around).find((contract) => contract.name === name)
  if (plannedContract === undefined) throw new Error(`${name} is not planned`)
  return named(plannedContract)
}

export function named(contract: PlannedDeployment): PlannedContract & PlannedDeployment {
  return { what: contract.name, ...contract }
}
