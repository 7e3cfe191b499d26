import { depositoryInitialization, initializeContracts } from '@causeway/contracts'
import { encodeFunctionData, keccak256 } from 'viem'
import { priceFeedAbi, tokenAbi } from '../contracts/abis.generated.ts'
import type { Artifacts } from '../contracts/artifacts.ts'
import { type ChainDeployment, type FeedKey, forEachFeed } from '../contracts/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import { deployUniswapV3 } from '../uniswap/deployUniswapV3.ts'
import { type PlannedContract, routerPlan, type UserChainPlan, userChainPlan } from './contractPlan.ts'
import {
  deployMissing,
  deploymentChain,
  initializeMissing,
  type LocalInitialization,
} from './deployContracts.ts'
import { approveAll, fundNative, mintTokens } from './fundAccounts.ts'
import { initialFeedAnswers, userChainGrants } from './funding.ts'
import { openPools } from './openPools.ts'
import {
  gasPriceOracleAddress,
  initialRollupFees,
  multicall3Address,
  placeCalibur,
  placeGasPriceOracle,
  placeMulticall3,
} from './predeploys.ts'
import { plannedPublicContracts } from './publicContracts.ts'

/**
 * Brings one user chain to its first state: contracts, owners, balances, feeds, pools. What is already
 * there is left as it is, so a start on kept chain files changes nothing.
 */
export async function deployUserChain(
  chain: LocalChain,
  chainKey: ChainDeployment['chainKey'],
  { artifacts, keys }: { readonly artifacts: Artifacts; readonly keys: LocalKeys },
): Promise<ChainDeployment> {
  const plan = userChainPlan(artifacts)
  const { deployer } = keys
  const grants = userChainGrants(keys)
  await Promise.all([
    placeMulticall3(chain, artifacts),
    placeCalibur(chain),
    placeGasPriceOracle(chain, artifacts, { keeper: keys.keeper.address, fees: initialRollupFees[chainKey] }),
    fundNative(chain, grants),
  ])
  await deployMissing(chain, deployer, plannedContracts(plan))
  await initializeContracts(
    deploymentChain(chain, deployer, ({ to }) => `initialization of ${to}`),
    [
      depositoryInitialization(plan.depository, {
        owner: deployer.address,
        allocatorSigner: keys.allocator.address,
      }),
    ],
  )
  await initializeMissing(chain, deployer, initializations(plan, keys))

  const addresses = addressesOf(plan)
  await mintTokens(chain, deployer, { tokens: addresses.tokens, grants })
  await approveAll(chain, keys.fillWallet, { tokens: addresses.tokens, spender: addresses.fillContract })

  const { wrappedNative, depository } = addresses
  const uniswap = await deployUniswapV3({ ...chain.as(deployer), wrappedNative })
  const routers = routerPlan({ depository, wrappedNative, swapRouter: uniswap.swapRouter })
  await deployMissing(chain, deployer, [...Object.values(routers), ...plannedPublicContracts()])
  const pools = await openPools(chain, deployer, { uniswap, wrappedNative, tokens: addresses.tokens })
  return {
    chainKey,
    chainId: chain.chainId,
    ...addresses,
    depositRouter: routers.depositRouter.address,
    depositAddresses: {
      contract: routers.depositAddresses.address,
      sweepCodeHash: keccak256(artifacts.DepositSweep.bytecode),
    },
    permitRouter: {
      contract: routers.permitRouter.address,
      depositCodeHash: keccak256(artifacts.PermittedDeposit.bytecode),
    },
    permit2Router: routers.permit2Router.address,
    multicall3: multicall3Address,
    gasPriceOracle: gasPriceOracleAddress,
    uniswapV3: { ...uniswap, pools },
  }
}

function plannedContracts(plan: UserChainPlan): readonly PlannedContract[] {
  const { depository, fillContract, cleanupRouter, wrappedNative, tokens, feeds } = plan
  return [
    depository,
    fillContract,
    cleanupRouter,
    wrappedNative,
    ...Object.values(tokens),
    ...Object.values(feeds),
  ]
}

/** The deployer owns the tokens; the keeper owns the feeds. */
function initializations(plan: UserChainPlan, keys: LocalKeys): readonly LocalInitialization[] {
  const owner = keys.deployer.address
  const token = (contract: PlannedContract): LocalInitialization => ({
    contract,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'initialize', args: [owner] }),
  })
  const feed = (key: FeedKey): LocalInitialization => ({
    contract: plan.feeds[key],
    data: encodeFunctionData({
      abi: priceFeedAbi,
      functionName: 'initialize',
      args: [keys.keeper.address, initialFeedAnswers[key]],
    }),
  })
  return [...Object.values(plan.tokens).map(token), ...Object.values(forEachFeed(feed))]
}

function addressesOf(plan: UserChainPlan) {
  const { depository, fillContract, cleanupRouter, wrappedNative, tokens, feeds } = plan
  return {
    depository: depository.address,
    fillContract: fillContract.address,
    cleanupRouter: cleanupRouter.address,
    wrappedNative: wrappedNative.address,
    tokens: { USDC: tokens.USDC.address, USDX: tokens.USDX.address, TIDE: tokens.TIDE.address },
    feeds: forEachFeed((key) => feeds[key].address),
  }
}
