import { readFileSync } from 'node:fs'
import { warnOfUncheckedCode } from '@causeway/families'
import {
  composeService,
  createEndpointMetrics,
  type OpenService,
  openListeners,
  type ServiceParts,
} from '@causeway/service'
import {
  type ConfiguredSigner,
  createCapJournal,
  createConfiguredSigner,
  createHeldStore,
  createSigningCaps,
  noHeldStore,
  noJournal,
  readPrivateKeySetting,
  type SigningCaps,
  takeStateDirectory,
} from '@causeway/signer'
import type { Logger } from 'pino'
import { createServiceStops, noServiceStops, type ServiceStops } from '../hub/serviceStops.ts'
import { createSignatureStore, type SignatureStore } from '../hub/signatureStore.ts'
import { createPayloadKeys } from '../keys/payloadKeys.ts'
import { type AllocatorRound, createAllocatorRound } from '../rounds/allocatorRound.ts'
import { createMemoryState, createStateFiles, type StateFiles } from '../state/stateFiles.ts'
import { type AllocatorConfig, keyPrefix } from './config.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { type OpenHub, openHub, refuseContradictions } from './hub.ts'
import { type AllocatorMetrics, createAllocatorMetrics } from './metrics.ts'
import { Rounds } from './rounds.ts'

type Variables = Readonly<Record<string, string | undefined>>

export type Allocator = Pick<OpenService, 'logger' | 'readiness' | 'close'> & {
  /** Lower-case address that signs. */
  readonly signer: string
  /** Opens the operations listener and begins to work. */
  listen(): Promise<{ readonly opsUrl: string }>
}

/** Signed payloads that the caps remember; signing one again counts nothing while it is among them. */
const rememberedMax = 20_000

/**
 * Builds the allocator: reads its files, opens its keys, and compares both with the hub. It signs nothing
 * before `listen`. Its rounds read the payloads that the allocator's contract issued, sign those whose money
 * the hub holds, and store the signatures in the contract. On `close` the last round ends first (stage
 * `jobs`), then the clients and the key that it uses close (`connections`), then the files of its counts and
 * `STATE_DIR` (`state`).
 * @param variables the environment with secrets merged in; configuration files refer to variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createAllocator(config: AllocatorConfig, variables: Variables): Promise<Allocator> {
  const { logLevel } = config
  // Rounds log failures and stops by themselves, so failed checks are logged at the level `debug` alone.
  return composeService({ name: 'allocator', logLevel, failedCheckLevel: 'debug' }, async (service) => {
    const world = await openWorld(service, config, variables)
    const { registry } = service.metrics
    const metrics = createAllocatorMetrics(registry, { signer: world.signer.address, chains: world.chains })
    const caps = openCaps(service, world)
    const signing = openSigning(service, world, { caps, metrics })
    const rounds = openRounds(service, world, { signing, metrics })
    watchSigning(service, world, { caps, metrics, signing, rounds })
    const { logger, readiness, close, opsListener } = service
    const listen = async () => {
      const at = config.ops
      const opened = await openListeners(service, {
        opsUrl: { app: opsListener, at, setting: 'OPS_PORT' },
      })
      rounds.start()
      return opened
    }
    return { signer: world.signer.address, logger, readiness, close, listen }
  })
}

/** Checked configuration, keys and clients from which the allocator is built. */
type World = {
  readonly config: AllocatorConfig
  readonly signer: ConfiguredSigner
  readonly files: LoadedFiles
  /** Names (chain keys) of the chains whose depositories the allocator pays from. */
  readonly chains: readonly string[]
  readonly keys: ReturnType<typeof createPayloadKeys>
  readonly hub: OpenHub
}

/**
 * Opens keys, files and the hub, and refuses a hub that contradicts the files. Then it takes `STATE_DIR`,
 * which no other process may use meanwhile: the parts that are opened after this read and write files in it.
 */
async function openWorld(
  { logger, onClose }: ServiceParts<'connections' | 'state'>,
  config: AllocatorConfig,
  variables: Variables,
): Promise<World> {
  const readFile = (path: string) => readFileSync(path, 'utf8')
  const signer = await createConfiguredSigner({
    environment: variables,
    prefix: keyPrefix,
    readFile,
    warn: (message) => logger.warn({ event: 'signer_setting' }, message),
    // A thread is for services that sign every answer; the allocator signs few payloads.
    isThreaded: false,
  })
  onClose('connections', 'signer', () => signer.close())
  const ed25519 = readPrivateKeySetting({
    environment: variables,
    name: `${keyPrefix}ED25519_PRIVATE_KEY`,
    readFile,
  })
  const { environment, configDirectory, stateDirectory } = config
  const files = await loadFiles({ environment, configDirectory, variables, signer: signer.address })
  const keys = createPayloadKeys({ signer, ed25519 }, files.payers)
  warnOfUncheckedCode([files.hub], logger)
  const hub = openHub(files.hub)
  onClose('connections', 'hub', () => hub.client.close())
  await refuseContradictions({ environment, hub: files.hub, opened: hub, ownSigner: signer.address })
  if (stateDirectory !== undefined)
    onClose('state', 'state directory', await takeStateDirectory(stateDirectory, 'allocator'))
  return { config, signer, files, chains: files.payers.map(({ chain }) => chain), keys, hub }
}

/**
 * Opens the caps on the value that may be signed per hour. From the first count that cannot be written on,
 * `admit` throws, so that every round with a payload to sign fails until a restart: a start needs a folder
 * that it can write.
 */
