// Plans and initializes the settlement contracts: depositories, and on the hub chain the hub, its oracle contracts and the
// allocator. `deployContracts` deploys the plans. A contract is usable once its `initialize` has named its owner.
import type { Hex } from '@causeway/core'
import { decodeFunctionResult, encodeFunctionData, type PublicClient, zeroAddress } from 'viem'
import {
  allocatorAbi,
  depositoryAbi,
  genericMappingAbi,
  hubAbi,
  hubOracleAbi,
  hyperliquidPayloadBuilderAbi,
  lighterPayloadBuilderAbi,
  oracleMultisigAbi,
  solanaPayloadBuilderAbi,
} from './abis.generated.ts'
import { type DeploymentChain, type PlannedDeployment, planContract } from './deployment.ts'
import type { DeployedName } from './renderCodes.ts'

/** Addresses that `initialize` gives roles to, in lower case. */
export type SettlementParties = {
  /** Owns every contract: may change oracles, signers, builders and operators. */
  readonly owner: Hex
  readonly mappingOperator: Hex
  readonly oracles: readonly Hex[]
  /** Number of oracles that must sign an execution. */
  readonly oracleThreshold: number
  /** Signs withdrawals that the allocator issued; depositories accept its signature. */
  readonly allocatorSigner: Hex
}

/** A depository that the allocator pays from, with the payload builder that encodes its withdrawals. */
export type PaidDepository = {
  readonly chainId: bigint
  /** Address in the form that withdrawal requests on the hub use. */
  readonly depository: string
  /** Contract on the hub chain, with its constructor arguments. */
  readonly builder:
    | { readonly name: 'EvmPayloadBuilder' | 'BitcoinPayloadBuilder' }
    | { readonly name: 'SolanaPayloadBuilder'; readonly domain: Hex; readonly vault: Hex }
    | {
        readonly name: 'HyperliquidPayloadBuilder'
        readonly networkName: string
        readonly tokens: readonly { readonly token: Hex; readonly decimals: number }[]
      }
    | { readonly name: 'LighterPayloadBuilder'; readonly networkId: bigint }
}

/** Contracts to deploy on the hub chain. */
export type SettlementPlan = {
  readonly hub: PlannedDeployment
  readonly oracle: PlannedDeployment
  readonly oracleMultisig: PlannedDeployment
  readonly genericMapping: PlannedDeployment
  readonly allocator: PlannedDeployment
  /** Payload builders without repetition, in the order in which depositories first name them. */
  readonly builders: readonly PlannedDeployment[]
}

/** The call of `initialize` that a new contract needs; a contract accepts it once. */
export type Initialization = {
  readonly contract: PlannedDeployment
  readonly owner: Hex
  readonly data: Hex
}

/** A contract that was to be initialized has another owner. */
export class ForeignOwnerError extends Error {
  constructor({ contract, found }: { readonly contract: PlannedDeployment; readonly found: Hex }) {
    super(`${contract.name} at ${contract.address} is owned by ${found}, which is not the owner to be named.`)
    this.name = 'ForeignOwnerError'
  }
}

/**
 * Plans the contracts on the hub chain.
 * @param initializer the only account that may call `initialize`; a constructor argument, so every address depends on it
 */
export function planSettlement(
  environment: string,
  initializer: Hex,
  depositories: readonly PaidDepository[],
): SettlementPlan {
  const hub = planContract(environment, 'Hub', { abi: hubAbi, args: [initializer] })
  const builders = depositories.map((paid) => planBuilder(environment, paid))
  return {
    hub,
    oracle: planContract(environment, 'HubOracle', {
      abi: hubOracleAbi,
      args: [hub.address, initializer],
    }),
    oracleMultisig: planContract(environment, 'OracleMultisig', {
      abi: oracleMultisigAbi,
      args: [initializer],
    }),
    genericMapping: planContract(environment, 'GenericMapping', {
      abi: genericMappingAbi,
      args: [initializer],
    }),
    allocator: planContract(environment, 'Allocator', { abi: allocatorAbi, args: [initializer] }),
    builders: [...new Map(builders.map((builder) => [builder.address, builder])).values()],
  }
}

/** Plans a depository. Its address is the same on every chain for the same initializer. */
export function planDepository(environment: string, initializer: Hex): PlannedDeployment {
  return planContract(environment, 'Depository', { abi: depositoryAbi, args: [initializer] })
}

/**
 * Initializations of a plan's contracts; payload builders need none. They make the multisig the only caller
 * of the oracle contract, and the oracle contract the only operator of the hub.
 */
