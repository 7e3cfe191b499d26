// The chain or hub that a contract command acts on, with its planned and its configured contracts.
import { readFile } from 'node:fs/promises'
import { type ChainRegistry, loadConfigFile } from '@causeway/chains'
import type { Arguments } from '@causeway/cli'
import {
  type DeployedName,
  depositoryInitialization,
  type Initialization,
  type PlannedDeployment,
  paidDepositories,
  planDeployment,
  planDepository,
  planSettlement,
  readBuilders,
  settlementInitializations,
} from '@causeway/contracts'
import { ConfigurationError, type Hex, type Secret } from '@causeway/core'
import { type SettlementFile, settlementFileSchema } from '@causeway/core/config'
import type { RegisteredHub } from '@causeway/families'
import { createPublicClient, type HttpTransport, http, type PublicClient } from 'viem'
import { loadFiles } from '../../config/configuration.ts'
import { createRegistry, type QuotableChain } from '../../pricing/registry.ts'
import { type ChainsContext, noOrderSigner } from './command.ts'
import { CommandError } from './commandError.ts'

const hubKey = 'hub'
/** Deployments wait for each other's block, so receipts are asked for often. */
const receiptPollMs = 500

/** A contract that the files name. `address` in lower case. */
export type ConfiguredContract = { readonly name: DeployedName; readonly address: Hex }

/** A chain, or the hub, that contract commands act on. */
export type DeploymentTarget = {
  /** Key of the chain, or `hub`. */
  readonly key: string
  /** True for the hub, where settlement stands; the quote file lists it nowhere. */
  readonly isHub: boolean
  readonly client: PublicClient<HttpTransport>
  readonly url: string
  readonly plan: {
    readonly contracts: readonly PlannedDeployment[]
    readonly initializations: readonly Initialization[]
  }
  /** The account that may initialize contracts; undefined if nothing is initialized. */
  readonly initializer: Hex | undefined
  /** Contracts of the files; on the hub, with a settlement file, also the payload builders that its allocator names. */
  configured(): Promise<readonly ConfiguredContract[]>
  /** Code hashes by address, lower case. */
  readonly codeHashes: ReadonlyMap<string, string>
  /** Setting that holds a contract's address. */
  settingOf(name: DeployedName): string
}

/** Setting of each contract in the quote and hub file. */
const settings: Readonly<Partial<Record<DeployedName, string>>> = {
  FillContract: 'fillContract',
  CleanupRouter: 'cleanupRouter',
  DepositRouter: 'depositRouter',
  DepositAddresses: 'depositAddresses.contract',
  PermitRouter: 'permitRouter.contract',
  Permit2Router: 'permit2Router',
  Depository: 'depository',
  Hub: 'hubAddress',
  HubOracle: 'oracleAddress',
  OracleMultisig: 'oracleMultisigAddress',
  GenericMapping: 'genericMappingAddress',
  Allocator: 'auroraAllocatorAddress',
}

/**
 * @param options.isDeploying true where addresses are still to be filled in, by what is deployed there
 * @throws CommandError for a chain that is not quoted; ConfigurationError for one without endpoint
 */
export async function openDeploymentTarget(
  { config, variables }: ChainsContext,
  args: Arguments,
  options: { readonly isDeploying: boolean },
): Promise<DeploymentTarget> {
  const key = args.text('chain') ?? ''
  const { chains, quote } = await loadFiles(config, variables, noOrderSigner, options)
  const { environment } = quote
  const path = args.text('settlement')
  const settlement = path === undefined ? undefined : await readSettlement(path, environment, variables)
  if (key === hubKey) return openHub(chains, settlement)
  const registered = chains.chains.get(key)
  const registry = createRegistry(quote, [...chains.chains.values()])
  const chain = registry.chains.find((quotable) => quotable.key === key)
  if (chain === undefined || registered === undefined) throw new CommandError(`No chain ${key} is quoted.`)
  return {
    ...(await connect(key, registered.endpoints, chain.chainId)),
    isHub: false,
    plan: chainPlan(environment, chain, settlement),
    initializer: settlement?.initializer,
    configured: async () => chainContracts(chain),
    codeHashes: new Map(Object.entries(registered.codeHashes ?? {})),
    settingOf: (name) => `chains.${key}.${settings[name]}`,
  }
}

