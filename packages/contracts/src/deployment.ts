import { type Hex, keccak256Hex, utf8Bytes } from '@causeway/core'
import { concatHex, encodeDeployData, getContractAddress } from 'viem'
import { depositAddressesAbi, depositRouterAbi, permitRouterAbi } from './abis.generated.ts'
import { shippedCodes } from './codes.generated.ts'
import { type CodeState, codeStateOf } from './codes.ts'
import type { DeployedName } from './renderCodes.ts'

/**
 * The public deterministic deployment proxy: the same address on every chain that has it.
 * @source github.com/Arachnid/deterministic-deployment-proxy
 */
export const create2Proxy: Hex = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

/** What the contracts are made around on one chain; without the last two there is no deposit router. */
export type Surroundings = {
  readonly depository: Hex
  readonly swapRouter?: Hex | undefined
  readonly wrappedNative?: Hex | undefined
}

/** One contract that goes through the proxy: its address follows from its salt and creation code alone. */
export type PlannedDeployment = {
  readonly name: DeployedName
  readonly salt: Hex
  /** Creation code with its arguments. */
  readonly initCode: Hex
  /** Lower case. */
  readonly address: Hex
}

/** One chain as a deployment needs it. */
export type DeploymentChain = {
  /** `undefined` or `0x` where there is none. */
  readonly codeAt: (address: Hex) => Promise<Hex | undefined>
  /** Resolves once the transaction is mined; rejects when it failed. */
  readonly send: (transaction: { readonly to: Hex; readonly data: Hex }) => Promise<void>
}

/** The chain has no deployment proxy, so nothing can be deployed at the addresses that are the same everywhere. */
export class NoProxyError extends Error {
  constructor() {
    super(`The deployment proxy ${create2Proxy} has no code on this chain.`)
    this.name = 'NoProxyError'
  }
}

/** Another salt in each environment, so that no address of a test is one of production. */
function deploymentSalt(environment: string): Hex {
  return keccak256Hex(utf8Bytes(`causeway contracts of ${environment}`))
}

/**
 * What an operator deploys on one chain. The fill contract and the cleanup router have no argument, so each stands
 * at one address on every chain; the others do where what they are made around does.
 */
export function deploymentPlan(environment: string, around: Surroundings): readonly PlannedDeployment[] {
  const { depository, swapRouter, wrappedNative } = around
  return [
    planned(environment, 'FillContract', shippedCodes.FillContract.creationCode),
    planned(environment, 'CleanupRouter', shippedCodes.CleanupRouter.creationCode),
    planned(
      environment,
      'DepositAddresses',
      encodeDeployData({
        abi: depositAddressesAbi,
        bytecode: shippedCodes.DepositAddresses.creationCode,
        args: [depository],
      }),
    ),
    planned(
      environment,
      'PermitRouter',
      encodeDeployData({
        abi: permitRouterAbi,
        bytecode: shippedCodes.PermitRouter.creationCode,
        args: [depository],
      }),
    ),
    planned(environment, 'Permit2Router', shippedCodes.Permit2Router.creationCode),
    ...(swapRouter === undefined || wrappedNative === undefined
      ? []
      : [
          planned(
            environment,
            'DepositRouter',
            encodeDeployData({
              abi: depositRouterAbi,
              bytecode: shippedCodes.DepositRouter.creationCode,
              args: [depository, swapRouter, wrappedNative],
            }),
          ),
        ]),
  ]
}

/**
 * Deploys what is not there yet, one transaction each, and looks at all of it again.
 * @throws NoProxyError; what the chain's `send` throws
 */
export async function deployContracts(
  chain: DeploymentChain,
  plan: readonly PlannedDeployment[],
): Promise<readonly (PlannedDeployment & { readonly state: CodeState; readonly isNew: boolean })[]> {
  const before = await Promise.all(plan.map(({ address }) => chain.codeAt(address)))
  const isMissing = (index: number) => before[index] === undefined || before[index] === '0x'
  if (plan.some((_, index) => isMissing(index))) {
    const proxy = await chain.codeAt(create2Proxy)
    if (proxy === undefined || proxy === '0x') throw new NoProxyError()
  }
  for (const [index, { salt, initCode }] of plan.entries()) {
    if (isMissing(index)) await chain.send({ to: create2Proxy, data: concatHex([salt, initCode]) })
  }
  return Promise.all(
    plan.map(async (contract, index) => ({
      ...contract,
      state: codeStateOf(contract.name, await chain.codeAt(contract.address)),
      isNew: isMissing(index),
    })),
  )
}

function planned(environment: string, name: DeployedName, initCode: Hex): PlannedDeployment {
  const salt = deploymentSalt(environment)
  const address = getContractAddress({ opcode: 'CREATE2', from: create2Proxy, salt, bytecode: initCode })
  // CAST: lower case hex is still hex.
  return { name, salt, initCode, address: address.toLowerCase() as Hex }
}
