import {
  addressesIn,
  checkForeignAddresses,
  checkLocalEndpoints,
  examineConfigFile,
  loadChains,
  readEnvironmentFiles,
  readSigningCaps,
  type Variables,
} from '@causeway/chains'
import { type Hex, hubTokenId } from '@causeway/core'
import {
  type AllocatorDepository,
  type AllocatorFile,
  allocatorFileSchema,
  createFindings,
  type Findings,
  stopsStart,
  UnfitSettingsError,
} from '@causeway/core/config'
import type { RegisteredHub } from '@causeway/families'
import type { CapTable } from '@causeway/signer'
import { chainOfPayer, type PayingDepository, payingDepositoryOf } from '../payloads/payingDepository.ts'

/** The hub that the allocator signs for: the chain of both its own contract and the hub contract with the balances. */
export type OwnHub = RegisteredHub & { readonly hubAddress: Hex; readonly auroraAllocatorAddress: Hex }

export type LoadedFiles = {
  readonly hub: OwnHub
  readonly payers: readonly PayingDepository[]
  readonly caps: CapTable
  /** Block of the hub: payloads that were issued before it are ignored. */
  readonly firstBlock: bigint
  /** Highest price of gas at which signatures are stored. */
  readonly maxFeePerGasWei: bigint
}

type FilesToRead = {
  readonly environment: string
  readonly configDirectory: string
  readonly variables: Variables
  /** Address of the allocator's key, which must be no published one; `undefined` where the key cannot be read. */
  readonly signer: Hex | undefined
}

/**
 * The chain, hub and allocator files of the environment, with the guards between local and real networks.
 * @throws UnfitSettingsError naming every problem
 */
export async function loadFiles(args: FilesToRead): Promise<LoadedFiles> {
  const findings = createFindings()
  const files = await readFiles(args, findings)
  if (files === undefined || stopsStart(findings.list)) throw new UnfitSettingsError(findings.list)
  return files
}

/** As `loadFiles`, but problems go to `findings`; `undefined` where a file cannot be used at all. */
export async function readFiles(args: FilesToRead, findings: Findings): Promise<LoadedFiles | undefined> {
  const { environment, configDirectory: directory, variables, signer } = args
  const [chainsJson, hubJson, json] = await readEnvironmentFiles(
    { directory, environment },
    ['chains', 'chains.hub', 'allocator'],
    findings,
  )
  const foreign = checkForeignAddresses({
    environment,
    addresses: [
      ...(signer === undefined ? [] : [{ setting: "The allocator's key", address: signer }]),
      ...addressesIn(chainsJson, 'chains'),
      ...addressesIn(hubJson, 'hub'),
    ],
  })
  findings.problems(foreign, 'address-foreign')
  if (chainsJson === undefined || hubJson === undefined) return undefined
  const registry = findings.attempt(
    () => loadChains({ environment, chainsJson, hubJson, variables }),
    'configuration-wrong',
  )
  const source = { name: `allocator.${environment}.json`, json, environment, variables }
  const file = json === undefined ? undefined : examineConfigFile(allocatorFileSchema, source, findings)
  if (registry === undefined) return undefined
  const problems: string[] = []
  const listed = file && readDepositories(file, registry.chains, problems)
  const hub = ownHub(registry.hub, `chains.hub.${environment}.json`, problems)
  // The allocator asks no chain but the hub, so the endpoints of others are not checked.
  findings.problems([...problems, ...checkLocalEndpoints({ ...registry, chains: new Map() })])
  if (hub === undefined || file === undefined || listed === undefined) return undefined
  return {
    hub,
    ...listed,
    firstBlock: BigInt(file.firstBlock),
    maxFeePerGasWei: file.maxFeePerGasWei,
  }
}

/** Depositories of the allocator file with their caps. @param problems gets sentences that name the wrong entries */
function readDepositories(
  { environment, depositories }: AllocatorFile,
  chains: Awaited<ReturnType<typeof loadChains>>['chains'],
  problems: string[],
): { readonly payers: readonly PayingDepository[]; readonly caps: CapTable } {
  const caps = new Map<bigint, { chain: string; currency: string; amount: bigint }>()
  const chainIds = new Set<string>()
  const payers = depositories.flatMap((entry) => {
    const setting = `allocator.${environment}.json: depositories.${entry.chain}`
    const chain = chains.get(entry.chain)
    if (chain === undefined || chainIds.has(entry.chain)) {
      problems.push(`${setting} ${chain === undefined ? 'is no chain of the chain file' : 'is named twice'}`)
      return []
    }
    chainIds.add(entry.chain)
    const payer = payingDepositoryOf(chain, entry, problems)
    if (payer === undefined) return []
    for (const cap of capsOf(entry, payer, { environment, setting }, problems)) {
      caps.set(hubTokenId(chainOfPayer(payer), cap.currency), { chain: entry.chain, ...cap })
    }
    return [payer]
  })
  return { payers, caps }
}

/** Caps of an entry; needed outside `local`. */
function capsOf(
  { caps }: AllocatorDepository,
  payer: PayingDepository,
  position: { readonly environment: string; readonly setting: string },
  problems: string[],
) {
  const setting = `${position.setting}.caps`
  const signingCaps = readSigningCaps(caps, chainOfPayer(payer), setting, problems)
  if (signingCaps === undefined && position.environment !== 'local') problems.push(`${setting} is needed`)
  return signingCaps ?? []
}

/** The hub, checked to be one of our own; `undefined` where its contracts are not named. */
function ownHub(hub: RegisteredHub | undefined, file: string, problems: string[]): OwnHub | undefined {
  if (hub === undefined) {
    problems.push(`${file} names no hub`)
    return undefined
  }
  const { hubAddress, auroraAllocatorAddress, auroraEvmChainId, evmChainId } = hub
  if (!hub.ready) {
    problems.push(`httpRpcUrl of hub ${hub.id} is needed: set ${hub.unsetVariables.join(', ') || 'it'}`)
  }
  if (hub.withdrawalKeys === 'public') {
    problems.push(
      `${file}: withdrawalKeys: "public" means an allocator of others, and this one signs for a hub of its own: remove it`,
    )
  }
  if (auroraEvmChainId !== evmChainId) {
    problems.push(
      `${file}: auroraEvmChainId: must be ${evmChainId}, the evmChainId of this file, because the allocator signs for the hub that it reads balances from: write "auroraEvmChainId": ${evmChainId}, with the addresses of your own hub`,
    )
  }
  const missing = (member: string, subject: string) =>
    problems.push(
      `${file}: ${member}: is missing: write the address of ${subject}, or have contracts deploy write it`,
    )
  if (hubAddress === undefined) missing('hubAddress', 'the hub contract, which keeps the balances')
  if (auroraAllocatorAddress === undefined) missing('auroraAllocatorAddress', "the allocator's contract")
  if (hubAddress === undefined || auroraAllocatorAddress === undefined) return undefined
  return { ...hub, hubAddress, auroraAllocatorAddress }
}
