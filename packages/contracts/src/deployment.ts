import type { Hex } from '@causeway/core'
import { type Abi, concatHex, encodeDeployData, getContractAddress, zeroAddress } from 'viem'
import { depositAddressesAbi, depositRouterAbi, permitRouterAbi } from './abis.generated.ts'
import { shippedCodes } from './codes.generated.ts'
import { create2Proxy, deploymentSalt } from './codes.ts'
import type { DeployedName } from './renderCodes.ts'

/** Existing contracts of one chain that are constructor arguments of the new ones. */
export type ExistingContracts = {
  readonly depository: Hex
  /** Router of the chain's swap pools. Without it, or without `wrappedNative`, no deposit router is deployed. */
  readonly swapRouter?: Hex | undefined
  readonly wrappedNative?: Hex | undefined
}

/** A contract to deploy through the CREATE2 proxy. Its address follows from salt and creation code alone. */
export type Deployable = {
  readonly salt: Hex
  /** Creation code followed by the encoded constructor arguments. */
  readonly initCode: Hex
  /** Lower case. */
  readonly address: Hex
}

/** One contract of this release. */
export type PlannedDeployment = Deployable & { readonly name: DeployedName }

export type Transaction = { readonly to: Hex; readonly data: Hex }

/** Access to the chain that contracts are deployed on. */
export type DeploymentChain = {
  /** Code of an address; `undefined` or `0x` without any. */
  readonly codeAt: (address: Hex) => Promise<Hex | undefined>
  readonly read: (call: Transaction) => Promise<Hex>
  /** Sends transactions in order. Resolves once all are mined; rejects when one fails. */
  readonly send: (transactions: readonly Transaction[]) => Promise<void>
}

/** The chain lacks the deployment proxy, so contracts cannot have the addresses that they have on other chains. */
export class NoProxyError extends Error {
  constructor() {
    super(`The deployment proxy ${create2Proxy} has no code on this chain.`)
    this.name = 'NoProxyError'
  }
}

/**
 * Plans the contracts that an operator deploys on a chain in addition to its depository. The fill contract, the cleanup
 * router and the Permit2 router have no constructor arguments, so each has the same address on every chain. The addresses
 * of the others depend on their arguments.
 */
export function planDeployment(
  environment: string,
  existing: ExistingContracts,
): readonly PlannedDeployment[] {
  const { depository, swapRouter, wrappedNative } = existing
  const depositRouter =
    swapRouter === undefined || wrappedNative === undefined
      ? undefined
      : planContract(environment, 'DepositRouter', {
          abi: depositRouterAbi,
          args: [depository, swapRouter, wrappedNative],
        })
  return [
    planContract(environment, 'FillContract'),
    planContract(environment, 'CleanupRouter'),
    planContract(environment, 'Permit2Router'),
    planContract(environment, 'DepositAddresses', {
      abi: depositAddressesAbi,
      args: [depository, depositRouter?.address ?? zeroAddress],
    }),
    planContract(environment, 'PermitRouter', { abi: permitRouterAbi, args: [depository] }),
    ...(depositRouter === undefined ? [] : [depositRouter]),
  ]
}

/**
 * Deploys the contracts of a plan that have no code yet, then reads the code of all.
 * @returns the plan's contracts in order, with the code afterwards and whether they were deployed now
 * @throws NoProxyError; what the chain's `send` throws
 */
export async function deployContracts<Contract extends Deployable>(
  chain: DeploymentChain,
  plan: readonly Contract[],
): Promise<readonly (Contract & { readonly code: Hex | undefined; readonly isNew: boolean })[]> {
  const codesBefore = await Promise.all(plan.map(({ address }) => chain.codeAt(address)))
  const isMissing = (index: number) => codesBefore[index] === undefined || codesBefore[index] === '0x'
  const missing = plan.filter((_, index) => isMissing(index))
  if (missing.length > 0) {
    const proxy = await chain.codeAt(create2Proxy)
    if (proxy === undefined || proxy === '0x') throw new NoProxyError()
    // The proxy takes the salt, followed by the creation code.
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

/** Plans one contract of this release. @param constructing its ABI and constructor arguments; absent: it has none */
export function planContract(
  environment: string,
  name: DeployedName,
  constructing: { readonly abi: Abi; readonly args: readonly unknown[] } = { abi: [], args: [] },
): PlannedDeployment {
  const { creationCode: bytecode } = shippedCodes[name]
  const { abi, args } = constructing
  const initCode = args.length === 0 ? bytecode : encodeDeployData({ abi, bytecode, args })
  return { name, ...planCreate2Deployment(deploymentSalt(environment), initCode) }
}

/** Plans the CREATE2 deployment of any creation code. */
export function planCreate2Deployment(salt: Hex, initCode: Hex): Deployable {
  const address = getContractAddress({ opcode: 'CREATE2', from: create2Proxy, salt, bytecode: initCode })
  // CAST: lower case hex is still hex.
  return { salt, initCode, address: address.toLowerCase() as Hex }
}
