import {
  allocatorAbi,
  bitcoinPayloadBuilderAbi,
  type DeployedName,
  deploymentPlan,
  depositoryAbi,
  evmPayloadBuilderAbi,
  genericMappingAbi,
  hubAbi,
  hubOracleAbi,
  hyperliquidPayloadBuilderAbi,
  lighterPayloadBuilderAbi,
  oracleMultisigAbi,
  type Surroundings,
  solanaPayloadBuilderAbi,
} from '@causeway/contracts'
import { bytesToHex, type Hex, solanaCodec } from '@causeway/core'
import { encodeDeployData, zeroAddress } from 'viem'
import { priceFeedAbi, tokenAbi, wrappedNativeAbi } from '../contracts/abis.generated.ts'
import type { Artifacts } from '../contracts/artifacts.ts'
import type { ChainDeployment, TokenSymbol } from '../contracts/deployment.ts'
import { hyperliquidNetwork, lighterChainId, solanaDomain, solanaVault } from '../families/familyPlans.ts'
import { create2Address } from '../uniswap/create2.ts'

/** A contract that goes through the CREATE2 proxy: its address depends on this code alone. */
export type PlannedContract = {
  readonly what: string
  readonly initCode: Hex
  readonly address: Hex
  /** Zero unless it is what an operator deploys: those have a salt of their environment. */
  readonly salt?: Hex
}

export type FeedKey = keyof ChainDeployment['feeds']

export type UserChainPlan = {
  readonly depository: PlannedContract
  readonly fillContract: PlannedContract
  readonly cleanupRouter: PlannedContract
  readonly wrappedNative: PlannedContract
  readonly tokens: Readonly<Record<TokenSymbol, PlannedContract>>
  readonly feeds: Readonly<Record<FeedKey, PlannedContract>>
}

export type HubPlan = {
  readonly hub: PlannedContract
  readonly oracle: PlannedContract
  readonly oracleMultisig: PlannedContract
  readonly genericMapping: PlannedContract
  readonly allocator: PlannedContract
  readonly evmPayloadBuilder: PlannedContract
  readonly solanaPayloadBuilder: PlannedContract
  readonly bitcoinPayloadBuilder: PlannedContract
  readonly hyperliquidPayloadBuilder: PlannedContract
  readonly lighterPayloadBuilder: PlannedContract
}

/** The same on both user chains, and on every machine: nothing in it depends on a key. */
export function userChainPlan(artifacts: Artifacts): UserChainPlan {
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
    depository: plan(
      'depository',
      encodeDeployData({ abi: depositoryAbi, bytecode: artifacts.Depository.bytecode }),
    ),
    fillContract: shipped('FillContract', { depository: zeroAddress }),
    cleanupRouter: shipped('CleanupRouter', { depository: zeroAddress }),
    wrappedNative: plan(
      'wrapped native',
      encodeDeployData({ abi: wrappedNativeAbi, bytecode: artifacts.WrappedNative.bytecode }),
    ),
    tokens: {
      USDC: token('USD Coin', 'USDC', 6, '2'),
      USDX: token('USD X', 'USDX', 6, '1'),
      TIDE: token('Tide', 'TIDE', 18, '1'),
    },
    feeds: {
      'ETH/USD': feed('ETH/USD'),
      'USDC/USD': feed('USDC/USD'),
      'USDX/USD': feed('USDX/USD'),
      'TIDE/USD': feed('TIDE/USD'),
    },
  }
}

/** Apart from the rest, because they need the depository's address, and one of them the swap router's. */
export function routerPlan(around: Required<Surroundings>): {
  readonly depositRouter: PlannedContract
  readonly depositAddresses: PlannedContract
  readonly permitRouter: PlannedContract
  readonly permit2Router: PlannedContract
} {
  return {
    depositRouter: shipped('DepositRouter', around),
    depositAddresses: shipped('DepositAddresses', around),
    permitRouter: shipped('PermitRouter', around),
    permit2Router: shipped('Permit2Router', around),
  }
}

/** As an operator's command plans it, for the environment of local networks. */
function shipped(name: DeployedName, around: Surroundings): PlannedContract {
  const found = deploymentPlan('local', around).find((contract) => contract.name === name)
  if (found === undefined) throw new Error(`${name} is not planned`)
  return { what: name, ...found }
}

export function hubPlan(artifacts: Artifacts): HubPlan {
  const hub = plan('hub', encodeDeployData({ abi: hubAbi, bytecode: artifacts.Hub.bytecode }))
  return {
    hub,
    oracle: plan(
      'oracle contract',
      encodeDeployData({ abi: hubOracleAbi, bytecode: artifacts.HubOracle.bytecode, args: [hub.address] }),
    ),
    oracleMultisig: plan(
      'oracle multisig',
      encodeDeployData({ abi: oracleMultisigAbi, bytecode: artifacts.OracleMultisig.bytecode }),
    ),
    genericMapping: plan(
      'generic mapping',
      encodeDeployData({ abi: genericMappingAbi, bytecode: artifacts.GenericMapping.bytecode }),
    ),
    allocator: plan(
      'allocator',
      encodeDeployData({ abi: allocatorAbi, bytecode: artifacts.Allocator.bytecode }),
    ),
    evmPayloadBuilder: plan(
      'payload builder for EVM chains',
      encodeDeployData({ abi: evmPayloadBuilderAbi, bytecode: artifacts.EvmPayloadBuilder.bytecode }),
    ),
    solanaPayloadBuilder: plan(
      'payload builder for Solana',
      encodeDeployData({
        abi: solanaPayloadBuilderAbi,
        bytecode: artifacts.SolanaPayloadBuilder.bytecode,
        args: [solanaDomain, bytesToHex(solanaCodec.encodeAddress(solanaVault))],
      }),
    ),
    bitcoinPayloadBuilder: plan(
      'payload builder for Bitcoin',
      encodeDeployData({
        abi: bitcoinPayloadBuilderAbi,
        bytecode: artifacts.BitcoinPayloadBuilder.bytecode,
      }),
    ),
    hyperliquidPayloadBuilder: plan(
      'payload builder for Hyperliquid',
      encodeDeployData({
        abi: hyperliquidPayloadBuilderAbi,
        bytecode: artifacts.HyperliquidPayloadBuilder.bytecode,
        args: [hyperliquidNetwork.name, hyperliquidNetwork.tokens],
      }),
    ),
    lighterPayloadBuilder: plan(
      'payload builder for Lighter',
      encodeDeployData({
        abi: lighterPayloadBuilderAbi,
        bytecode: artifacts.LighterPayloadBuilder.bytecode,
        args: [lighterChainId],
      }),
    ),
  }
}

function plan(what: string, initCode: Hex): PlannedContract {
  return { what, initCode, address: create2Address(initCode) }
}
