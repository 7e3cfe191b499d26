import { readFileSync } from 'node:fs'
import type { Hex } from '@causeway/core'
import { createReadiness, type Tracing } from '@causeway/http'
import {
  createEndpointMetrics,
  createLogger,
  createServiceMetrics,
  type NeighbourWatch,
  openTracing,
  tracedSigner,
  watchNeighbours,
} from '@causeway/service'
import {
  type ConfiguredSigner,
  createConfiguredSigner,
  hasCapCounts,
  recoverSigner,
  takeStateDirectory,
} from '@causeway/signer'
import type { Logger } from 'pino'
import { openSigningGuard } from '../caps/openSigningGuard.ts'
import { openSettledOrders } from '../caps/settledOrders.ts'
import type { SigningGuard } from '../caps/signingGuard.ts'
import { createHaltStore } from '../halt/haltStore.ts'
import { buildApp } from '../http/app.ts'
import { createPeerAggregator, type PeerAggregator } from '../peers/peerAggregator.ts'
import {
  type Peer,
  parsePeers,
  parseSignerPolicy,
  requiredSignatures,
  type SignerPolicy,
} from '../peers/settings.ts'
import { createAttestationService } from '../service/attestationService.ts'
import { createConfiguredKeys } from '../service/keySetting.ts'
import { createOracleMetrics, type OracleMetrics } from '../service/oracleMetrics.ts'
import { measuredSigner } from '../service/signing.ts'
import { openAhead } from './ahead.ts'
import type { OracleConfig } from './config.ts'
import { examinePeers } from './examine.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { createListeners, type Oracle } from './listeners.ts'
import { type OpenNetwork, openNetwork, repeatCheck } from './network.ts'
import type { SharedState } from './sharedState.ts'
import { stateCheck } from './stateCheck.ts'

/** An attestation of this oracle alone takes no longer. @source design.md 8 */
const attestationDeadlineMs = 8_000
/** What an answer may take beside readings and peers: merging, recovering and sending. */
const answerMarginMs = 1_500

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Builds the whole service: opens the signer, reads files, compares chains and hub with them. Nothing
 * listens yet.
 * @param variables the environment with secrets merged in; chain files name variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createOracle(config: OracleConfig, variables: Variables): Promise<Oracle> {
  const logger = createLogger({ service: 'oracle', level: config.logLevel })
  const signer = await createConfiguredSigner({
    environment: variables,
    readFile: (path) => readFileSync(path, 'utf8'),
    warn: (message) => logger.warn({ event: 'signer_setting' }, message),
    isThreaded: true,
  })
  let leave = async () => {}
  try {
    const { address } = signer
    logger.info({ event: 'signer_opened', signer: address }, 'attestations are signed with this address')
    const others = readPeerSettings(config, signer, logger)
    const { environment, configDirectory, stateDirectory, finalResultsKeptMax } = config
    const { finalityCheckIntervalMs, headCheckIntervalMs, headAgeMaxMs } = config
    const files = await loadFiles({ environment, configDirectory, variables, signer: address })
    if (stateDirectory !== undefined) leave = await takeStateDirectory(stateDirectory, 'oracle')
    const shared = await openShared({ config, signer: address, log: logger })
    const network = await openNetwork({
      files,
      environment,
      halts: shared?.halts ?? (stateDirectory === undefined ? undefined : createHaltStore(stateDirectory)),
      finalityCheckIntervalMs,
      headCheckIntervalMs,
      headAgeMaxMs,
      finalResultsKeptMax,
      log: logger,
    }).catch(async (error: unknown) => {
      await shared?.close()
      throw error
    })
    return await assemble({ config, logger, signer, files, network, shared, leave, ...others })
  } catch (error) {
    await leave()
    await signer.close()
    throw error
  }
}