export function settlementInitializations(
  environment: string,
  plan: SettlementPlan,
  parties: SettlementParties & { readonly depositories: readonly PaidDepository[] },
): readonly Initialization[] {
  const { hub, oracle, oracleMultisig, genericMapping, allocator } = plan
  const { owner, mappingOperator, oracles, oracleThreshold, allocatorSigner, depositories } = parties
  const functionName = 'initialize'
  const threshold = BigInt(oracleThreshold)
  const builders = depositories.map((paid) => ({
    chainId: paid.chainId,
    depository: paid.depository,
    builder: planBuilder(environment, paid).address,
  }))
  return [
    {
      contract: hub,
      owner,
      data: encodeFunctionData({ abi: hubAbi, functionName, args: [owner, oracle.address] }),
    },
    {
      contract: oracle,
      owner,
      data: encodeFunctionData({ abi: hubOracleAbi, functionName, args: [owner, oracleMultisig.address] }),
    },
    {
      contract: oracleMultisig,
      owner,
      data: encodeFunctionData({ abi: oracleMultisigAbi, functionName, args: [owner, oracles, threshold] }),
    },
    {
      contract: genericMapping,
      owner,
      data: encodeFunctionData({
        abi: genericMappingAbi,
        functionName,
        args: [owner, mappingOperator, oracleMultisig.address],
      }),
    },
    {
      contract: allocator,
      owner,
      data: encodeFunctionData({
        abi: allocatorAbi,
        functionName,
        args: [owner, oracleMultisig.address, allocatorSigner, builders],
      }),
    },
  ]
}

/** Reads contracts, as viem's public clients do. */
type ContractReader = Pick<PublicClient, 'getCode' | 'readContract'>

/**
 * Reads which payload builders an allocator uses for depositories, without repetition. The address is zero where the
 * allocator has none. @returns an empty list if there is no code at the allocator's address
 */
export async function readBuilders(
  client: ContractReader,
  allocator: Hex,
  depositories: readonly PaidDepository[],
): Promise<readonly { readonly name: DeployedName; readonly address: Hex }[]> {
  if ((await client.getCode({ address: allocator })) === undefined) return []
  const builders = await Promise.all(
    depositories.map(async ({ chainId, depository, builder: { name } }) => {
      const address = await client.readContract({
        address: allocator,
        abi: allocatorAbi,
        functionName: 'payloadBuilders',
        args: [chainId, depository],
      })
      // CAST: lower case hex is still hex.
      return { name, address: address.toLowerCase() as Hex }
    }),
  )
  const uniqueBuilders = new Map(builders.map((builder) => [`${builder.name} ${builder.address}`, builder]))
  return [...uniqueBuilders.values()]
}

/** Initialization of a depository, which accepts withdrawals that `allocatorSigner` signed. */
export function depositoryInitialization(
  contract: PlannedDeployment,
  { owner, allocatorSigner }: Pick<SettlementParties, 'owner' | 'allocatorSigner'>,
): Initialization {
  const args = [owner, allocatorSigner] as const
  const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'initialize', args })
  return { contract, owner, data }
}

/**
 * Initializes every contract that has no owner yet, and leaves those with the right owner alone. Owners are read again
 * afterwards, because somebody else could have initialized a contract meanwhile.
 * @throws ForeignOwnerError if a contract has another owner; what the chain's `send` throws
 */
export async function initializeContracts(
  chain: DeploymentChain,
  initializations: readonly Initialization[],
): Promise<void> {
  const withOwners = await readOwners(chain, initializations)
  for (const contract of withOwners)
    if (contract.found !== zeroAddress && contract.found !== contract.owner)
      throw new ForeignOwnerError(contract)
  const ownerless = withOwners.filter(({ found }) => found === zeroAddress)
  if (ownerless.length === 0) return
  await chain.send(ownerless.map(({ contract, data }) => ({ to: contract.address, data })))
  for (const contract of await readOwners(chain, ownerless))
    if (contract.found !== contract.owner) throw new ForeignOwnerError(contract)
}

/** Adds to each initialization the present owner of its contract, as `found`. */
async function readOwners(chain: DeploymentChain, initializations: readonly Initialization[]) {
  // All these contracts have the same `owner()`.
  const functionName = 'owner'
  const data = encodeFunctionData({ abi: depositoryAbi, functionName })
  return Promise.all(
    initializations.map(async (initialization) => {
      const result = await chain.read({ to: initialization.contract.address, data })
      const found = decodeFunctionResult({ abi: depositoryAbi, functionName, data: result })
      // CAST: lower case hex is still hex.
      return { ...initialization, found: found.toLowerCase() as Hex }
    }),
  )
}

/** Plans the payload builder of a depository; two depositories with equal parameters share one address. */
function planBuilder(environment: string, { builder }: PaidDepository): PlannedDeployment {
  switch (builder.name) {
    case 'SolanaPayloadBuilder':
      return planContract(environment, builder.name, {
        abi: solanaPayloadBuilderAbi,
        args: [builder.domain, builder.vault],
      })
    case 'HyperliquidPayloadBuilder':
      return planContract(environment, builder.name, {
        abi: hyperliquidPayloadBuilderAbi,
        args: [builder.networkName, builder.tokens],
      })
    case 'LighterPayloadBuilder':
      return planContract(environment, builder.name, {
        abi: lighterPayloadBuilderAbi,
        args: [builder.networkId],
      })
    default:
      return planContract(environment, builder.name)
  }
}
