import { findContradictions } from '@causeway/chains'
import { fillContractAddress, isKnownCode as isKnown } from '@causeway/contracts/codes'
import { type AheadReader, ConfigurationError, DomainError, type Hex, type ReadOptions } from '@causeway/core'
import {
  type FamilyChain,
  type KnownCode,
  type RegisteredChain,
  warnOfUncheckedCode,
} from '@causeway/families'
import type { EndpointObserver, QuorumEndpointHealth } from '@causeway/rpc'
import type { AttestationContext } from '../attestations/context.ts'
import { type ChainWatch, createChainWatch } from '../halt/chainWatch.ts'
import type { HaltStore } from '../halt/haltStore.ts'
import { isUsable, type WatchedChain, type WatchLog } from '../halt/watchedChain.ts'
import type { ListedChain } from '../http/app.ts'
import { openReaders } from '../readers.ts'
import { type OpenAllocator, openAllocator, publicKeyHoles } from './allocator.ts'
import { createContext, type HubAndAllocator } from './attestationContext.ts'
import type { LoadedFiles } from './files.ts'
import { openHub } from './hub.ts'
import { repeatCheck } from './repeatCheck.ts'
import { checksOf, watchedChains } from './watchedChains.ts'

/** The opened chains and hub of the configuration, which are compared with what their endpoints tell. */
export type OpenNetwork = {
  readonly context: AttestationContext
  readonly watch: ChainWatch
  /** For `GET /chains/v1`. */
  list(): readonly ListedChain[]
  /** For metrics: `WatchStatus`, or `unavailable` for a chain of the file that cannot be read. */
  statuses(): readonly { readonly chain: string; readonly status: string }[]
  /** True if the hub has run the execution. @throws UpstreamDisagreementError, UpstreamUnavailableError */
  isExecuted(idempotencyKey: Hex, options: ReadOptions): Promise<boolean>
  /** For metrics: every endpoint of the hub, of the allocator and of every open chain. */
  endpoints(): readonly ({ readonly chain: string } & QuorumEndpointHealth)[]
  /** Sets the observer of each endpoint, by the chain's and endpoint's names in metrics. */
  observeEndpoints(observerOf: (chain: string, endpoint: string) => EndpointObserver): void
  /** Finds deposits and payments before anybody asks for them; `undefined` if the chain's blocks cannot be scanned. */
  aheadOf(chainId: string): AheadReader | undefined
  /** @throws NoChainReadyError while no chain can be attested */
  requireReadyChain(): void
  /** Registers, at the start, a function that drops cached answers: it is called when they may be wrong. */
  onRewritten(forget: () => void): void
  close(): Promise<void>
}

/** No chain is ready, so that nothing can be attested. */
class NoChainReadyError extends DomainError {
  readonly code = 'NO_CHAIN_READY'
  readonly kind = 'upstream_unavailable'

  constructor() {
    super('No chain can be attested at the moment.')
  }
}

export type NetworkOptions = {
  readonly files: LoadedFiles
  readonly environment: string
  /** Keeps halts; `undefined` where they end with the process. */
  readonly halts: HaltStore | undefined
  readonly finalityCheckIntervalMs: number
  /** Pause between two `ChainWatch.follow`. */
  readonly headCheckIntervalMs: number
  /** See `WatchOptions`. */
  readonly headAgeMaxMs: number
  /** Most final transactions that each chain's reader caches; 0: none. */
  readonly finalResultsKeptMax: number
  readonly log: WatchLog
}

const checkTimeoutMs = 5_000

/**
 * Opens every chain that can be read, compares chain ids, contracts and the hub with the configuration,
 * and starts to watch final blocks. A chain that does not answer starts unready and is tried again.
 * @throws ConfigurationError for everything that contradicts the configuration
 */
export async function openNetwork(options: NetworkOptions): Promise<OpenNetwork> {
  const { files, log, finalResultsKeptMax } = options
  const chains = files.chains.chains
  const isKnownCode = knownCode(options.environment)
  const hub = openHub(files.hub, isKnownCode)
  const allocator = openAllocator(files.hub, isKnownCode)
  warnOfAllocator(allocator, log)
  warnOfUncheckedCode([...chains.values(), files.hub], log)
  const open = openReaders([...chains.values()], hub.entries, { finalResultsKeptMax, isKnownCode, log })
  const clients: Clients = {
    chains,
    hub,
    allocator,
    open,
    async close() {
      await Promise.all([hub, allocator, ...open.values()].map((client) => client?.close()))
    },
  }
  try {
    return await watchNetwork(clients, options)
  } catch (error) {
    await clients.close()
    throw error
  }
}