/** Loaded only where it is used. @throws ConfigurationError for a database that cannot be used */
async function openShared({
  config: { databaseUrl: url, environment, stateDirectory },
  signer,
  log,
}: {
  readonly config: OracleConfig
  readonly signer: Hex
  readonly log: Logger
}): Promise<SharedState | undefined> {
  if (url === undefined) return undefined
  const { openSharedState } = await import('./sharedState.ts')
  return openSharedState({ url, signer, environment, stateDirectory, log })
}

type PeerSettings = { readonly policy: SignerPolicy; readonly peers: readonly Peer[] }

/** @throws ConfigurationError */
function readPeerSettings(config: OracleConfig, signer: ConfiguredSigner, logger: Logger): PeerSettings {
  const policy = parseSignerPolicy({
    signers: config.signers.entries,
    threshold: config.signers.threshold,
    ownSigner: signer.address,
  })
  const peers = parsePeers(config.peers.entries, config.http)
  for (const warning of [...policy.warnings, ...peers.warnings]) logger.warn(warning)
  return { policy: policy.value, peers: peers.value }
}

type Parts = PeerSettings & {
  readonly config: OracleConfig
  readonly logger: Logger
  readonly signer: ConfiguredSigner
  readonly files: LoadedFiles
  readonly network: OpenNetwork
  /** Absent without `ORACLE_DATABASE_URL`. */
  readonly shared: SharedState | undefined
  /** Lets another process have `STATE_DIR`. */
  readonly leave: () => Promise<void>
}

/** Everything that is built once settings and chains are known to be good. */
async function assemble(parts: Parts): Promise<Oracle> {
  const { config, logger, signer, network, shared, policy, peers } = parts
  const { context, watch } = network
  const httpMetrics = createServiceMetrics('oracle')
  const metrics = createOracleMetrics({
    registry: httpMetrics.registry,
    signer: signer.address,
    chainIds: [...context.chains.keys()],
    peerNames: peers.map(({ name }) => name),
  })
  const told = { service: 'oracle', registry: httpMetrics.registry, log: logger }
  const tracing = await openTracing(config.tracing, told)
  metrics.watchChains(() => network.statuses())
  metrics.watchEndpoints(() => network.endpoints())
  network.observeEndpoints(createEndpointMetrics(httpMetrics, tracing))
  metrics.watchFinal(() => watch.finalHeads())
  metrics.watchKept(() => watch.keptWindows())
  // Before the folder gets its counts.
  const beganEmpty = beginsEmpty(config)
  const { service, isKept, used } = await openService(parts, metrics, tracing)
  if (isKept !== undefined) metrics.watchState(isKept)
  const aggregator = openPeers(parts, metrics, tracing)
  const ahead = openAhead({ config, logger, network, service, metrics, aggregator, policy, peers })
  const watchedPeers = watchPeers(parts)
  const readiness = createReadiness({
    checks: [
      { name: 'hub', check: async () => watch.refuseUnlessReady(context.hub.id) },
      { name: 'chains', check: async () => network.requireReadyChain() },
      ...(shared === undefined ? [] : [{ name: 'database', check: () => shared.check(), isShownOnly: true }]),
      ...(isKept === undefined ? [] : [stateCheck({ isKept, beganEmpty, nowMs: () => performance.now() })]),
      ...(watchedPeers === undefined ? [] : [watchedPeers.check]),
    ],
    onFailure: (name, error) => logger.warn({ check: name, err: error }, 'readiness check failed'),
  })
  const peersMs = peers.length === 0 ? 0 : config.peers.timeoutMs
  const app = await buildApp({
    service,
    peers: aggregator,
    prepared: ahead?.prepared,
    signaturesRequired: requiredSignatures(policy),
    metrics,
    chains: () => network.list(),
    requestTimeoutMs: Math.max(attestationDeadlineMs, peersMs) + answerMarginMs,
    apiKeys: createConfiguredKeys(config.apiKeys),
    allowsForce: config.allowsForce,
    logger,
    httpMetrics,
    tracing,
    readiness,
    signer: signer.address,
    trustedProxies: config.trustedProxies,
    securityContact: config.securityContact,
    rateLimit: config.rateLimit,
  })
  return createListeners({
    app,
    config,
    logger,
    readiness,
    httpMetrics,
    signer: signer.address,
    used: [
      { name: 'attesting ahead', close: async () => ahead?.close() },
      { name: 'watch of peers', close: async () => watchedPeers?.close() },
      { name: 'peers', close: async () => aggregator?.close() },
      ...used,
      { name: 'state directory', close: parts.leave },
      { name: 'traces', close: async () => tracing?.close() },
    ],
  })
}

