// P16: the first request for a deposit that was attested ahead, with its peers' signatures asked for and one peer a
// socket that never answers, against constant bytes of the same app. Each deposit is asked for once: no answer is the
// second of its kind. By processor time: a thousand requests are over before a rate says anything.
import { createServer } from 'node:net'
import { freeLoopbackPort, startFaultProxy, type TestNetwork, waitUntil } from '@causeway/localnet'
import { type LoadResult, load, median } from './load.ts'
import { ask, depositsPath, keyed, startOracle, startOracleNetwork } from './oracleNetwork.ts'
import type { BenchProcess } from './process.ts'
import type { BenchRow } from './row.ts'

const rounds = 5
const perRound = 1_000
const connections = 32
const spentMostMs = 0.115
const peerKey = 'peer-key-of-the-bench'

/** @throws Error when a request fails, or anything is asked of an endpoint for it */
export async function benchAhead(): Promise<readonly BenchRow[]> {
  const { network, deposits } = await startOracleNetwork({ deposits: rounds * perRound, orders: 0 })
  const stops: (() => Promise<unknown>)[] = [() => network.stop()]
  const keep = async (starting: Promise<BenchProcess>) => {
    const started = await starting
    stops.push(() => started.stop())
    return started
  }
  try {
    const proxy = await startFaultProxy({ targetUrl: network.chains.base.url })
    stops.push(() => proxy.stop())
    const bytes = await answerBytes(network, deposits[0] ?? '')
    const opsPort = await freeLoopbackPort()
    const silentPort = await openSilentPeer(stops)
    const ahead = await keep(
      startOracle(network, {
        BASE_RPC_URL: proxy.url,
        OPS_PORT: String(opsPort),
        BENCH_ANSWER_BYTES: String(bytes),
        AHEAD_MINUTES: '1440',
        PEERS: `http://127.0.0.1:${silentPort}|${peerKey}`,
        ORACLE_SIGNERS: network.keys.oracles.map(({ address }) => address).join(';'),
        ORACLE_SIGNERS_THRESHOLD: '1',
      }),
    )
    await untilPrepared(`http://127.0.0.1:${opsPort}`, deposits.length)
    const asked = () => proxy.counters().callsByMethod['eth_getTransactionReceipt'] ?? 0
    const askedBefore = asked()
    const bodies = deposits.map((body) =>
      JSON.stringify({ ...JSON.parse(body), requestPeerSignatures: true }),
    )
    const [first, base] = await measure(ahead, bodies)
    if (asked() !== askedBefore) throw new Error('a prepared deposit was read again')
    const [ours, constant] = [cpuOf(first), cpuOf(base)]
    return [
      {
        id: 'P16',
        name: `first request for each of ${deposits.length} prepared deposits, a silent peer`,
        value: `${ours.toFixed(3)} ms of processor time; constant bytes ${constant.toFixed(3)} ms; nothing read`,
        limit: '>= 0.6 of Base',
        ratio: constant / ours,
        goal: 0.6,
        atLeast: true,
      },
      {
        id: 'P16-ms',
        name: 'processor time of such a request',
        value: `${ours.toFixed(3)} ms`,
        limit: `<= ${spentMostMs} ms`,
        ratio: ours,
        goal: spentMostMs,
        atLeast: false,
      },
    ]
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
}

async function answerBytes(network: TestNetwork, body: string): Promise<number> {
  const plain = await startOracle(network, { AHEAD: 'off' })
  try {
    return Buffer.byteLength(await ask(plain.url, depositsPath, body))
  } finally {
    await plain.stop()
  }
}

/** Takes connections and says nothing. */
async function openSilentPeer(stops: (() => Promise<unknown>)[]): Promise<number> {
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer((socket) => void sockets.add(socket))
  const port = await freeLoopbackPort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  stops.push(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return port
}

async function untilPrepared(opsUrl: string, count: number): Promise<void> {
  const prepared = async () => {
    const text = await (await fetch(`${opsUrl}/metrics`)).text()
    const line = /^oracle_ahead_transactions_total\{[^}]*outcome="prepared"[^}]*\} (\d+)$/m.exec(text)
    return Number(line?.[1] ?? 0)
  }
  await waitUntil('every deposit is prepared', async () => (await prepared()) >= count, {
    patienceMs: 300_000,
  })
}

/** By turns, each deposit once. */
async function measure(
  oracle: BenchProcess,
  bodies: readonly string[],
): Promise<[LoadResult[], LoadResult[]]> {
  const once = async (path: string, some: readonly string[]) => {
    const { url, child } = oracle
    const parts = {
      url,
      path,
      bodies: some,
      connections,
      requests: some.length,
      headers: keyed,
      pid: child.pid,
    }
    const result = await load(parts)
    if (result.failed > 0) throw new Error(`${path}: ${result.failed} requests failed`)
    return result
  }
  const results: [LoadResult[], LoadResult[]] = [[], []]
  await once('/bench/attestation', bodies)
  for (let round = 0; round < rounds; round += 1) {
    const some = bodies.slice(round * perRound, (round + 1) * perRound)
    results[0].push(await once(depositsPath, some))
    results[1].push(await once('/bench/attestation', some))
  }
  return results
}

const cpuOf = (runs: readonly LoadResult[]): number =>
  median(runs.map(({ cpuMsPerRequest }) => cpuMsPerRequest))
