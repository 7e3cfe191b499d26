// P14: the oracle as its image runs it, from spawn to the first 200 of its readiness route, and what it
// holds in memory before and after load.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freeLoopbackPort, type TestNetwork } from '@causeway/localnet'
import { load, median } from './load.ts'
import {
  depositsPath,
  fillBodies,
  fillsPath,
  keyed,
  oracleEnvironment,
  startOracleNetwork,
} from './oracleNetwork.ts'
import { cpuMs, residentMiB } from './processFigures.ts'
import type { BenchRow } from './row.ts'

const main = fileURLToPath(new URL('../apps/oracle/dist/main.js', import.meta.url))
const starts = 7
const idleMs = 3_000
const goals = { readyMs: 900, idleMiB: 130, loadedMiB: 300 }

type Started = { readonly pid: number; readonly url: string; readonly readyMs: number; stop(): Promise<void> }

/** @throws Error when the oracle ends before it is ready, or a request fails */
export async function benchStart(): Promise<readonly BenchRow[]> {
  const { network, deposits, orders } = await startOracleNetwork({ deposits: 500, orders: 50 })
  try {
    const times: number[] = []
    const spent: number[] = []
    for (let start = 0; start < starts; start += 1) {
      const oracle = await startMain(network)
      times.push(oracle.readyMs)
      spent.push(cpuMs(oracle.pid))
      await oracle.stop()
    }
    const oracle = await startMain(network)
    try {
      await new Promise((resolve) => setTimeout(resolve, idleMs))
      const idle = residentMiB(oracle.pid)
      const fills = await fillBodies(oracle.url, orders)
      const common = { url: oracle.url, connections: 32, headers: keyed }
      await load({ ...common, path: depositsPath, bodies: deposits, seconds: 40 })
      await load({ ...common, path: fillsPath, bodies: fills, seconds: 20 })
      const loaded = residentMiB(oracle.pid)
      const ready = median(times)
      return [
        row(
          'P14',
          'spawn to ready, ms',
          ready,
          goals.readyMs,
          ` (${times.map((ms) => ms.toFixed(0)).join(' ')}); ${median(spent)} ms on the processor`,
        ),
        row('P14-idle', 'resident memory idle, MiB', idle, goals.idleMiB),
        row(
          'P14-loaded',
          'resident memory after a minute of cold deposits and fills, MiB',
          loaded,
          goals.loadedMiB,
        ),
      ]
    } finally {
      await oracle.stop()
    }
  } finally {
    await network.stop()
  }
}

function row(id: string, name: string, measured: number, goal: number, more = ''): BenchRow {
  const value = `${measured.toFixed(0)}${more}`
  return { id, name, value, limit: `<= ${goal}`, ratio: measured, goal, atLeast: false }
}

async function startMain(network: TestNetwork): Promise<Started> {
  const port = await freeLoopbackPort()
  const url = `http://127.0.0.1:${port}`
  const env = oracleEnvironment(network, { HTTP_PORT: String(port), FINAL_RESULTS_KEPT_MAX: '0' })
  const startedAt = performance.now()
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(child, 'exit')
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`the oracle ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const readyMs = performance.now() - startedAt
  const { pid } = child
  if (pid === undefined) throw new Error('the oracle was not started')
  return {
    pid,
    url,
    readyMs,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/lives/ready/v1`)
    await response.text()
    return response.ok
  } catch {
    return false
  }
}