function openCaps(
  { logger, onClose }: ServiceParts<'state'>,
  { config: { stateDirectory, isLocal }, files }: World,
): SigningCaps {
  let hasLostCount = false
  const onJournalFailed = (error: unknown) => {
    hasLostCount = true
    logger.fatal(
      { event: 'signed_value_not_kept', err: error },
      'what is signed cannot be written to STATE_DIR',
    )
  }
  const journal = stateDirectory === undefined ? noJournal : createCapJournal(stateDirectory, onJournalFailed)
  onClose('state', 'signing caps', () => journal.close())
  const caps = createSigningCaps({
    table: files.caps,
    isUnlistedHeld: !isLocal,
    now: steadyNowMs,
    journal,
    rememberedMax,
  })
  return {
    ...caps,
    admit(value) {
      const verdict = caps.admit(value)
      // Checked after counting, because this very count may be the one that could not be written. The next
      // start would forget it, and sign as much again within the hour.
      if (hasLostCount) throw new Error('what is signed cannot be written to STATE_DIR')
      return verdict
    },
  }
}

type Signing = {
  readonly round: AllocatorRound
  readonly state: StateFiles
  readonly store: SignatureStore
  readonly stops: ServiceStops
}

/** Builds a round over issued payloads, and what it reads, signs and stores with. */
function openSigning(
  { logger }: ServiceParts<never>,
  { config, signer, files, chains, keys, hub }: World,
  { caps, metrics }: { readonly caps: SigningCaps; readonly metrics: AllocatorMetrics },
): Signing {
  const { stateDirectory, stopsUrl: url } = config
  const state = stateDirectory === undefined ? createMemoryState() : createStateFiles(stateDirectory)
  const store = createSignatureStore({
    client: hub.client,
    chainId: files.hub.evmChainId,
    allocator: files.hub.auroraAllocatorAddress,
    signer,
    maxFeePerGasWei: files.maxFeePerGasWei,
  })
  const stops =
    url === undefined
      ? noServiceStops
      : createServiceStops({
          url,
          chains,
          nowMs: () => performance.now(),
          onChange: (stopped, why) =>
            logger.warn({ event: 'service_stops', stopped, why }, 'nothing is signed for these chains'),
        })
  const round = createAllocatorRound({
    contract: hub.contract,
    store,
    keys,
    payers: files.payers,
    caps,
    state,
    stops,
    now: steadyNowMs,
    held: stateDirectory === undefined ? noHeldStore : createHeldStore(stateDirectory),
    firstBlock: files.firstBlock,
    report: reportTo(logger, metrics),
  })
  return { round, state, store, stops }
}

/** Writes outcomes of payloads to log and metrics. */
function reportTo(
  logger: Logger,
  metrics: AllocatorMetrics,
): Parameters<typeof createAllocatorRound>[0]['report'] {
  return {
    signed(payloadId, { chain }) {
      metrics.countSigned(chain)
      logger.info({ event: 'payload_signed', payloadId, chain }, 'a payload is signed')
    },
    refused(payloadId, reason) {
      metrics.countRefused()
      logger.warn({ event: 'payload_refused', payloadId, reason }, 'a payload is not signed')
    },
    held(payloadId, { chain }, reason) {
      logger.warn({ event: 'payload_held', payloadId, chain, reason }, 'a payload waits at a cap')
    },
    released(payloadId) {
      logger.warn({ event: 'payload_released', payloadId }, 'the operator released a payload')
    },
    rewritten({ number, hash }, conflictingHash) {
      const fields = { event: 'final_block_changed', block: number.toString(), hash, found: conflictingHash }
      logger.fatal(fields, 'a final block of the hub changed: nothing is signed any more')
    },
  }
}

/** Makes the loop that repeats rounds, with its readiness checks. `listen` starts it. */
function openRounds(
  { logger, check, onClose }: ServiceParts<'jobs'>,
  { config, chains }: World,
  { signing, metrics }: { readonly signing: Signing; readonly metrics: AllocatorMetrics },
): Rounds {
  const { round, state, store, stops } = signing
  const rounds = new Rounds({
    round,
    state,
    stops,
    chains,
    logger,
    pollIntervalMs: config.pollIntervalMs,
    readGas: () => store.gasBalanceWei(),
    countFailed: () => metrics.countRoundFailed(),
  })
  onClose('jobs', 'rounds', () => rounds.stop())
  for (const readinessCheck of rounds.checks) check(readinessCheck)
  return rounds
}

/** Registers the metrics of rounds, caps, stops and endpoints. */
function watchSigning(
  service: ServiceParts<never>,
  { files, hub }: World,
  parts: {
    readonly caps: SigningCaps
    readonly metrics: AllocatorMetrics
    readonly signing: Signing
    readonly rounds: Rounds
  },
): void {
  const { caps, metrics, rounds } = parts
  const { round, stops } = parts.signing
  const observerOf = createEndpointMetrics(service.metrics)
  hub.quorum.observe((endpoint) => observerOf(files.hub.id, endpoint))
  metrics.watch({
    pending: () => round.pending(),
    readUpTo: () => round.readUpTo(),
    isStopped: () => rounds.isStopped(),
    gasBalanceWei: () => rounds.gasBalanceWei(),
    caps: () => caps.usage(),
    stoppedChains: () => stops.known().stopped,
    endpoints: () => hub.quorum.health(),
  })
}

/** Milliseconds since 1970 that run on steadily: setting the machine's clock must not shift the hour of a cap. */
const startedAtMs = Date.now() - performance.now()
const steadyNowMs = (): number => startedAtMs + performance.now()
