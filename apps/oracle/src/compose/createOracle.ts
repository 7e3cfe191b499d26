import { readFileSync } from 'node:fs'
import type { Hex } from '@causeway/core'
import type { HttpApp } from '@causeway/http'
import {
  composeService,
  createEndpointMetrics,
  type OpenService,
  openListeners,
  registerNeighbours,
  type ServiceParts,
} from '@causeway/service'
import { createConfiguredSigner, hasCapCounts, takeStateDirectory } from '@causeway/signer'
import { createHaltStore } from '../halt/haltStore.ts'
import { buildApp } from '../http/app.ts'
import type { PeerAggregator } from '../peers/peerAggregator.ts'
import { type PeerSettings, requiredSignatures } from '../peers/settings.ts'
import type { AttestationService } from '../service/attestationService.ts'
import { createConfiguredKeys } from '../service/keySetting.ts'
import { createOracleMetrics, type OracleMetrics } from '../service/oracleMetrics.ts'
import { type OpenAhead, openAhead } from './ahead.ts'
import { type AttestingOracle, attestationDeadlineMs, openAttesting } from './attesting.ts'
import type { OracleConfig } from './config.ts'
import { loadFiles } from './files.ts'
import { openNetwork } from './network.ts'
import { openPeers, readPeerSettings, watchPeers } from './peers.ts'
import type { SharedState } from './sharedState.ts'
import { stateCheck } from './stateCheck.ts'

export type Oracle = Pick<OpenService, 'logger' | 'readiness' | 'close'> & {
  /** The public listener. */
  readonly app: HttpApp
  /** Lower-case address that signs. */
  readonly signer: string
  /** Opens all listeners, or none: when one cannot be opened, everything is closed. */
  listen(): Promise<{ readonly publicUrl: string; readonly opsUrl: string }>
}

/** Time of a request beyond readings and peers: merging, recovering and sending. */
const answerMarginMs = 1_500

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Builds the whole service: opens the signer, reads files, compares chains and hub with them. It listens only
 * after `listen`. `close` goes by the stages of `onClose`: listeners, jobs, connections, state; within one
 * stage the part that was opened last closes first.
 * @param variables the environment with secrets merged in; chain files refer to variables of it
 * @throws ConfigurationError naming the setting that must not run
 */
export async function createOracle(config: OracleConfig, variables: Variables): Promise<Oracle> {
  const { logLevel, tracing } = config
  return composeService({ name: 'oracle', logLevel, tracing }, async (service) => {
    const world = await openWorld(service, config, variables)
    const metrics = watchNetwork(service, world)
    // Read before `openAttesting`, which creates the file of counts.
    const beganEmpty = beginsEmpty(config)
    const localAttesting = await openAttesting(service, world, metrics)
    const aggregator = openPeers(service, world, metrics)
    const ahead = openAhead({ ...world, service, metrics, aggregator, attesting: localAttesting.attesting })
    registerChecks(service, world, { isKept: localAttesting.isKept, beganEmpty })
    const app = await openApp(service, world, {
      attesting: localAttesting.attesting,
      aggregator,
      ahead,
      metrics,
    })
    const { logger, readiness, close, opsListener } = service
    const listen = () =>
      openListeners(service, {
        publicUrl: { app, at: config.http, setting: 'HTTP_PORT' },
        opsUrl: { app: opsListener, at: config.ops, setting: 'OPS_PORT' },
      })
    return { app, signer: world.signer.address, logger, readiness, close, listen }
  })
}

/** Checked configuration, keys and clients from which the oracle is built. */
type World = AttestingOracle & PeerSettings