async function openHub(
  { environment, hub, chains }: ChainRegistry,
  settlement: SettlementFile | undefined,
): Promise<DeploymentTarget> {
  if (hub === undefined) throw new ConfigurationError('No hub is configured.')
  const connected = await connect(hubKey, hub.endpoints, hub.evmChainId)
  return {
    ...connected,
    isHub: true,
    plan:
      settlement === undefined
        ? { contracts: [], initializations: [] }
        : hubPlan(environment, settlement, chains),
    initializer: settlement?.initializer,
    async configured() {
      const contracts = hubContracts(hub)
      const allocator = contracts.find(({ name }) => name === 'Allocator')?.address
      if (settlement === undefined || allocator === undefined) return contracts
      const depositories = paidDepositories(settlement.depositories, chains)
      return [...contracts, ...(await readBuilders(connected.client, allocator, depositories))]
    },
    codeHashes: new Map(Object.entries(hub.codeHashes ?? {})),
    // No file holds a builder's address: the allocator contract names it.
    settingOf: (name) => (settings[name] === undefined ? 'the allocator' : `hub.${settings[name]}`),
  }
}

/** The file of `--settlement`: owners, signers, depositories. @throws CommandError if it cannot be read; ConfigurationError naming every problem */
async function readSettlement(
  path: string,
  environment: string,
  variables: ChainsContext['variables'],
): Promise<SettlementFile> {
  let json: unknown
  try {
    json = JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${error instanceof Error ? error.message : ''}`)
  }
  return loadConfigFile(settlementFileSchema, { name: path, json, environment, variables })
}

/** Opens the first endpoint. @throws ConfigurationError without one, or if it is on another chain */
async function connect(key: string, endpoints: readonly Secret[], chainId: number) {
  const [endpoint] = endpoints
  if (endpoint === undefined) throw new ConfigurationError(`Chain ${key} has no endpoint.`)
  const url = endpoint.reveal()
  const client = createPublicClient({ transport: http(url), pollingInterval: receiptPollMs })
  const actualChainId = await client.getChainId()
  if (actualChainId !== chainId) {
    throw new ConfigurationError(`The endpoint of ${key} is on chain ${actualChainId}, not on ${chainId}.`)
  }
  return { key, client, url }
}

/** With a settlement file, a new depository is deployed first, because the other contracts name it. */
function chainPlan(
  environment: string,
  { config, quoting, depository }: QuotableChain,
  settlement: SettlementFile | undefined,
): DeploymentTarget['plan'] {
  const ownDepository = settlement && planDepository(environment, settlement.initializer)
  const otherContracts = planDeployment(environment, {
    depository: ownDepository?.address ?? quoting.hexAddress(depository),
    swapRouter: config.uniswapV3?.swapRouter,
    wrappedNative: config.wrappedNative,
  })
  return {
    contracts: ownDepository === undefined ? otherContracts : [ownDepository, ...otherContracts],
    initializations:
      ownDepository === undefined || settlement === undefined
        ? []
        : [depositoryInitialization(ownDepository, settlement)],
  }
}

function hubPlan(
  environment: string,
  settlement: SettlementFile,
  chains: ChainRegistry['chains'],
): DeploymentTarget['plan'] {
  const { initializer, owner, mappingOperator = owner } = settlement
  const depositories = paidDepositories(settlement.depositories, chains)
  const plan = planSettlement(environment, initializer, depositories)
  const { builders, ...contracts } = plan
  return {
    contracts: [...Object.values(contracts), ...builders],
    initializations: settlementInitializations(environment, plan, {
      ...settlement,
      mappingOperator,
      depositories,
    }),
  }
}

function chainContracts({ config, quoting, depository }: QuotableChain): readonly ConfiguredContract[] {
  const { fillContract, cleanupRouter, depositRouter, depositAddresses, permitRouter, permit2Router } = config
  return listPresent([
    ['Depository', quoting.hexAddress(depository)],
    ['FillContract', fillContract],
    ['CleanupRouter', cleanupRouter],
    ['DepositRouter', depositRouter],
    ['DepositAddresses', depositAddresses?.contract],
    ['PermitRouter', permitRouter?.contract],
    ['Permit2Router', permit2Router],
  ])
}

function hubContracts(hub: RegisteredHub): readonly ConfiguredContract[] {
  return listPresent([
    ['Hub', hub.hubAddress],
    ['HubOracle', hub.oracleAddress],
    ['OracleMultisig', hub.oracleMultisigAddress],
    ['GenericMapping', hub.genericMappingAddress],
    // An allocator contract on another chain cannot be read here.
    ['Allocator', hub.auroraEvmChainId === hub.evmChainId ? hub.auroraAllocatorAddress : undefined],
  ])
}

function listPresent(
  all: readonly (readonly [DeployedName, Hex | undefined])[],
): readonly ConfiguredContract[] {
  return all.flatMap(([name, address]) => (address === undefined ? [] : [{ name, address }]))
}
