import type { Hex, RecoverSigner } from '@causeway/core'
import { recoverSigner } from '@causeway/signer'
import { createPeerAggregator, type PeerAggregator } from '../../src/peers/peerAggregator.ts'
import type { PeerOutcome } from '../../src/peers/peerEvents.ts'
import { parsePeers } from '../../src/peers/settings.ts'
import { context, type SignerName, signers } from './attestations.ts'
import { type HttpPeer, type ScriptedAnswer, type SeenQuestion, startHttpPeer } from './httpPeer.ts'

export type LogLine = {
  readonly level: 'info' | 'warn'
  readonly event?: string
  readonly [field: string]: unknown
}

export type Harness = {
  readonly aggregator: PeerAggregator
  readonly peers: readonly HttpPeer[]
  readonly lines: readonly LogLine[]
  readonly outcomes: readonly {
    readonly peer: string
    readonly outcome: PeerOutcome
    readonly seconds: number
  }[]
  readonly quorums: readonly { readonly matched: number; readonly required: number }[]
  stop(): Promise<void>
}

export type HarnessOptions = {
  readonly peers: readonly ((question: SeenQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>)[]
  /** Peers that run elsewhere. */
  readonly urls?: readonly string[]
  readonly allowed?: readonly SignerName[]
  readonly threshold?: number
  readonly credential?: string
  readonly timeoutMs?: number
  readonly now?: () => number
  readonly recover?: RecoverSigner
}

/** The real aggregator with real HTTP calls to real servers. */
export async function startHarness(options: HarnessOptions): Promise<Harness> {
  const { allowed, threshold = 1, credential = 'peer-key', timeoutMs = 20_000 } = options
  const { now = () => performance.now(), recover = recoverSigner } = options
  const peers = await Promise.all(options.peers.map(startHttpPeer))
  const urls = [...peers.map(({ url }) => url), ...(options.urls ?? [])]
  const lines: LogLine[] = []
  const outcomes: { peer: string; outcome: PeerOutcome; seconds: number }[] = []
  const quorums: { matched: number; required: number }[] = []
  const aggregator = createPeerAggregator({
    peers: parsePeers(urls.map((url) => `${url}|${credential}`).join(';')).value,
    policy: { signers: allowed && new Set<Hex>(allowed.map((name) => signers[name].address)), threshold },
    ownSigner: signers.A.address,
    context,
    recover,
    requestTimeoutMs: timeoutMs,
    log: {
      info: (fields) => lines.push({ level: 'info', ...fields }),
      warn: (fields) => lines.push({ level: 'warn', ...fields }),
    },
    metrics: {
      observePeer: (observed) => outcomes.push(observed),
      observeQuorum: ({ matched, required }) => quorums.push({ matched, required }),
      countShadow: () => undefined,
    },
    now,
  })
  return {
    aggregator,
    peers,
    lines,
    outcomes,
    quorums,
    async stop() {
      await aggregator.close()
      await Promise.all(peers.map((peer) => peer.stop()))
    },
  }
}