/** Takes `STATE_DIR` before a file in it is used, and opens the database before the network reads halts. */
async function openWorld(service: ServiceParts, config: OracleConfig, variables: Variables): Promise<World> {
  const { logger, onClose } = service
  const signer = await createConfiguredSigner({
    environment: variables,
    readFile: (path) => readFileSync(path, 'utf8'),
    warn: (message) => logger.warn({ event: 'signer_setting' }, message),
    isThreaded: true,
  })
  onClose('connections', 'signer', () => signer.close())
  const { address } = signer
  logger.info({ event: 'signer_opened', signer: address }, 'attestations are signed with this address')
  const peerSettings = readPeerSettings(config, signer, logger)
  const { environment, configDirectory, stateDirectory, finalResultsKeptMax } = config
  const { finalityCheckIntervalMs, headCheckIntervalMs, headAgeMaxMs } = config
  const files = await loadFiles({ environment, configDirectory, variables, signer: address })
  if (stateDirectory !== undefined)
    onClose('state', 'state directory', await takeStateDirectory(stateDirectory, 'oracle'))
  const shared = await openShared(service, config, address)
  const network = await openNetwork({
    files,
    environment,
    halts: shared?.halts ?? (stateDirectory === undefined ? undefined : createHaltStore(stateDirectory)),
    finalityCheckIntervalMs,
    headCheckIntervalMs,
    headAgeMaxMs,
    finalResultsKeptMax,
    log: logger,
  })
  onClose('connections', 'chains', () => network.close())
  return { config, signer, files, network, shared, ...peerSettings }
}

/** Opens the shared database, whose module is loaded only then. @throws ConfigurationError for one that cannot be used */
async function openShared(
  { logger: log, onClose }: ServiceParts<'state'>,
  { databaseUrl: url, environment, stateDirectory }: OracleConfig,
  signer: Hex,
): Promise<SharedState | undefined> {
  if (url === undefined) return undefined
  const { openSharedState } = await import('./sharedState.ts')
  const shared = await openSharedState({ url, signer, environment, stateDirectory, log })
  onClose('state', 'database', () => shared.close())
  return shared
}

/** Makes the metrics, and reports chains and endpoints in them. */
function watchNetwork(
  { metrics: httpMetrics, tracing }: ServiceParts<never>,
  { signer, network, peers }: World,
): OracleMetrics {
  const { context, watch } = network
  const metrics = createOracleMetrics({
    registry: httpMetrics.registry,
    signer: signer.address,
    chainIds: [...context.chains.keys()],
    peerNames: peers.map(({ name }) => name),
  })
  metrics.watchChains(() => network.statuses())
  metrics.watchEndpoints(() => network.endpoints())
  network.observeEndpoints(createEndpointMetrics(httpMetrics, tracing))
  metrics.watchFinal(() => watch.finalHeads())
  metrics.watchKept(() => watch.keptWindows())
  return metrics
}

/** Registers the checks of `/ready`. */
function registerChecks(
  service: ServiceParts<'jobs'>,
  world: World,
  { isKept, beganEmpty }: { readonly isKept: (() => boolean) | undefined; readonly beganEmpty: boolean },
): void {
  const { check } = service
  const { network, shared } = world
  const { context, watch } = network
  check({ name: 'hub', check: async () => watch.refuseUnlessReady(context.hub.id) })
  check({ name: 'chains', check: async () => network.requireReadyChain() })
  if (shared !== undefined) check({ name: 'database', check: () => shared.check(), isShownOnly: true })
  if (isKept !== undefined) check(stateCheck({ isKept, beganEmpty, nowMs: () => performance.now() }))
  registerNeighbours(service, watchPeers(service, world))
}

/** Builds the public HTTP app. */
async function openApp(
  service: OpenService,
  world: World,
  parts: {
    readonly attesting: AttestationService
    readonly aggregator: PeerAggregator | undefined
    readonly ahead: OpenAhead | undefined
    readonly metrics: OracleMetrics
  },
): Promise<HttpApp> {
  const { logger, metrics: httpMetrics, tracing, readiness, onClose } = service
  const { config, signer, network, policy, peers } = world
  const { attesting, aggregator, ahead, metrics } = parts
  const peersMs = peers.length === 0 ? 0 : config.peers.timeoutMs
  const app = await buildApp({
    service: attesting,
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
  onClose('listeners', 'public listener', () => app.close())
  return app
}

/** True if `STATE_DIR` lacks the counts of an earlier run, outside `local`. */
const beginsEmpty = ({ isLocal, stateDirectory }: OracleConfig): boolean =>
  !isLocal && stateDirectory !== undefined && !hasCapCounts(stateDirectory)
