import { deploymentSalt, planDeployment } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, zeroAddress } from 'viem'
import { priceFeedAbi, tokenAbi } from '../contracts/abis.generated.ts'
import type { Artifacts } from '../contracts/artifacts.ts'
import { type ChainDeployment, type FeedKey, forEachFeed } from '../contracts/deployment.ts'
import { marketPlan } from '../deploy/contractPlan.ts'
import { deployMissing, initializeMissing } from '../deploy/deployContracts.ts'
import { fundNative } from '../deploy/fundAccounts.ts'
import { initialFeedAnswers } from '../deploy/funding.ts'
import {
  gasPriceOracleAddress,
  initialRollupFees,
  multicall3Address,
  placeGasPriceOracle,
  placeMulticall3,
} from '../deploy/predeploys.ts'
import { plannedPublicContracts } from '../deploy/publicContracts.ts'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'

/** Salt of the contracts of a rehearsal, and the name of its environment. */
export const rehearsalEnvironment = 'rehearsal'

/** Contracts of others on a chain before the rehearsed operator deploys anything. */
export type RehearsedMarket = Pick<
  ChainDeployment,
  'chainKey' | 'chainId' | 'multicall3' | 'wrappedNative' | 'gasPriceOracle' | 'feeds'
> & { readonly usdc: Hex }

/** Accounts of the people around the rehearsed operator. */
export type RehearsalAccounts = {
  /** Has coins and USDC on every chain, and funds the operator's accounts. */
  readonly treasury: LocalAccount
  /** Publishes what feeds answer. */
  readonly keeper: LocalAccount
  /** Integrator whose balance pays fees. */
  readonly sponsor: LocalAccount
  /** Sender of deposits. */
  readonly user: LocalAccount
  /** Receives top-ups, and sends nothing. */
  readonly custody: LocalAccount
}

const weiPerCoin = 10n ** 18n
const unitsPerUsdc = 10n ** 6n

/** Addresses of market and operator's contracts that depend on no key: other environments refuse them. */
export function rehearsedAddresses(artifacts: Artifacts): readonly Hex[] {
  const { wrappedNative, tokens, feeds } = marketPlan(artifacts, deploymentSalt(rehearsalEnvironment))
  const operatorContracts = planDeployment(rehearsalEnvironment, { depository: zeroAddress })
  const keyless = ['FillContract', 'CleanupRouter', 'Permit2Router']
  return [
    ...[wrappedNative, ...Object.values(tokens), ...Object.values(feeds)].map(({ address }) => address),
    ...operatorContracts.filter(({ name }) => keyless.includes(name)).map(({ address }) => address),
  ]
}

/** Deploys wrapped coin, USDC, feeds, Multicall3, the rollup's fee oracle and Permit2, and funds the accounts. */
export async function deployMarket(
  chain: LocalChain,
  chainKey: ChainDeployment['chainKey'],
  { artifacts, accounts }: { readonly artifacts: Artifacts; readonly accounts: RehearsalAccounts },
): Promise<RehearsedMarket> {
  const { treasury, keeper, sponsor, user } = accounts
  const plan = marketPlan(artifacts, deploymentSalt(rehearsalEnvironment))
  await Promise.all([
    placeMulticall3(chain, artifacts),
    placeGasPriceOracle(chain, artifacts, { keeper: keeper.address, fees: initialRollupFees[chainKey] }),
    fundCoin(chain, accounts),
  ])
  const { USDC } = plan.tokens
  const feeds = Object.values(plan.feeds)
  await deployMissing(chain, treasury, [plan.wrappedNative, USDC, ...feeds, ...plannedPublicContracts()])
  const feed = (key: FeedKey) => ({
    contract: plan.feeds[key],
    data: encodeFunctionData({
      abi: priceFeedAbi,
      functionName: 'initialize',
      args: [keeper.address, initialFeedAnswers[key]],
    }),
  })
  await initializeMissing(chain, treasury, [
    {
      contract: USDC,
      data: encodeFunctionData({ abi: tokenAbi, functionName: 'initialize', args: [treasury.address] }),
    },
    ...Object.values(forEachFeed(feed)),
  ])
  const minted = [
    { to: treasury.address, amount: 10_000_000n * unitsPerUsdc },
    { to: sponsor.address, amount: 1_000n * unitsPerUsdc },
    { to: user.address, amount: 1_000n * unitsPerUsdc },
  ]
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [minted] })
  await chain.send(treasury, [{ what: 'mint of USDC', to: USDC.address, data }])
  return {
    chainKey,
    chainId: chain.chainId,
    multicall3: multicall3Address,
    wrappedNative: plan.wrappedNative.address,
    gasPriceOracle: gasPriceOracleAddress,
    usdc: USDC.address,
    feeds: forEachFeed((key) => plan.feeds[key].address),
  }
}

/** Coins for the accounts that send transactions. */
export async function fundCoin(
  chain: LocalChain,
  { treasury, keeper, sponsor, user }: RehearsalAccounts,
): Promise<void> {
  const grant = (account: LocalAccount, coins: bigint) => ({
    account,
    nativeWei: coins * weiPerCoin,
    tokens: { USDC: 0n, USDX: 0n, TIDE: 0n },
  })
  await fundNative(chain, [grant(treasury, 1_000n), grant(keeper, 100n), grant(sponsor, 1n), grant(user, 1n)])
}
