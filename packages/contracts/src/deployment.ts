import type { Hex } from '@causeway/core'
import { type Abi, concatHex, encodeDeployData, getContractAddress, zeroAddress } from 'viem'
import { depositAddressesAbi, depositRouterAbi, permitRouterAbi } from './abis.generated.ts'
import { shippedCodes } from './codes.generated.ts'
import { create2Proxy, deploymentSalt } from './codes.ts'
import type { DeployedName } from './renderCodes.ts'

/** Existing contracts of one chain that the new ones refer to; without the last two there is no deposit router. */
export type Surroundings = {
  readonly depository: Hex
  readonly swapRouter?: Hex | undefined
  readonly wrappedNative?: Hex | undefined
}

/** Deployment through the CREATE2 proxy: the address follows from salt and creation code alone. */
export type Deployable = {
  readonly salt: Hex
  /** Creation code with its arguments. */
  readonly initCode: Hex
  /** Lower case. */
  readonly address: Hex
}

/** One contract of this release. */
export type PlannedDeployment = Deployable & { readonly name: DeployedName }

export type Transaction = { readonly to: Hex; readonly data: Hex }

/** One chain as a deployment needs it. */
export type DeploymentChain = {
  /** `undefined` or `0x` where there is none. */
  readonly codeAt: (address: Hex) => Promise<Hex | undefined>
  /** Result of a call without sender. */
  readonly read: (call: Transaction) => Promise<Hex>
  /** In their order; resolves once all are mined, rejects when one failed. */
  readonly send: (transactions: readonly Transaction[]) => Promise<void>
}

/** The chain has no deployment proxy, so nothing can be deployed at the addresses that are the same everywhere. */
export class NoProxyError extends Error {
  constructor() {
    super(`The deployment proxy ${create2Proxy} has no code on this chain.`)
    this.name = 'NoProxyError'
  }
}

/**
 * Contracts that an operator deploys on one chain beside its depository. The fill contract, the cleanup router and the
 * Permit2 router have no argument, so each has one address on every chain; the others do where their arguments are
 * equal.
 */
export function deploymentPlan(environment: string, around: Surroundings): readonly PlannedDeployment[] {
  const { depository, swapRouter, wrappedNative } = around
  const depositRouter =
    swapRouter === undefined || wrappedNative === undefined
      ? undefined
      : plannedContract(environment, 'DepositRouter', {
          abi: depositRouterAbi,
          args: [depository, swapRouter, wrappedNative],
        })
  return [
    plannedContract(environment, 'FillContract'),
    plannedContract(environment, 'CleanupRouter'),
    plannedContract(environment, 'Permit2Router'),
    plannedContract(environment, 'DepositAddresses', {
      abi: depositAddressesAbi,
      args: [depository, depositRouter?.address ?? zeroAddress],
    }),
    plannedContract(environment, 'PermitRouter', { abi: permitRouterAbi, args: [depository] }),
    ...(depositRouter === undefined ? [] : [depositRouter]),
  ]
}

/**
 * Deploys what is not there yet and looks at all of it again.
 * @throws NoProxyError; what the chain's `send` throws
 */
export async function deployContracts<Contract extends Deployable>(
  chain: DeploymentChain,
  plan: readonly Contract[],
): Promise<readonly (Contract & { readonly code: Hex | undefined; readonly isNew: boolean })[]> {
  const before = await Promise.all(plan.map(({ address }) => chain.codeAt(address)))
  const isMissing = (index: number) => before[index] === undefined || before[index] === '0x'
  const missing = plan.filter((_, index) => isMissing(index))
  if (missing.length > 0) {
    const proxy = await chain.codeAt(create2Proxy)
    if (proxy === undefined || proxy === '0x') throw new NoProxyError()
    await chain.send(
      missing.map(({ salt, initCode }) => ({ to: create2Proxy, data: concatHex([salt, initCode]) })),
    )
  }
  return Promise.all(
    plan.map(async (contract, index) => ({
      ...contract,
      code: await chain.codeAt(contract.address),
      isNew: isMissing(index),
    })),
  )
}

/** A contract of this release with its constructor's arguments. */
export function plannedContract(
  environment: string,
  name: DeployedName,
  constructing: { readonly abi: Abi; readonly args: readonly unknown[] } = { abi: [], args: [] },
): PlannedDeployment {
  const { creationCode: bytecode } = shippedCodes[name]
  const { abi, args } = constructing
  const initCode = args.length === 0 ? bytecode : encodeDeployData({ abi, bytecode, args })
  return { name, ...deployable(deploymentSalt(environment), initCode) }
}

/** CREATE2 deployment of creation code with a salt. */
export function deployable(salt: Hex, initCode: Hex): Deployable {
  const address = getContractAddress({ opcode: 'CREATE2', from: create2Proxy, salt, bytecode: initCode })
  // CAST: lower case hex is still hex.
  return { salt, initCode, address: address.toLowerCase() as Hex }
}
