import { type ServiceParts, traceSigner } from '@causeway/service'
import type { ConfiguredSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { openSigningGuard } from '../caps/openSigningGuard.ts'
import { openSettledOrders } from '../caps/settledOrders.ts'
import type { SigningGuard } from '../caps/signingGuard.ts'
import { createAttestationService } from '../service/attestationService.ts'
import type { OracleMetrics } from '../service/oracleMetrics.ts'
import { measuredSigner } from '../service/signing.ts'
import type { OracleConfig } from './config.ts'
import type { LoadedFiles } from './files.ts'
import type { OpenNetwork } from './network.ts'
import { repeatCheck } from './repeatCheck.ts'
import type { SharedState } from './sharedState.ts'

/**
 * Time limit of an attestation by this oracle alone.
 * @source docs/reference/attestations/README.md, On every route
 */
export const attestationDeadlineMs = 8_000

/** Parts of the oracle from which its attestation service is built. */
export type AttestingOracle = {
  readonly config: OracleConfig
  readonly signer: ConfiguredSigner
  readonly files: LoadedFiles
  readonly network: OpenNetwork
  /** State in the database of several processes; undefined without `ORACLE_DATABASE_URL`. */
  readonly shared: SharedState | undefined
}

/** Builds the service that attests with this oracle's signature alone; peers' are added by the HTTP routes. */
export async function openAttesting(
  service: ServiceParts<'jobs' | 'state'>,
  oracle: AttestingOracle,
  metrics: OracleMetrics,
) {
  const { config, signer, network, shared } = oracle
  const guard = await openGuard(service, oracle, metrics)
  const orders = shared?.orders ?? openSettledOrders(config, service.logger)
  service.onClose('state', 'settled orders', () => orders.close())
  const attesting = createAttestationService({
    context: network.context,
    watch: network.watch,
    signer: measuredSigner(traceSigner(signer, service.tracing), metrics),
    metrics,
    guard,
    orders,
    inFlightMax: config.inFlightMax,
    keptMax: config.finalResultsKeptMax,
    deadlineMs: attestationDeadlineMs,
  })
  network.onRewritten(() => attesting.forgetAll())
  const keepsFolder = config.stateDirectory !== undefined && shared === undefined
  /** True if all state that must outlive the process is in `STATE_DIR`; undefined if none is kept there. */
  const isKept = keepsFolder ? () => [guard, orders].every((part) => part.isKept()) : undefined
  if (isKept !== undefined) metrics.watchState(isKept)
  return { attesting, isKept }
}

/** Opens the guard that counts value before signatures; with a shared database it reads the others' counts regularly. */
async function openGuard(
  { logger, onClose }: ServiceParts<'jobs' | 'state'>,
  { config, files, network, shared }: Omit<AttestingOracle, 'signer'>,
  metrics: OracleMetrics,
) {
  const guard = await openSigningGuard({
    chains: files.chains,
    isLocal: config.isLocal,
    stateDirectory: config.stateDirectory,
    capsShare: config.capsShare,
    shared: shared?.counting,
    isExecuted: (key, reading) => network.isExecuted(key, reading),
    metrics,
    log: logger,
  })
  onClose('state', 'signing caps', () => guard.close())
  if (shared !== undefined) {
    const refreshing = repeatCheck(() => refreshGuard(guard, logger), config.finalityCheckIntervalMs)
    onClose('jobs', 'refresh of caps', () => refreshing.stop())
  }
  return guard
}

/** While the database does not answer, metrics keep their last values. */
async function refreshGuard(guard: SigningGuard, log: Logger): Promise<void> {
  try {
    await guard.refresh()
  } catch (error) {
    log.warn({ event: 'caps_not_read', err: error }, 'what all processes signed could not be read')
  }
}
