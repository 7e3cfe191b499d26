import { readFileSync } from 'node:fs'
import type { SignatureContext } from '@causeway/core'
import {
  type Closer,
  createHttpMetrics,
  createLogger,
  createOpsListener,
  createReadiness,
  type HttpApp,
  type HttpMetrics,
  openListener,
  type Readiness,
  standardErrorPolicy,
} from '@causeway/http'
import { type ConfiguredSigner, createConfiguredSigner, recoverSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { openSigningGuard } from '../caps/openSigningGuard.ts'
import { openSettledOrders } from '../caps/settledOrders.ts'
import { buildApp } from '../http/app.ts'
import { createPeerAggregator } from '../peers/peerAggregator.ts'
import { parsePeers, parseSignerPolicy } from '../peers/settings.ts'
import { createAttestationService } from '../service/attestationService.ts'
import { createConfiguredKeys } from '../service/keySetting.ts'
import { createOracleMetrics } from '../service/oracleMetrics.ts'
import { measuredSigner } from '../service/signing.ts'
import type { OracleConfig } from './config.ts'
import { type LoadedFiles, loadFiles } from './files.ts'
import { type OpenNetwork, openNetwork } from './network.ts'

export type Oracle = {
  /** The public listener. */
  readonly app: HttpApp
  /** Lower-case address that signs. */
  readonly signer: string
  readonly logger: Logger
  readonly readiness: Readiness
  /** Opens all listeners, or none: when one cannot be opened, everything is closed. */
  listen(): Promise<ListenAddresses>
  /** In the order in which they must be closed. */
  readonly closers: readonly Closer[]
  /** Closes everything in that order, without draining first. */
  close(): Promise<void>
}

export type ListenAddresses = { readonly publicUrl: string; readonly opsUrl: string }

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
  try {
    const { address } = signer
    logger.info({ event: 'signer_opened', signer: address }, 'attestations are signed with this address')
    const policy = parseSignerPolicy({
      signers: config.signers.entries,
      threshold: config.signers.threshold,
      ownSigner: address,
    })
    const peers = parsePeers(config.peers.entries)
    for (const warning of [...policy.warnings, ...peers.warnings]) logger.warn(warning)
    const { environment, configDirectory, stateDirectory, finalResultsKeptMax } = config
    const { finalityCheckIntervalMs, headCheckIntervalMs } = config
    const files = await loadFiles({ environment, configDirectory, variables, signer: address })
    const network = await openNetwork({
      files,
      environment,
      stateDirectory,
      finalityCheckIntervalMs,
      headCheckIntervalMs,
      finalResultsKeptMax,
      log: logger,
    })
    return await assemble({
      ...{ config, logger, signer, files, network },
      ...{ policy: policy.value, peers: peers.value },
    })
  } catch (error) {
    await signer.close()
    throw error
  }
}

type Parts = {
  readonly config: OracleConfig
  readonly logger: Logger
  readonly signer: ConfiguredSigner
  readonly files: LoadedFiles
  readonly network: OpenNetwork
  readonly policy: ReturnType<typeof parseSignerPolicy>['value']
  readonly peers: ReturnType<typeof parsePeers>['value']
}

/** Everything that is built once settings and chains are known to be good. */
async function assemble(parts: Parts): Promise<Oracle> {
  const { config, logger, signer, files, network, policy, peers } = parts
  const { context, watch } = network
  const httpMetrics = createHttpMetrics({ service: 'oracle' })
  const metrics = createOracleMetrics({
    registry: httpMetrics.registry,
    signer: signer.address,
    chainIds: [...context.chains.keys()],
  })
  metrics.watchChains(() => network.statuses())
  metrics.watchEndpoints(() => network.endpoints())
  metrics.watchKept(() => watch.keptWindows())
  const signatureContext: SignatureContext = { hub: context.hub, networkOf: context.networkOf }
  const guard = await openSigningGuard({
    chains: files.chains,
    isLocal: config.isLocal,
    stateDirectory: config.stateDirectory,
    isExecuted: (key, reading) => network.isExecuted(key, reading),
    metrics,
    log: logger,
  })
  const orders = openSettledOrders(config, logger)
  const service = createAttestationService({
    context,
    watch,
    signer: measuredSigner(signer, metrics),
    signatureContext,
    metrics,
    guard,
    orders,
    inFlightMax: config.inFlightMax,
    keptMax: config.finalResultsKeptMax,
    deadlineMs: attestationDeadlineMs,
  })
  network.onRewritten(() => service.forgetAll())
  const { timeoutMs } = config.peers
  const aggregator = createPeerAggregator({
    peers,
    policy,
    context: signatureContext,
    recover: recoverSigner,
    requestTimeoutMs: timeoutMs,
    log: logger,
    metrics,
    now: () => performance.now(),
  })
  const readiness = createReadiness({
    checks: [
      { name: 'hub', check: async () => watch.refuseUnlessReady(context.hub.id) },
      { name: 'chains', check: async () => network.requireReadyChain() },
    ],
    onFailure: (name, error) => logger.warn({ check: name, err: error }, 'readiness check failed'),
  })
  const app = await buildApp({
    service,
    peers: aggregator,
    metrics,
    chains: () => network.list(),
    requestTimeoutMs: Math.max(attestationDeadlineMs, peers.length === 0 ? 0 : timeoutMs) + answerMarginMs,
    apiKeys: createConfiguredKeys(config.apiKeys),
    allowsForce: config.allowsForce,
    logger,
    httpMetrics,
    readiness,
    trustedProxies: config.trustedProxies,
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
      { name: 'peers', close: () => aggregator.close() },
      { name: 'chains', close: () => network.close() },
      { name: 'signing caps', close: async () => guard.close() },
      { name: 'settled orders', close: async () => orders.close() },
      { name: 'signer', close: () => signer.close() },
    ],
  })
}

type Listening = Pick<Oracle, 'app' | 'logger' | 'readiness' | 'signer'> & {
  readonly config: OracleConfig
  readonly httpMetrics: HttpMetrics
  /** What requests use; closed when no listener takes any more. */
  readonly used: readonly Closer[]
}

function createListeners(parts: Listening): Oracle {
  const { app, config, logger, readiness, signer, httpMetrics, used } = parts
  const { registry } = httpMetrics
  const opsListener = createOpsListener({ logger, errors: standardErrorPolicy, registry, readiness })
  const closers: readonly Closer[] = [
    { name: 'public listener', close: () => app.close() },
    ...used,
    { name: 'ops listener', close: () => opsListener.close() },
  ]
  const close = async () => {
    for (const closer of closers) await closer.close()
  }
  return {
    app,
    signer,
    logger,
    readiness,
    closers,
    close,
    async listen() {
      try {
        const [publicUrl, opsUrl] = await Promise.all([
          openListener(app, config.http, 'HTTP_PORT'),
          openListener(opsListener, config.ops, 'OPS_PORT'),
        ])
        return { publicUrl, opsUrl }
      } catch (error) {
        await close()
        throw error
      }
    },
  }
}
