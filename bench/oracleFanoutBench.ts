// P13: what it costs to ask two healthy peers as well, where every endpoint needs 20 ms. Each oracle is a
// process with an endpoint of its own; the threshold is three, so that none may be left out.
import { type FaultProxy, freeLoopbackPort, startFaultProxy, type TestNetwork } from '@causeway/localnet'
import { median } from './load.ts'
import { ask, callerKey, depositsPath, startOracle, startOracleNetwork } from './oracleNetwork.ts'
import type { BenchProcess } from './process.ts'
import type { BenchRow } from './row.ts'

const endpointMs = 20
const rounds = 5
const requestsPerRound = 60
const peerKey = 'peer-key-of-the-bench'
const goal = 1.2

/** One request at a time: only waiting is compared. @throws Error when an answer lacks a signature */
export async function benchFanout(): Promise<BenchRow> {
  const { network, deposits } = await startOracleNetwork({ deposits: 100, orders: 0 })
  const started: { stop(): Promise<unknown> }[] = []
  try {
    const proxies = await Promise.all(network.keys.oracles.map(() => slowEndpoint(network)))
    started.push(...proxies)
    const oracles = await startPeers(network, proxies)
    started.push(...oracles)
    const [first] = oracles
    if (first === undefined) throw new Error('the network has no oracles')
    const alone: number[] = []
    const together: number[] = []
    // The first round only warms up.
    for (let round = 0; round <= rounds; round += 1) {
      const bodies = Array.from(
        { length: requestsPerRound },
        (_, index) => deposits[(round * requestsPerRound + index) % deposits.length] ?? '',
      )
      const [aloneMs, togetherMs] = [
        await p50(first.url, bodies, 1),
        await p50(first.url, bodies, oracles.length),
      ]
      if (round === 0) continue
      alone.push(aloneMs)
      together.push(togetherMs)
    }
    return {
      id: 'P13',
      name: `deposit with two healthy peers against the attestation alone, endpoints with ${endpointMs} ms`,
      value: `p50 ${median(together).toFixed(1)} ms against ${median(alone).toFixed(1)} ms`,
      limit: `<= ${goal}`,
      ratio: median(together.map((ms, round) => ms / (alone[round] ?? Number.NaN))),
      goal,
      atLeast: false,
    }
  } finally {
    for (const part of started.toReversed()) await part.stop()
    await network.stop()
  }
}

async function slowEndpoint(network: TestNetwork): Promise<FaultProxy> {
  const proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
  await proxy.set({ kind: 'latency', delayMs: endpointMs })
  return proxy
}

async function startPeers(network: TestNetwork, proxies: readonly FaultProxy[]): Promise<BenchProcess[]> {
  const { oracles } = network.keys
  const ports = await Promise.all(oracles.map(() => freeLoopbackPort()))
  return Promise.all(
    oracles.map(({ privateKey }, index) =>
      startOracle(network, {
        BASE_RPC_URL: proxies[index]?.url ?? '',
        HTTP_PORT: String(ports[index]),
        ECDSA_PRIVATE_KEY: privateKey,
        FINAL_RESULTS_KEPT_MAX: '0',
        API_KEYS: `${callerKey}:bench`,
        PEER_API_KEYS: `${peerKey}:peers`,
        PEERS: ports
          .filter((_port, other) => other !== index)
          .map((port) => `http://127.0.0.1:${port}|${peerKey}`)
          .join(';'),
        ORACLE_SIGNERS: oracles.map(({ address }) => address).join(';'),
        ORACLE_SIGNERS_THRESHOLD: String(oracles.length),
      }),
    ),
  )
}

/** Milliseconds at the caller. @throws Error when an answer does not hold `signatures` signatures */
async function p50(url: string, bodies: readonly string[], signatures: number): Promise<number> {
  const times: number[] = []
  for (const body of bodies) {
    const text = JSON.stringify({ ...JSON.parse(body), requestPeerSignatures: signatures > 1 })
    const startedAt = performance.now()
    const answer = await ask(url, depositsPath, text)
    times.push(performance.now() - startedAt)
    if (JSON.parse(answer).execution.signatures.length !== signatures) throw new Error('a peer is missing')
  }
  return median(times)
}
