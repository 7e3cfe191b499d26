// P14: the oracle as its image runs it, from spawn to the first 200 of its readiness route, and what it
// holds in memory before and after load.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  familyKeys,
  familyVariables,
  freeLoopbackPort,
  localChainIds,
  startFamilies,
  type TestNetwork,
} from '@causeway/localnet'
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
const goals = {
  one: { readyMs: 1_500, idleMiB: 165, loadedMiB: 320 },
  six: { readyMs: 2_600, idleMiB: 210 },
}

type Started = { readonly pid: number; readonly url: string; readonly readyMs: number; stop(): Promise<void> }

/** @throws Error when the oracle ends before it is ready, or a request fails */
export async function benchStart(): Promise<readonly BenchRow[]> {
  const { network, deposits, orders } = await startOracleNetwork({ deposits: 500, orders: 50 })
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  try {
    const one = await measureStarts(network, {}, async (oracle) => {
      const fills = await fillBodies(oracle.url, orders)
      const common = { url: oracle.url, connections: 32, headers: keyed }
      await load({ ...common, path: depositsPath, bodies: deposits, seconds: 40 })
      await load({ ...common, path: fillsPath, bodies: fills, seconds: 20 })
    })
    const six = await withFamilies(network, directory, (variables) => measureStarts(network, variables))
    const what = 'memory after a minute of cold deposits and fills, MiB'
    return [
      row('P14', 'spawn to ready with one family, ms', one.readyMs, goals.one.readyMs, one.spent),
      row('P14-idle', 'resident memory idle, one family, MiB', one.idleMiB, goals.one.idleMiB),
      row('P14-loaded', `resident ${what}`, one.usedMiB, goals.one.loadedMiB),
      row('P14-six', 'spawn to ready with six families, ms', six.readyMs, goals.six.readyMs, six.spent),
      row('P14-six-idle', 'resident memory idle, six families, MiB', six.idleMiB, goals.six.idleMiB),
    ]
  } finally {
    await network.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

type Starts = {
  readonly readyMs: number
  /** Each start and the processor time of the one in the middle. */
  readonly spent: string
  readonly idleMiB: number
  readonly usedMiB: number
}

/** @param use what the last oracle does before its memory is read again */
async function measureStarts(
  network: TestNetwork,
  variables: Readonly<Record<string, string>>,
  use: (oracle: Started) => Promise<void> = async () => {},
): Promise<Starts> {
  const times: number[] = []
  const spent: number[] = []
  for (let start = 0; start < starts; start += 1) {
    const oracle = await startMain(network, variables)
    times.push(oracle.readyMs)
    spent.push(cpuMs(oracle.pid))
    await oracle.stop()
  }
  const oracle = await startMain(network, variables)
  try {
    await new Promise((resolve) => setTimeout(resolve, idleMs))
    const idleMiB = residentMiB(oracle.pid)
    await use(oracle)
    const each = times.map((ms) => ms.toFixed(0)).join(' ')
    return {
      readyMs: median(times),
      spent: ` (${each}); ${median(spent)} ms on the processor`,
      idleMiB,
      usedMiB: residentMiB(oracle.pid),
    }
  } finally {
    await oracle.stop()
  }
}

/** One running chain of each other family beside those of the network. */
async function withFamilies<Result>(
  network: TestNetwork,
  directory: string,
  work: (variables: Readonly<Record<string, string>>) => Promise<Result>,
): Promise<Result> {
  const [depositor] = network.keys.users
  if (depositor === undefined) throw new Error('the network has no user')
  const ports = {
    solana: await freeLoopbackPort(),
    bitcoin: await freeLoopbackPort(),
    tron: await freeLoopbackPort(),
    hyperliquid: await freeLoopbackPort(),
    lighter: await freeLoopbackPort(),
    control: await freeLoopbackPort(),
  }
  const families = await startFamilies(
    ports,
    Promise.resolve({
      node: { url: network.chains.base.url, chainId: localChainIds.base },
      evmDepository: network.deployment.base.depository,
      depositor: { address: depositor.address, privateKey: depositor.privateKey },
      tronFile: join(directory, 'tron.json'),
    }),
  )
  try {
    return await work(familyVariables(families.facts))
  } finally {
    for (const key of familyKeys) await families.silence(key)
  }
}

function row(id: string, name: string, measured: number, goal: number, more = ''): BenchRow {
  const value = `${measured.toFixed(0)}${more}`
  return { id, name, value, limit: `<= ${goal}`, ratio: measured, goal, atLeast: false }
}

async function startMain(
  network: TestNetwork,
  variables: Readonly<Record<string, string>>,
): Promise<Started> {
  const port = await freeLoopbackPort()
  const url = `http://127.0.0.1:${port}`
  const env = oracleEnvironment(network, {
    HTTP_PORT: String(port),
    FINAL_RESULTS_KEPT_MAX: '0',
    ...variables,
  })
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
