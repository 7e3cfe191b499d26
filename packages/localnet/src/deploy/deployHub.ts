import {
  allocatorAbi,
  initializeContracts,
  type PlannedDeployment,
  settlementInitializations,
} from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import type { Artifacts } from '../contracts/artifacts.ts'
import type { HubDeployment } from '../contracts/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import { hubPlan, localEnvironment, paidDepositories, withName } from './contractPlan.ts'
import { deployMissing, deploymentChain } from './deployContracts.ts'
import { fundNative } from './fundAccounts.ts'
import { hubGrants } from './funding.ts'
import { placeMulticall3 } from './predeploys.ts'

/** Signatures an execution needs of the three oracles. */
const oracleThreshold = 2

/** Deploys the hub ledger, oracle contract, multisig of the three oracles, generic mapping, allocator and its builders. */
export async function deployHub(
  chain: LocalChain,
  artifacts: Artifacts,
  keys: LocalKeys,
): Promise<HubDeployment> {
  const plan = hubPlan()
  const { builders, ...contracts } = plan
  const owner = keys.deployer.address
  await Promise.all([placeMulticall3(chain, artifacts), fundNative(chain, hubGrants(keys))])
  await deployMissing(chain, keys.deployer, [...Object.values(contracts), ...builders].map(withName))
  const parties = {
    owner,
    mappingOperator: owner,
    oracles: keys.oracles.map(({ address }) => address),
    oracleThreshold,
    allocatorSigner: keys.allocator.address,
    depositories: paidDepositories(),
  }
  await initializeContracts(
    deploymentChain(chain, keys.deployer, ({ to }) => `initialization of ${to}`),
    settlementInitializations(localEnvironment, plan, parties),
  )
  return {
    chainId: chain.chainId,
    hub: contracts.hub.address,
    oracle: contracts.oracle.address,
    oracleMultisig: contracts.oracleMultisig.address,
    genericMapping: contracts.genericMapping.address,
    allocator: contracts.allocator.address,
    evmPayloadBuilder: addressOf(builders, 'EvmPayloadBuilder'),
    solanaPayloadBuilder: addressOf(builders, 'SolanaPayloadBuilder'),
    bitcoinPayloadBuilder: addressOf(builders, 'BitcoinPayloadBuilder'),
    hyperliquidPayloadBuilder: addressOf(builders, 'HyperliquidPayloadBuilder'),
    lighterPayloadBuilder: addressOf(builders, 'LighterPayloadBuilder'),
  }
}

/** Lets the allocator of a deployed hub pay from further depositories, those of a test's own stand-ins. */
export async function addDepositories(
  chain: LocalChain,
  deployer: LocalKeys['deployer'],
  { allocator }: Pick<HubDeployment, 'allocator'>,
  replacing: NonNullable<Parameters<typeof paidDepositories>[0]>,
): Promise<void> {
  const depositories = paidDepositories(replacing)
  const { builders } = hubPlan(depositories)
  await deployMissing(chain, deployer, builders.map(withName))
  const { publicClient, walletClient } = chain.as(deployer)
  const added = depositories.filter(({ depository }) => Object.values(replacing).includes(depository))
  for (const { chainId, depository, builder } of added) {
    const { request } = await publicClient.simulateContract({
      address: allocator,
      abi: allocatorAbi,
      functionName: 'setBuilder',
      args: [chainId, depository, addressOf(builders, builder.name)],
      account: walletClient.account,
    })
    await publicClient.waitForTransactionReceipt({ hash: await walletClient.writeContract(request) })
  }
}

function addressOf(builders: readonly PlannedDeployment[], name: PlannedDeployment['name']): Hex {
  const planned = builders.find((builder) => builder.name === name)
  if (planned === undefined) throw new Error(`${name} is not planned`)
  return planned.address
}