/** Readers of all chains with their endpoints, before anything is known of what these tell. */
type Clients = HubAndAllocator & {
  /** Every chain of the chain file. */
  readonly chains: ReadonlyMap<string, RegisteredChain>
  /** Those of them that can be read, by id. */
  readonly open: ReadonlyMap<string, FamilyChain>
  close(): Promise<void>
}

/** Compares the chains with the configuration and starts to watch them. */
async function watchNetwork(clients: Clients, options: NetworkOptions): Promise<OpenNetwork> {
  const { chains, hub, open } = clients
  /** Functions of `onRewritten`. */
  const forgetters: (() => void)[] = []
  const watched = watchedChains(options.environment, clients, open)
  // Chains that do not answer pass here: the watch verifies them later.
  await refuseContradictions(watched)
  const watch = await createChainWatch({
    chains: watched,
    store: options.halts,
    checkTimeoutMs,
    headAgeMaxMs: options.headAgeMaxMs,
    onForget(chainId) {
      open.get(chainId)?.reader.forget()
      for (const forget of forgetters) forget()
    },
    // Its blocks were not followed for a while, so cached answers are unsafe, but nothing shows a changed block.
    onResume: (chainId) => open.get(chainId)?.reader.forget(),
    log: options.log,
  })
  await watch.check()
  const repeatedChecks = [
    repeatCheck(() => watch.check(), options.finalityCheckIntervalMs),
    repeatCheck(() => watch.follow(), options.headCheckIntervalMs),
  ]
  const measured = measuredChains(clients)
  const statusOf = (chain: RegisteredChain) => watch.statusOf(chain.id) ?? 'unavailable'
  return {
    watch,
    isExecuted: (key, reading) => hub.reader.isExecuted(key, reading),
    context: createContext(chains, clients, open, watch),
    list: () => [...chains.values()].map((chain) => toListed(chain, statusOf(chain))),
    statuses: () => [...chains.values()].map((chain) => ({ chain: chain.id, status: statusOf(chain) })),
    endpoints: () =>
      measured.flatMap(({ chain, client }) => client.health().map((endpoint) => ({ chain, ...endpoint }))),
    observeEndpoints(observerOf) {
      for (const { chain, client } of measured) client.observe((endpoint) => observerOf(chain, endpoint))
    },
    aheadOf: (chainId) => open.get(chainId)?.reader.ahead,
    requireReadyChain() {
      if (![...open.keys()].some((id) => isUsable(watch.statusOf(id)))) throw new NoChainReadyError()
    },
    onRewritten: (forget) => void forgetters.push(forget),
    async close() {
      for (const check of repeatedChecks) check.stop()
      await watch.close()
      await clients.close()
    },
  }
}

/** A chain whose endpoints are measured, by its name in metrics. */
type MeasuredChain = { readonly chain: string; readonly client: Pick<FamilyChain, 'health' | 'observe'> }

const measuredChains = ({ hub, allocator, open }: Clients): readonly MeasuredChain[] => [
  { chain: hub.attested.id, client: hub },
  ...(allocator === undefined ? [] : [{ chain: `${hub.attested.id}-allocator`, client: allocator }]),
  ...[...open].map(([chain, client]) => ({ chain, client })),
]

/**
 * Tells which code counts as known. The release's own fill contract may be missing until it is deployed: no other
 * contract can ever be at its address.
 */
export function knownCode(environment: string): KnownCode {
  const ownFillContract = fillContractAddress(environment)
  return ({ name, address }, code) =>
    isKnown(name, code) || (code === '0x' && name === 'FillContract' && address === ownFillContract)
}

/** Warns at start where withdrawals get no execution, or where holes of the public protocol are open. */
function warnOfAllocator(allocator: OpenAllocator | undefined, log: WatchLog): void {
  if (allocator === undefined) {
    log.warn({ event: 'allocator_missing' }, 'no allocator can be read: no withdrawal gets an execution')
  } else if (allocator.keys === 'public') {
    const fields = { event: 'withdrawal_keys_public', holes: publicKeyHoles }
    log.warn(fields, 'withdrawals have the keys of the public protocol: its known holes are open')
  }
}

/** @throws ConfigurationError listing where endpoints contradict the configuration */
async function refuseContradictions(watched: readonly WatchedChain[]): Promise<void> {
  const problems = await findContradictions(checksOf(watched))
  if (problems.length > 0) throw ConfigurationError.listing('Chains contradict the configuration:', problems)
}

function toListed(chain: RegisteredChain, status: string): ListedChain {
  const { id, vmType, depository, additionalDepositories, hubChainId } = chain
  return {
    id,
    vmType,
    ...(depository !== undefined && { depository }),
    ...(additionalDepositories !== undefined && { additionalDepositories }),
    hubChainId,
    ready: status === 'ready',
    halted: status === 'halted',
  }
}
