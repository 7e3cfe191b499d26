import type { ServiceParts } from '@causeway/service'
import { createAttestAhead } from '../ahead/attestAhead.ts'
import type { PeerAggregator } from '../peers/peerAggregator.ts'
import { createPreparedQuorums, type PreparedQuorums } from '../peers/preparedQuorums.ts'
import { askedAhead, type Peer, type SignerPolicy } from '../peers/settings.ts'
import type { AttestationService } from '../service/attestationService.ts'
import { depositsDefinition } from '../service/definitions.ts'
import type { OracleMetrics } from '../service/oracleMetrics.ts'
import type { OracleConfig } from './config.ts'
import type { OpenNetwork } from './network.ts'

/** Background attestation of final blocks, and the peers' signatures from it. */
export type OpenAhead = {
  /** Absent where no peers, or too few, answer before anybody asks. */
  readonly prepared: PreparedQuorums | undefined
}

/** Attests the deposits of every chain whose blocks can be looked through; `undefined` where that is off. */
export function openAhead(parts: {
  readonly config: Pick<OracleConfig, 'ahead' | 'headCheckIntervalMs' | 'finalResultsKeptMax'>
  readonly network: OpenNetwork
  readonly service: ServiceParts<'jobs'>
  readonly attesting: AttestationService
  readonly aggregator: PeerAggregator | undefined
  readonly policy: SignerPolicy
  readonly peers: readonly Peer[]
  readonly metrics: OracleMetrics
}): OpenAhead | undefined {
  const { config, network, service, attesting, aggregator, policy, peers, metrics } = parts
  // Nothing is kept: nothing can be prepared.
  if (!config.ahead.isOn || config.finalResultsKeptMax === 0) return undefined
  const now = () => performance.now()
  const peersAhead = askedAhead(policy, peers)
  const prepared =
    aggregator && peersAhead && createPreparedQuorums({ peers: aggregator, ...peersAhead, now })
  const { kind } = depositsDefinition
  const attest = (chainId: string, transactionId: string, signal: AbortSignal) =>
    attesting.attest(depositsDefinition, { chainId, transactionId }, { signal })
  const ahead = createAttestAhead({
    chains: chainsAhead(network),
    attest: async (chainId, transactionId, signal) =>
      (await attest(chainId, transactionId, signal)).isSigned ? 'attested' : 'empty',
    gather:
      prepared &&
      (async (chainId, transactionId, signal) => {
        // Kept since it was attested a moment ago, or made again.
        const { response: own } = await attest(chainId, transactionId, signal)
        return prepared.prepare({ kind, body: { chainId, transactionId }, own }, signal)
      }),
    ...{ minutes: config.ahead.minutes, waitingMax: config.ahead.waitingMax },
    ...{ intervalMs: config.headCheckIntervalMs, metrics, log: service.logger, now },
  })
  network.onRewritten(() => ahead.startOver())
  ahead.start()
  service.onClose('jobs', 'attesting ahead', () => ahead.close())
  return { prepared }
}

/** Chains whose blocks can be looked through. */
function chainsAhead(network: OpenNetwork): Parameters<typeof createAttestAhead>[0]['chains'] {
  const { context, watch } = network
  return [...context.chains.keys()].flatMap((id) => {
    const reader = network.aheadOf(id)
    if (reader === undefined) return []
    const isReady = () => watch.statusOf(id) === 'ready'
    const finalBlock = () => watch.finalHeads().find(({ chain }) => chain === id)?.number
    return [{ id, reader, isReady, finalBlock, keepFollowed: () => void watch.useKept(id) }]
  })
}
