import { depositoryInitialization, initializeContracts } from '@causeway/contracts'
import { encodeFunctionData } from 'viem'
import { tokenAbi } from '../contracts/abis.generated.ts'
import type { Artifacts } from '../contracts/artifacts.ts'
import type { TronDeployment } from '../contracts/deployment.ts'
import type { LocalKeys } from '../keys/localKeys.ts'
import type { LocalChain } from '../nodes/localChain.ts'
import { tronPlan } from './contractPlan.ts'
import { deployMissing, deploymentChain, initializeMissing } from './deployContracts.ts'
import { tronGrants } from './funding.ts'

/** Deploys and funds Tron's contracts on Base's node, once Base is deployed. What is there is left as it is. */
export async function deployTron(
  chain: LocalChain,
  { artifacts, keys }: { readonly artifacts: Artifacts; readonly keys: LocalKeys },
): Promise<TronDeployment> {
  const { depository, fillContract, usdc } = tronPlan(artifacts)
  const { deployer, allocator } = keys
  await deployMissing(chain, deployer, [depository, fillContract, usdc])
  const owner = deployer.address
  await initializeContracts(
    deploymentChain(chain, deployer, ({ to }) => `initialization of ${to}`),
    [depositoryInitialization(depository, { owner, allocatorSigner: allocator.address })],
  )
  const initialize = encodeFunctionData({ abi: tokenAbi, functionName: 'initialize', args: [owner] })
  await initializeMissing(chain, deployer, [{ contract: usdc, data: initialize }])
  await fund(chain, keys, usdc)
  return {
    depository: depository.address,
    fillContract: fillContract.address,
    usdc: usdc.address,
  }
}

/** Gives out TRX and USDC. A supply of USDC means that an earlier start did. */
async function fund(
  chain: LocalChain,
  keys: LocalKeys,
  { address: to }: ReturnType<typeof tronPlan>['usdc'],
): Promise<void> {
  const supply = { address: to, abi: tokenAbi, functionName: 'totalSupply' } as const
  if ((await chain.client.readContract(supply)) > 0n) return
  const grants = tronGrants(keys)
  const coinGrants = grants.filter(({ sun }) => sun > 0n)
  await Promise.all(
    coinGrants.map(({ account: address, sun: value }) => chain.node.setBalance({ address, value })),
  )
  const args = [grants.map(({ account, usdc: amount }) => ({ to: account, amount }))] as const
  const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args })
  await chain.send(keys.deployer, [{ what: 'mint of USDC on Tron', to, data }])
}
