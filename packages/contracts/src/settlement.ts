// Settlement contracts: planned, deployed and initialized.
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
import { type DeploymentChain, type PlannedDeployment, plannedContract } from './deployment.ts'
import type { DeployedName } from './renderCodes.ts'

/** Parties of settlement and their roles after initialization. Addresses in lower case. */
export type SettlementParties = {
  /** Owns every contract: names oracles, signers, builders and operators. */
  readonly owner: Hex
  /** Writes entries of the generic mapping for others. */
  readonly mappingOperator: Hex
  /** Keys of the oracles, and how many of them an execution needs. */
  readonly oracles: readonly Hex[]
  readonly oracleThreshold: number
  /** Signs what the allocator issued, and is believed by depositories. */
  readonly allocatorSigner: Hex
}

/** A depository that the allocator pays from, with what makes the bytes of its payouts. */
export type PaidDepository = {
  readonly chainId: bigint
  /** As its family spells it in requests. */
  readonly depository: string
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

export type SettlementPlan = {
  readonly hub: PlannedDeployment
  readonly oracle: PlannedDeployment
  readonly oracleMultisig: PlannedDeployment
  readonly genericMapping: PlannedDeployment
  readonly allocator: PlannedDeployment
  /** Each once, in the order in which depositories first name them. */
  readonly builders: readonly PlannedDeployment[]
}

/** The one `initialize` of a contract, and the owner that it names. */
export type Initialization = {
  readonly contract: PlannedDeployment
  readonly owner: Hex
  readonly data: Hex
}

/** Somebody else owns a contract that was to be initialized. */
export class ForeignOwnerError extends Error {
  constructor({ contract, found }: { readonly contract: PlannedDeployment; readonly found: Hex }) {
    super(`${contract.name} at ${contract.address} is owned by ${found}, which is not the owner to be named.`)
    this.name = 'ForeignOwnerError'
  }
}

/** @param initializer the one account that may call `initialize`: a part of every address */
export function settlementPlan(
  environment: string,
  initializer: Hex,
  depositories: readonly PaidDepository[],
): SettlementPlan {
  const hub = plannedContract(environment, 'Hub', { abi: hubAbi, args: [initializer] })
  const builders = depositories.map((paid) => builderOf(environment, paid))
  return {
    hub,
    oracle: plannedContract(environment, 'HubOracle', {
      abi: hubOracleAbi,
      args: [hub.address, initializer],
    }),
    oracleMultisig: plannedContract(environment, 'OracleMultisig', {
      abi: oracleMultisigAbi,
      args: [initializer],
    }),
    genericMapping: plannedContract(environment, 'GenericMapping', {
      abi: genericMappingAbi,
      args: [initializer],
    }),
    allocator: plannedContract(environment, 'Allocator', { abi: allocatorAbi, args: [initializer] }),
    builders: [...new Map(builders.map((builder) => [builder.address, builder])).values()],
  }
}

/** Deployment of the depository; the address is equal on every chain for the same initializer. */
export function depositoryPlan(environment: string, initializer: Hex): PlannedDeployment {
  return plannedContract(environment, 'Depository', { abi: depositoryAbi, args: [initializer] })
}

/** Only the oracle contract operates the ledger, and only the multisig speaks to the oracle contract. */
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
    builder: builderOf(environment, paid).address,
  }))
  return [
    {
      ...{ contract: hub, owner },
      data: encodeFunctionData({ abi: hubAbi, functionName, args: [owner, oracle.address] }),
    },
    {
      ...{ contract: oracle, owner },
      data: encodeFunctionData({ abi: hubOracleAbi, functionName, args: [owner, oracleMultisig.address] }),
    },
    {
      ...{ contract: oracleMultisig, owner },
      data: encodeFunctionData({ abi: oracleMultisigAbi, functionName, args: [owner, oracles, threshold] }),
    },
    {
      ...{ contract: genericMapping, owner },
      data: encodeFunctionData({
        ...{ abi: genericMappingAbi, functionName },
        args: [owner, mappingOperator, oracleMultisig.address],
      }),
    },
    {
      ...{ contract: allocator, owner },
      data: encodeFunctionData({
        ...{ abi: allocatorAbi, functionName },
        args: [owner, oracleMultisig.address, allocatorSigner, builders],
      }),
    },
  ]
}

/** Reads contracts, as viem's public clients do. */
type ContractReader = Pick<PublicClient, 'getCode' | 'readContract'>

/**
 * The payload builders that an allocator names for depositories, each once; the zero address where it names none,
 * and nothing where no allocator stands.
 */
export async function namedBuilders(
  client: ContractReader,
  allocator: Hex,
  depositories: readonly PaidDepository[],
): Promise<readonly { readonly name: DeployedName; readonly address: Hex }[]> {
  if ((await client.getCode({ address: allocator })) === undefined) return []
  const named = await Promise.all(
    depositories.map(async ({ chainId, depository, builder: { name } }) => {
      const told = await client.readContract({
        ...{ address: allocator, abi: allocatorAbi, functionName: 'payloadBuilders' },
        args: [chainId, depository],
      })
      // CAST: lower case hex is still hex.
      return { name, address: told.toLowerCase() as Hex }
    }),
  )
  return [...new Map(named.map((one) => [`${one.name} ${one.address}`, one])).values()]
}

export function depositoryInitialization(
  contract: PlannedDeployment,
  { owner, allocatorSigner }: Pick<SettlementParties, 'owner' | 'allocatorSigner'>,
): Initialization {
  const args = [owner, allocatorSigner] as const
  const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'initialize', args })
  return { contract, owner, data }
}

/**
 * Makes the `initialize` call of every contract that has no owner yet; what has the owner already is left alone.
 * @throws ForeignOwnerError where another one owns it; what the chain's `send` throws
 */
export async function initializeContracts(
  chain: DeploymentChain,
  initializations: readonly Initialization[],
): Promise<void> {
  const before = await ownersOf(chain, initializations)
  for (const one of before)
    if (one.found !== zeroAddress && one.found !== one.owner) throw new ForeignOwnerError(one)
  const missing = before.filter(({ found }) => found === zeroAddress)
  if (missing.length === 0) return
  await chain.send(missing.map(({ contract, data }) => ({ to: contract.address, data })))
  for (const one of await ownersOf(chain, missing))
    if (one.found !== one.owner) throw new ForeignOwnerError(one)
}

async function ownersOf(chain: DeploymentChain, initializations: readonly Initialization[]) {
  const functionName = 'owner'
  const data = encodeFunctionData({ abi: depositoryAbi, functionName })
  return Promise.all(
    initializations.map(async (one) => {
      const answer = await chain.read({ to: one.contract.address, data })
      const found = decodeFunctionResult({ abi: depositoryAbi, functionName, data: answer })
      // CAST: lower case hex is still hex.
      return { ...one, found: found.toLowerCase() as Hex }
    }),
  )
}

function builderOf(environment: string, { builder }: PaidDepository): PlannedDeployment {
  switch (builder.name) {
    case 'SolanaPayloadBuilder':
      return plannedContract(environment, builder.name, {
        abi: solanaPayloadBuilderAbi,
        args: [builder.domain, builder.vault],
      })
    case 'HyperliquidPayloadBuilder':
      return plannedContract(environment, builder.name, {
        abi: hyperliquidPayloadBuilderAbi,
        args: [builder.networkName, builder.tokens],
      })
    case 'LighterPayloadBuilder':
      return plannedContract(environment, builder.name, {
        abi: lighterPayloadBuilderAbi,
        args: [builder.networkId],
      })
    default:
      return plannedContract(environment, builder.name)
  }
}
