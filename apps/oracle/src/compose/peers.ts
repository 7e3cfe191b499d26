import { type NeighbourWatch, type ServiceParts, watchNeighbours } from '@causeway/service'
import { type ConfiguredSigner, recoverSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { createPeerAggregator, type PeerAggregator } from '../peers/peerAggregator.ts'
import { type PeerSettings, parsePeers, parseSignerPolicy } from '../peers/settings.ts'
import type { OracleMetrics } from '../service/oracleMetrics.ts'
import type { AttestingOracle } from './attesting.ts'
import type { OracleConfig } from './config.ts'
import { examinePeers } from './examine.ts'

/** Reads which signers count, and which peers are asked. @throws ConfigurationError */
export function readPeerSettings(
  config: OracleConfig,
  signer: ConfiguredSigner,
  logger: Logger,
): PeerSettings {
  const policy = parseSignerPolicy({
    signers: config.signers.entries,
    threshold: config.signers.threshold,
    ownSigner: signer.address,
  })
  const peers = parsePeers(config.peers.entries, config.http)
  for (const warning of [...policy.warnings, ...peers.warnings]) logger.warn(warning)
  return { policy: policy.value, peers: peers.value }
}

/** Parts of the oracle that gathering peers' signatures needs. */
type PeeredOracle = PeerSettings & Pick<AttestingOracle, 'config' | 'signer' | 'network'>

/** Opens the gathering of peers' signatures; `undefined` where no peer is configured. */
export function openPeers(
  { logger, tracing, onClose }: ServiceParts<'jobs'>,
  { config, signer, network, policy, peers }: PeeredOracle,
  metrics: OracleMetrics,
): PeerAggregator | undefined {
  if (peers.length === 0) return undefined
  const aggregator = createPeerAggregator({
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
  onClose('jobs', 'peers', () => aggregator.close())
  return aggregator
}

/** Watches peers as doctor examines them; `undefined` where no peer is configured. */
export function watchPeers(
  { logger: log }: ServiceParts<never>,
  { peers, policy, signer }: Pick<PeeredOracle, 'peers' | 'policy' | 'signer'>,
): NeighbourWatch | undefined {
  if (peers.length === 0) return undefined
  return watchNeighbours({
    name: 'peers',
    look: (findings) => examinePeers({ peers, policy }, signer.address, findings),
    codes: ['peer-silent', 'peer-refuses', 'signer-shared', 'signer-unlisted', 'threshold-unreachable'],
    log,
  })
}
