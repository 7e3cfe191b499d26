// The world that the oracle document is laid beside: three oracles as processes over two EVM chains, a hub, and a stand-in of
// every other family, with two peers whose answers a test chooses. All of them are asked over HTTP alone.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SignatureContext } from '@causeway/attestations'
import type { Hex, Signer } from '@causeway/core'
import { chainsFileSchema, hubFileSchema } from '@causeway/core/config'
import {
  type FaultProxy,
  familyKeys,
  familyVariables,
  freeLoopbackPort,
  type OpenFamilies,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { createRawKeySigner, parsePrivateKey } from '@causeway/signer'
import { generatePrivateKey } from 'viem/accounts'
import {
  type HttpPeer,
  type ScriptedAnswer,
  type SeenQuestion,
  startHttpPeer,
} from '../../../apps/oracle/test/peerSupport/httpPeer.ts'
import {
  type OracleProcess,
  oracleVariables,
  repositoryRoot,
  spawnOracle,
} from '../../../apps/oracle/test/support/oracleProcess.ts'
import { signatureContext } from '../../../scripts/verifyAttestation/verifyFile.ts'
import { openFamilies } from '../../recording/support/world.ts'

export type Oracle = { readonly url: string; readonly process: OracleProcess; readonly signer: Signer }

export type Answering = (question: SeenQuestion) => ScriptedAnswer | Promise<ScriptedAnswer>
export type ScriptedPeer = HttpPeer & {
  /** Sets its answers from now on. */
  answers(by: Answering): void
  /** Never answers what it is asked of these transactions, whatever else it does. */
  readonly ignored: Set<unknown>
}

export type OracleWorld = {
  readonly network: TestNetwork
  readonly families: OpenFamilies
  /** Its variables of endpoints, for an oracle more. */
  readonly endpoints: Readonly<Record<string, string>>
  /** Lists itself, B and C; every number of the document is the default. This machine is its trusted proxy. */
  readonly first: Oracle
  /** Lists A, which it is, B and C; two of them are enough. `PORT` is set beside `HTTP_PORT`. */
  readonly quorum: Oracle
  /**
   * Has the same peers, the second one by `pass-through`, two seconds for them, and no list, but a threshold; no endpoint
   * of Optimism, no `SIGNING_MODULE`, and `PORT` alone.
   */
  readonly open: Oracle
  readonly peers: { readonly b: ScriptedPeer; readonly c: ScriptedPeer }
  /** A, B and C are those that the contracts of the hub know; X is nobody. */
  readonly signers: { readonly A: Signer; readonly B: Signer; readonly C: Signer; readonly X: Signer }
  /** `PORT` of the third oracle. */
  readonly port: number
  /** Before the endpoint of Optimism of the first oracle, and of Base of the second. */
  readonly proxies: { readonly optimism: FaultProxy; readonly base: FaultProxy }
  /** The networks that signatures are bound to, by the configuration files. */
  readonly context: SignatureContext
  stop(): Promise<void>
}

export const operatorKey = 'operator-key-of-the-acceptance'
/** As which the first two oracles are known to their peers. */
export const peerKeys = { b: 'key-that-peer-b-gave-out', c: 'key-that-peer-c-gave-out' } as const

const unavailable: Answering = () => ({ status: 429, body: {} })
const signerOf = (privateKey: Hex) => createRawKeySigner({ privateKey: parsePrivateKey(privateKey, 'KEY') })

/** @throws what could not be started, after everything else is stopped */
export async function startOracleWorld(): Promise<OracleWorld> {
  const closers: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    const network = await startTestNetwork()
    closers.push(network.stop)
    const directory = await mkdtemp(join(tmpdir(), 'causeway-acceptance-'))
    closers.push(() => rm(directory, { recursive: true, force: true }))
    const families = await openFamilies(network)
    closers.push(() => Promise.all(familyKeys.map((key) => families.silence(key))))
    const { base, optimism } = network.chains
    const proxies = {
      base: await startFaultProxy({ targetUrl: base.url }),
      optimism: await startFaultProxy({ targetUrl: optimism.url }),
    }
    closers.push(proxies.base.stop, proxies.optimism.stop)
    const peers = { b: await startScriptedPeer(), c: await startScriptedPeer() }
    closers.push(peers.b.stop, peers.c.stop)
    const [a, b, c] = network.keys.oracles
    const keys = { first: generatePrivateKey(), quorum: a.privateKey, open: generatePrivateKey() }
    const listed = (own: string) => [own, b.address, c.address].join(';')
    const { ECDSA_PRIVATE_KEY: _key, ...common } = oracleVariables(network)
    const endpoints = { ...common, ...familyVariables(families.facts), API_KEYS: `${operatorKey}:operator` }
    const dedicated = `${peers.b.url}|${peerKeys.b};${peers.c.url}|${peerKeys.c}`
    const start = (privateKey: Hex, own: Readonly<Record<string, string>>) => {
      const process = spawnOracle({ ...endpoints, ECDSA_PRIVATE_KEY: privateKey, ...own })
      closers.push(() => process.stop())
      return process.listening().then((url): Oracle => ({ url, process, signer: signerOf(privateKey) }))
    }
    const port = await freeLoopbackPort()
    // One after the other: three at once would keep the stand-ins of this process waiting.
    const first = await start(keys.first, {
      OPTIMISM_RPC_URL: proxies.optimism.url,
      TRUSTED_PROXIES: '127.0.0.1',
      HEAD_AGE_MAX_MS: '1000',
      ORACLE_SIGNERS: listed(signerOf(keys.first).address),
      PEERS: dedicated,
    })
    const quorum = await start(keys.quorum, {
      PORT: '2',
      BASE_RPC_URL: proxies.base.url,
      ORACLE_SIGNERS: listed(a.address),
      ORACLE_SIGNERS_THRESHOLD: '2',
      PEERS: dedicated,
    })
    const open = await start(keys.open, {
      HTTP_PORT: '',
      PORT: String(port),
      OPTIMISM_RPC_URL: '',
      ORACLE_SIGNERS_THRESHOLD: '3',
      PEER_REQUEST_TIMEOUT_MS: '2000',
      SIGNING_MODULE: '',
      PEERS: `${peers.b.url}|${peerKeys.b};${peers.c.url}|pass-through`,
    })
    const signers = {
      A: quorum.signer,
      B: signerOf(b.privateKey),
      C: signerOf(c.privateKey),
      X: signerOf(generatePrivateKey()),
    }
    const context = signatureContext(
      hubFileSchema.parse(await readConfig('chains.hub.local.json')),
      chainsFileSchema.parse(await readConfig('chains.local.json')),
    )
    const oracles = { first, quorum, open, peers, signers }
    return { network, families, endpoints, ...oracles, port, proxies, context, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** One of the files that the services of a local network read. */
export async function readConfig(name: string): Promise<unknown> {
  return JSON.parse(await readFile(join(repositoryRoot, 'configs', name), 'utf8'))
}

async function startScriptedPeer(): Promise<ScriptedPeer> {
  let answering = unavailable
  const ignored = new Set<unknown>()
  const peer = await startHttpPeer((question) =>
    ignored.has(question.body['transactionId']) ? new Promise<never>(() => undefined) : answering(question),
  )
  return {
    ...peer,
    ignored,
    answers(by) {
      answering = by
    },
  }
}
