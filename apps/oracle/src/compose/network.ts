import {
  type ChainCheck,
  connectQuotingChain,
  examineClock,
  examineEndpoints,
  findContradictions,
  headSeconds,
  verifyChain,
} from '@causeway/chains'
import { fillContractAddress, isKnownCode as isKnown } from '@causeway/contracts/codes'
import { type AheadReader, ConfigurationError, DomainError, type Hex, type ReadOptions } from '@causeway/core'
import type { Findings } from '@causeway/core/config'
import {
  checkLocalNodes,
  type FamilyChain,
  type KnownCode,
  type RegisteredChain,
  warnOfUncheckedCode,
} from '@causeway/families'
import type { EndpointObserver, QuorumEndpointHealth } from '@causeway/rpc'
import type { AttestationContext, AttestedHub } from '../attestations/context.ts'
import { type ChainWatch, createChainWatch } from '../halt/chainWatch.ts'
import type { HaltStore } from '../halt/haltStore.ts'
import { isUsable, type WatchedChain, type WatchLog } from '../halt/watchedChain.ts'
import type { ListedChain } from '../http/app.ts'
import { openReaders } from '../readers.ts'
import { type OpenAllocator, openAllocator, publicKeyHoles } from './allocator.ts'
import { createContext, type HubAndAllocator } from './attestationContext.ts'
import type { LoadedFiles } from './files.ts'
import { type OpenHub, openHub } from './hub.ts'

/** The opened chains and hub of the configuration, which are compared with what their endpoints tell. */
export type OpenNetwork = {
  readonly context: AttestationContext
  readonly watch: ChainWatch
  /** For `GET /chains/v1`. */
  list(): readonly ListedChain[]
  /** For metrics. */
  statuses(): readonly { readonly chain: string; readonly status: string }[]
  /** True if the hub has run the execution. @throws UpstreamDisagreementError, UpstreamUnavailableError */
  isExecuted(idempotencyKey: Hex, options: ReadOptions): Promise<boolean>
  /** For metrics: every endpoint of every open chain and of the hub. */
  endpoints(): readonly ({ readonly chain: string } & QuorumEndpointHealth)[]
  /** Sets the observer of each endpoint, by the chain's and endpoint's names in metrics. */
  observeEndpoints(observerOf: (chain: string, endpoint: string) => EndpointObserver): void
  /** Scans the final blocks of a chain; `undefined` where that cannot be done. */
  aheadOf(chainId: string): AheadReader | undefined
  /** @throws NoChainReadyError while no chain can be attested */
  requireReadyChain(): void
  /** Registers a function that drops cached answers: it is called when those of a chain may be wrong. */
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
  const closeClients = () =>
    Promise.all([hub.close(), allocator?.close(), ...[...open.values()].map((chain) => chain.close())])
  const forgetters: (() => void)[] = []
  try {
    const watched = watchedChains(options.environment, { hub, allocator }, open)
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
      onResume: (chainId) => open.get(chainId)?.reader.forget(),
      log,
    })
    await watch.check()
    const repeated = [
      repeatCheck(() => watch.check(), options.finalityCheckIntervalMs),
      repeatCheck(() => watch.follow(), options.headCheckIntervalMs),
    ]
    const measured = measuredChains({ hub, allocator }, open)
    const statusOf = (chain: RegisteredChain) => watch.statusOf(chain.id) ?? 'unavailable'
    return {
      watch,
      isExecuted: (key, reading) => hub.reader.isExecuted(key, reading),
      context: createContext(chains, { hub, allocator }, open, watch),
      list: () => [...chains.values()].map((chain) => toListed(chain, statusOf(chain))),
      statuses: () => [...chains.values()].map((chain) => ({ chain: chain.id, status: statusOf(chain) })),
      endpoints: () => measured.flatMap(([chain, { health }]) => health().map((one) => ({ chain, ...one }))),
      observeEndpoints(observerOf) {
        for (const [chain, one] of measured) one.observe((endpoint) => observerOf(chain, endpoint))
      },
      aheadOf: (chainId) => open.get(chainId)?.reader.ahead,
      requireReadyChain() {
        if (![...open.keys()].some((id) => isUsable(watch.statusOf(id)))) throw new NoChainReadyError()
      },
      onRewritten: (forget) => void forgetters.push(forget),
      async close() {
        for (const check of repeated) check.stop()
        await watch.close()
        await closeClients()
      },
    }
  } catch (error) {
    await closeClients()
    throw error
  }
}

type Measured = Pick<FamilyChain, 'health' | 'observe'>

/** Chains whose endpoints are measured, with their names in metrics. */
const measuredChains = (
  { hub, allocator }: HubAndAllocator,
  open: ReadonlyMap<string, Measured>,
): readonly (readonly [string, Measured])[] => [
  [hub.attested.id, hub],
  ...(allocator === undefined ? [] : ([[`${hub.attested.id}-allocator`, allocator]] as const)),
  ...open,
]

