// P8: a final answer asked for again, against constant bytes of the same app. P11 and P12: answers that are
// read and signed each time, against bare Fastify. The node is shared with the oracle, as it would be.

import { type LoadResult, load, median } from './load.ts'
import {
  ask,
  depositsPath,
  fillBodies,
  fillsPath,
  keyed,
  startOracle,
  startOracleNetwork,
} from './oracleNetwork.ts'
import { type BenchProcess, startBenchProcess } from './process.ts'
import { alternate, describe, ratioOf } from './quoteBench.ts'
import type { BenchRow } from './row.ts'

const size = { deposits: 500, orders: 50 }
const names = {
  kept: 'kept deposits',
  base: 'constant bytes',
  cold: 'cold deposits',
  fills: 'cold fills',
  bareDeposits: 'bare Fastify, bytes of a deposit',
  bareFills: 'bare Fastify, bytes of a fill',
}

/** @throws Error when a request fails */
export async function benchOracle(): Promise<readonly BenchRow[]> {
  const { network, deposits, orders } = await startOracleNetwork(size)
  const processes: BenchProcess[] = []
  const keep = async (started: Promise<BenchProcess>) => {
    const process = await started
    processes.push(process)
    return process
  }
  try {
    const cold = await keep(startOracle(network, { FINAL_RESULTS_KEPT_MAX: '0' }))
    const fills = await fillBodies(cold.url, orders)
    const bytesOf = async (path: string, [body = '']: readonly string[]) =>
      String(Buffer.byteLength(await ask(cold.url, path, body)))
    const depositBytes = await bytesOf(depositsPath, deposits)
    const kept = await keep(startOracle(network, { BENCH_ANSWER_BYTES: depositBytes }))
    const naked = (bytes: string) => {
      const script = new URL('./nakedServer.mjs', import.meta.url).pathname
      return keep(startBenchProcess(script, { PATH: process.env['PATH'], BENCH_ANSWER_BYTES: bytes }))
    }
    const bareDeposits = await naked(depositBytes)
    const bareFills = await naked(await bytesOf(fillsPath, fills))
    const at = ({ url, child }: BenchProcess) => ({ url, pid: child.pid, headers: keyed })
    const bare = '/bench/naked'
    const results = await alternate(
      [
        { name: names.base, ...at(kept), path: '/bench/attestation' },
        { name: names.kept, ...at(kept), path: depositsPath },
        { name: names.cold, ...at(cold), path: depositsPath },
        { name: names.bareDeposits, ...at(bareDeposits), path: bare },
        { name: names.fills, ...at(cold), path: fillsPath, texts: fills },
        { name: names.bareFills, ...at(bareFills), path: bare, texts: fills },
      ],
      deposits,
    )
    const alone = await load({
      ...at(cold),
      path: depositsPath,
      bodies: deposits,
      connections: 1,
      seconds: 5,
    })
    const row = (row: RowParts): BenchRow => ({
      id: row.id,
      name: row.name,
      goal: row.goal,
      limit: row.limit,
      atLeast: true,
      value: `${describe(results, row.ours)}; ${row.base}: ${describe(results, row.base)}`,
      ratio: ratioOf(results, row.ours, row.base),
    })
    return [
      row({
        id: 'P8',
        name: 'cached final deposit, keyed caller',
        ours: names.kept,
        base: names.base,
        goal: 0.6,
        limit: '>= 0.6 of Base',
      }),
      row({
        id: 'P11',
        name: `cold deposits, ${size.deposits} transactions`,
        ours: names.cold,
        base: names.bareDeposits,
        goal: 1 / 30,
        limit: '>= 1/30 of bare Fastify',
      }),
      row({
        id: 'P12',
        name: `cold one-input fills, ${size.orders} orders`,
        ours: names.fills,
        base: names.bareFills,
        goal: 1 / 100,
        limit: '>= 1/100 of bare Fastify',
      }),
      cpuRow('P11-cpu', 'processor time of a cold deposit', 1, results.get(names.cold)),
      cpuRow('P12-cpu', 'processor time of a cold fill', 4.5, results.get(names.fills)),
      aloneRow('P11-p50', 'a cold deposit alone, p50', 2.2, alone.p50Ms),
      aloneRow('P11-p99', 'a cold deposit alone, p99', 6.3, alone.p99Ms),
    ]
  } finally {
    for (const started of processes) await started.stop()
    await network.stop()
  }
}

type RowParts = Pick<BenchRow, 'id' | 'name' | 'goal' | 'limit'> & {
  /** Names of targets. */
  readonly ours: string
  readonly base: string
}

/**
 * Limits are about half of what the public reference takes.
 * @source docs/internals/reference-comparison.md, 10-9
 */
function cpuRow(id: string, name: string, limitMs: number, runs: readonly LoadResult[] = []): BenchRow {
  const cpu = median(runs.map(({ cpuMsPerRequest }) => cpuMsPerRequest))
  const parts = { id, name, ratio: cpu, goal: limitMs, atLeast: false }
  return { ...parts, limit: `<= ${limitMs} ms`, value: `${cpu.toFixed(2)} ms` }
}

/** One connection, straight to the node. Limits are what the public reference was measured to take. */
function aloneRow(id: string, name: string, limitMs: number, measuredMs: number): BenchRow {
  const parts = { id, name, ratio: measuredMs, goal: limitMs, atLeast: false }
  return { ...parts, limit: `<= ${limitMs} ms`, value: `${measuredMs} ms` }
}