/** Attesting with this oracle alone, and what it uses in the order in which it is closed. */
async function openService(
  { config, logger, signer, files, network, shared }: Parts,
  metrics: OracleMetrics,
  tracing: Tracing | undefined,
) {
  const guard = await openSigningGuard({
    chains: files.chains,
    ...{ isLocal: config.isLocal, stateDirectory: config.stateDirectory, capsShare: config.capsShare },
    shared: shared?.counting,
    isExecuted: (key, reading) => network.isExecuted(key, reading),
    metrics,
    log: logger,
  })
  const refreshing = shared && repeatCheck(() => refreshGuard(guard, logger), config.finalityCheckIntervalMs)
  const orders = shared?.orders ?? openSettledOrders(config, logger)
  const service = createAttestationService({
    context: network.context,
    watch: network.watch,
    signer: measuredSigner(tracedSigner(signer, tracing), metrics),
    metrics,
    guard,
    orders,
    inFlightMax: config.inFlightMax,
    keptMax: config.finalResultsKeptMax,
    deadlineMs: attestationDeadlineMs,
  })
  network.onRewritten(() => service.forgetAll())
  const keepsFolder = config.stateDirectory !== undefined && shared === undefined
  return {
    service,
    /** Whether all that must outlive the process is in `STATE_DIR`; undefined where nothing is kept there. */
    isKept: keepsFolder ? () => [guard, orders].every((part) => part.isKept()) : undefined,
    used: [
      { name: 'chains', close: () => network.close() },
      { name: 'signing caps', close: async () => guard.close() },
      { name: 'settled orders', close: async () => orders.close() },
      {
        name: 'database',
        async close() {
          refreshing?.stop()
          await shared?.close()
        },
      },
      { name: 'signer', close: () => signer.close() },
    ],
  }
}

/** Metrics of a database that is away stay as they were. */
async function refreshGuard(guard: SigningGuard, log: Logger): Promise<void> {
  try {
    await guard.refresh()
  } catch (error) {
    log.warn({ event: 'caps_not_read', err: error }, 'what all processes signed could not be read')
  }
}

/** `undefined` where no peer is configured. */
function openPeers(
  parts: Parts,
  metrics: OracleMetrics,
  tracing: Tracing | undefined,
): PeerAggregator | undefined {
  const { config, logger, signer, network, policy, peers } = parts
  if (peers.length === 0) return undefined
  return createPeerAggregator({
    peers,
    policy,
    ownSigner: signer.address,
    context: network.context,
    recover: recoverSigner,
    requestTimeoutMs: config.peers.timeoutMs,
    log: logger,
    metrics,
    tracing,
    now: () => performance.now(),
  })
}

/** Where counts of an earlier run should be and are not. A local network begins anew. */
const beginsEmpty = ({ isLocal, stateDirectory }: OracleConfig): boolean =>
  !isLocal && stateDirectory !== undefined && !hasCapCounts(stateDirectory)

/** `undefined` where no peer is configured. */
function watchPeers({ peers, policy, signer, logger: log }: Parts): NeighbourWatch | undefined {
  if (peers.length === 0) return undefined
  const { signers } = policy
  const settings = { peers, signers, required: requiredSignatures(policy), own: signer.address }
  return watchNeighbours({
    name: 'peers',
    look: (found) => examinePeers(settings, found),
    codes: ['peer-silent', 'peer-refuses', 'signer-shared', 'signer-unlisted', 'threshold-unreachable'],
    log,
  })
}