/**
 * Tells which code counts as known. The release's own fill contract may be missing until it is deployed: no other
 * contract can ever be at its address.
 */
function knownCode(environment: string): KnownCode {
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

/** The checks of all watched chains, each once: the hub is watched under several ids. */
function checksOf(watched: readonly WatchedChain[]): ReadonlyMap<string, ChainCheck> {
  const first = watched.filter(
    ({ verify }, index) => watched.findIndex((one) => one.verify === verify) === index,
  )
  return new Map(first.map(({ id, verify }) => [id, verify]))
}

/** Compares chains and hub with the configuration, for doctor, and closes what it opened. */
export async function examineNetwork(
  { files, environment }: Pick<NetworkOptions, 'files' | 'environment'>,
  nowMs: () => number,
  findings: Findings,
): Promise<void> {
  const isKnownCode = knownCode(environment)
  const hub = openHub(files.hub, isKnownCode)
  const allocator = openAllocator(files.hub, isKnownCode)
  const chains = [...files.chains.chains.values()]
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined, fatal: () => undefined }
  const open = openReaders(chains, hub.entries, { finalResultsKeptMax: 0, isKnownCode, log })
  const connected = chains.flatMap((chain) => {
    const client = open.has(chain.id) ? connectQuotingChain(chain) : undefined
    return client === undefined ? [] : [{ chain, client }]
  })
  // `examineEndpoints` reports on the endpoints of these.
  const examinedIds = new Set(connected.map(({ chain }) => chain.id).concat(files.hub.id))
  const reportTooFew = (chain: string) => {
    if (examinedIds.has(chain)) return
    findings.add({
      code: 'endpoints-too-few',
      severity: 'degrades',
      setting: `httpRpcUrl of ${chain}`,
      seen: 'too few hosts answer to agree on anything: nothing of this chain is signed',
      fix: 'Mend its endpoints, or name more of them.',
    })
  }
  try {
    const [problems] = await Promise.all([
      findContradictions(checksOf(watchedChains(environment, { hub, allocator }, open)), reportTooFew),
      examineEndpoints(hub.client, findings),
      ...connected.map(({ client }) => examineEndpoints(client, findings)),
      examineClock(
        connected.map(
          ({ chain, client }) =>
            () =>
              headSeconds(chain, client),
        ),
        nowMs,
        findings,
      ),
    ])
    findings.problems(problems, 'chain-contradicts')
  } finally {
    const openConnections = [hub, ...(allocator === undefined ? [] : [allocator]), ...open.values()]
    await Promise.all(
      [...openConnections, ...connected.map(({ client }) => client)].map((one) => one.close()),
    )
  }
}

/** The hub, the allocator and all opened chains, as `ChainWatch` watches them. */
function watchedChains(
  environment: string,
  { hub, allocator }: HubAndAllocator,
  open: ReadonlyMap<string, FamilyChain>,
): readonly WatchedChain[] {
  const node = ({ client, verify }: Pick<OpenHub, 'client' | 'verify'>) => ({
    verify: (signal: AbortSignal) =>
      verifyChain({ verify, verifyLocal: () => checkLocalNodes(environment, client) }, environment, signal),
  })
  const { recovery } = hub
  const onHub = node(hub)
  return [
    { id: hub.attested.id, ...onHub, finalBlocks: () => undefined },
    ...(recovery === undefined
      ? []
      : [{ id: recovery.reader.chainId, ...onHub, finalBlocks: () => recovery.reader.finalBlocks }]),
    ...(allocator === undefined
      ? []
      : [
          {
            id: allocator.reader.chainId,
            ...node(allocator),
            finalBlocks: () => allocator.reader.finalBlocks,
          },
        ]),
    ...[...open.values()].map((chain) => {
      const verify = (signal: AbortSignal) => verifyChain(chain, environment, signal)
      return watchedChain({ ...chain, verify }, hub.attested)
    }),
  ]
}

/** A family's chain as `ChainWatch` watches it. */
export function watchedChain(
  { reader, verify, readsHub }: Pick<FamilyChain, 'reader' | 'verify' | 'readsHub'>,
  hub: Pick<AttestedHub, 'id'>,
): WatchedChain {
  return {
    id: reader.chainId,
    verify,
    finalBlocks: () => reader.finalBlocks,
    restsOn: readsHub === true ? hub.id : undefined,
  }
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

/** Repeats `check`, with a pause of `intervalMs` after each, without keeping the process alive. */
export function repeatCheck(check: () => Promise<void>, intervalMs: number): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const schedule = () => {
    if (isStopped) return
    timer = setTimeout(() => void check().finally(schedule), intervalMs).unref()
  }
  schedule()
  return {
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
