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

/** The background job that attests final deposits before anyone asks. */
export type OpenAhead = {
  /** Peers' signatures on those; absent where no peers, or too few, may be asked ahead. */
  readonly prepared: PreparedQuorums | undefined
}

/** Starts to attest the deposits of every chain whose blocks can be scanned; `undefined` where that is off. */
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
  // Without a cache of answers there is nothing to prepare.
  if (!config.ahead.isOn || config.finalResultsKeptMax === 0) return undefined
  const now = () => performance.now()
  const peersAhead = askedAhead(policy, peers)
  const prepared =
    aggregator && peersAhead && createPreparedQuorums({ peers: aggregator, ...peersAhead, now })
  const { kind } = depositsDefinition
  const attestDeposits = (chainId: string, transactionId: string, signal: AbortSignal) =>
    attesting.attest(depositsDefinition, { chainId, transactionId }, { signal })
  const ahead = createAttestAhead({
    chains: chainsAhead(network),
    attest: async (chainId, transactionId, signal) =>
      (await attestDeposits(chainId, transactionId, signal)).isSigned ? 'attested' : 'empty',
    gather:
      prepared &&
      (async (chainId, transactionId, signal) => {
        // The answer is in the cache, as `attest` ran a moment ago; else it is attested again.
        const { response: own } = await attestDeposits(chainId, transactionId, signal)
        return prepared.prepare({ kind, body: { chainId, transactionId }, own }, signal)
      }),
    minutes: config.ahead.minutes,
    waitingMax: config.ahead.waitingMax,
    intervalMs: config.headCheckIntervalMs,
    metrics,
    log: service.logger,
    now,
  })
  network.onRewritten(() => ahead.startOver())
  ahead.start()
  service.onClose('jobs', 'attesting ahead', () => ahead.close())
  return { prepared }
}

/** Chains whose blocks can be scanned, with what the job needs to know of each. */
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
