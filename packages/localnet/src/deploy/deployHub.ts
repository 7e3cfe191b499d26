import { allocatorAbi, genericMappingAbi, hubAbi, hubOracleAbi, oracleMultisigAbi } from '@causeway/contracts'
import { derivedHubChainId, tronEvmAddress } from '@causeway/core'
import { encodeFunctionData } from 'viem'
import type { Artifacts } from '../contracts/artifacts.ts'
import { type HubDeployment, localChainIds } from '../contracts/deployment.ts'
import { familyDepositories, tronChainId } from '../families/familyPlans.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import { hubPlan, userChainPlan } from './contractPlan.ts'
import { deployMissing, initializeMissing } from './deployContracts.ts'
import { fundNative } from './fundAccounts.ts'
import { hubGrants } from './funding.ts'
import { placeMulticall3 } from './predeploys.ts'

/** Signatures an execution needs of the three oracles. @source design.md 7.1 */
const oracleThreshold = 2n

/**
 * Hub ledger, oracle contract, multisig of the three oracles, generic mapping and allocator. Only the oracle
 * contract operates the ledger, and only the multisig speaks to the oracle contract.
 */
export async function deployHub(
  chain: LocalChain,
  artifacts: Artifacts,
  keys: LocalKeys,
): Promise<HubDeployment> {
  const plan = hubPlan(artifacts)
  const owner = keys.deployer.address
  await Promise.all([placeMulticall3(chain, artifacts), fundNative(chain, hubGrants(keys))])
  await deployMissing(chain, keys.deployer, Object.values(plan))
  const { depository } = userChainPlan(artifacts)
  const families = familyDepositories(depository.address)
  const evmBuilder = { depository: depository.address, builder: plan.evmPayloadBuilder.address }
  const familyBuilder = (id: 'solana' | 'bitcoin' | 'hyperliquid' | 'lighter') => ({
    chainId: derivedHubChainId(id),
    ...{ depository: families[id], builder: plan[`${id}PayloadBuilder`].address },
  })
  const builders = [
    { chainId: BigInt(localChainIds.base), ...evmBuilder },
    { chainId: BigInt(localChainIds.optimism), ...evmBuilder },
    // Requests spell Tron's accounts as 20 bytes.
    { ...evmBuilder, chainId: tronChainId, depository: tronEvmAddress(families.tron) },
    familyBuilder('solana'),
    familyBuilder('bitcoin'),
    familyBuilder('hyperliquid'),
    familyBuilder('lighter'),
  ]
  const signers = keys.oracles.map(({ address }) => address)
  await initializeMissing(chain, keys.deployer, [
    {
      contract: plan.hub,
      data: encodeFunctionData({
        abi: hubAbi,
        functionName: 'initialize',
        args: [owner, plan.oracle.address],
      }),
    },
    {
      contract: plan.oracle,
      data: encodeFunctionData({
        abi: hubOracleAbi,
        functionName: 'initialize',
        args: [owner, plan.oracleMultisig.address],
      }),
    },
    {
      contract: plan.oracleMultisig,
      data: encodeFunctionData({
        abi: oracleMultisigAbi,
        functionName: 'initialize',
        args: [owner, signers, oracleThreshold],
      }),
    },
    {
      contract: plan.genericMapping,
      data: encodeFunctionData({
        abi: genericMappingAbi,
        functionName: 'initialize',
        args: [owner, owner, plan.oracleMultisig.address],
      }),
    },
    {
      contract: plan.allocator,
      data: encodeFunctionData({
        abi: allocatorAbi,
        functionName: 'initialize',
        args: [owner, plan.oracleMultisig.address, keys.allocator.address, builders],
      }),
    },
  ])
  return {
    chainId: chain.chainId,
    hub: plan.hub.address,
    oracle: plan.oracle.address,
    oracleMultisig: plan.oracleMultisig.address,
    genericMapping: plan.genericMapping.address,
    allocator: plan.allocator.address,
    evmPayloadBuilder: plan.evmPayloadBuilder.address,
    solanaPayloadBuilder: plan.solanaPayloadBuilder.address,
    bitcoinPayloadBuilder: plan.bitcoinPayloadBuilder.address,
    hyperliquidPayloadBuilder: plan.hyperliquidPayloadBuilder.address,
    lighterPayloadBuilder: plan.lighterPayloadBuilder.address,
  }
}
