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

/** A contract that goes through the CREATE2 proxy: its address depends on its salt and code alone. `what` names it. */
export type PlannedContract = Deployable & { readonly what: string }

/** Tokens and feeds of one user chain. */
export type MarketPlan = {
  readonly wrappedNative: PlannedContract
  readonly tokens: Readonly<Record<TokenSymbol, PlannedContract>>
  readonly feeds: Readonly<Record<FeedKey, PlannedContract>>
}

/** The market and those contracts of an operator whose code needs no other contract's address. */
export type UserChainPlan = MarketPlan & {
  readonly depository: PlannedContract & PlannedDeployment
  readonly fillContract: PlannedContract
  readonly cleanupRouter: PlannedContract
}

/** Environment whose name is the salt of an operator's contracts on local chains. */
export const localEnvironment = 'local'

/**
 * The account that may initialise the contracts, on which their addresses depend. Multicall3 has no key and
 * calls for anybody, so the addresses are equal on all machines. That is safe where nobody else sends
 * transactions.
 */
const initializer = multicall3Address

/**
 * Contracts that others have deployed before an operator comes: equal on every machine, because nothing in them
 * depends on a key. @param salt differs between kinds of networks, so that they share no address
 */
export function marketPlan(artifacts: Artifacts, salt: Hex): MarketPlan {
  const plan = (subject: string, initCode: Hex) => ({
    what: subject,
    ...planCreate2Deployment(salt, initCode),
  })
  const token = (name: string, symbol: TokenSymbol, decimals: number, domainVersion: string) =>
    plan(
      symbol,
      encodeDeployData({
        abi: tokenAbi,
        bytecode: artifacts.Token.bytecode,
        args: [name, symbol, decimals, domainVersion],
      }),
    )
  const feed = (key: FeedKey) =>
    plan(
      `${key} feed`,
      encodeDeployData({
        abi: priceFeedAbi,
        bytecode: artifacts.PriceFeed.bytecode,
        // The feed's `description`, as Chainlink writes it: `ETH / USD`.
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

/**
 * Contracts of both user chains, with equal addresses on every machine. Two of them do not use the
 * depository, so its address is left zero for them.
 */
export function userChainPlan(artifacts: Artifacts): UserChainPlan {
  return {
    depository: withName(localDepository()),
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

/** Salt of Tron's contracts: with it the same code has other addresses than on Base. */
const tronEnvironment = 'local.tron'

export function tronPlan(artifacts: Artifacts): TronPlan {
  const { tokens } = marketPlan(artifacts, deploymentSalt(tronEnvironment))
  return {
    depository: withName(tronDepository()),
    fillContract: quotingContract('FillContract', { depository: zeroAddress }, tronEnvironment),
    usdc: { ...tokens.USDC, what: 'USDC of Tron' },
  }
}

function tronDepository(): PlannedDeployment {
  return planDepository(tronEnvironment, initializer)
}

/** The depository of each user chain. */
function localDepository(): PlannedDeployment {
  return planDepository(localEnvironment, initializer)
}

/** Planned after the rest, because their code holds the depository's address, and one of them the swap router's. */
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
 * Depositories that the allocator of a local network pays from, each with the contract that builds its payloads.
 * @param replacing depositories of families in place of the planned ones
 */
export function paidDepositories(
  replacing: Partial<Record<'solana' | 'hyperliquid', string>> = {},
): readonly PaidDepository[] {
  const depository = localDepository().address
  const addresses = { ...familyDepositories(tronDepository().address), ...replacing }
  const evm = { depository, builder: { name: 'EvmPayloadBuilder' } } as const
  const family = (id: 'solana' | 'bitcoin' | 'hyperliquid' | 'lighter') => ({
    chainId: derivedHubChainId(id),
    depository: addresses[id],
  })
  return [
    { chainId: BigInt(localChainIds.base), ...evm },
    { chainId: BigInt(localChainIds.optimism), ...evm },
    // Requests spell Tron's accounts as 20 bytes.
    { ...evm, chainId: tronChainId, depository: tronEvmAddress(addresses.tron) },
    {
      ...family('solana'),
      builder: {
        name: 'SolanaPayloadBuilder',
        domain: solanaDomain,
        vault: bytesToHex(solanaCodec.encodeAddress(deriveProgramAddresses(addresses.solana).vault)),
      },
    },
    { ...family('bitcoin'), builder: { name: 'BitcoinPayloadBuilder' } },
    {
      ...family('hyperliquid'),
      builder: {
        name: 'HyperliquidPayloadBuilder',
        networkName: hyperliquidNetwork.name,
        tokens: hyperliquidNetwork.tokens,
      },
    },
    { ...family('lighter'), builder: { name: 'LighterPayloadBuilder', networkId: lighterChainId } },
  ]
}

export function hubPlan(depositories = paidDepositories()): SettlementPlan {
  return planSettlement(localEnvironment, initializer, depositories)
}

/** One contract of the plan that an operator's deployment follows. */
function quotingContract(
  name: PlannedDeployment['name'],
  around: ExistingContracts,
  environment = localEnvironment,
): PlannedContract {
  const plannedContract = planDeployment(environment, around).find((contract) => contract.name === name)
  if (plannedContract === undefined) throw new Error(`${name} is not planned`)
  return withName(plannedContract)
}

/** Names a contract in messages as its sources do. */
export function withName(contract: PlannedDeployment): PlannedContract & PlannedDeployment {
  return { what: contract.name, ...contract }
}
