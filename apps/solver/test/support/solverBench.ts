import { randomInt } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { size, sliceHex } from 'viem'
import { expect, onTestFinished } from 'vitest'
import type { LocalNetwork } from '../../../../packages/localnet/src/network/startLocalNetwork.ts'
import type { TestNetwork } from '../../../../packages/localnet/src/network/testNetwork/startTestNetwork.ts'
import type { SolverConfigFile } from '../../src/compose/solverConfig.ts'
import { solverFile } from '../../../../packages/localnet/src/solver/solverFile.ts'
import { type SolverProcess, spawnSolver } from '../../../../packages/localnet/src/solver/spawnSolver.ts'
import type { ScriptedWork } from './scriptedWork.ts'

export type UserChain = 'base' | 'optimism'

/** Configuration of a solver on a test network, in a folder of its own. */
export async function writeSolverFile(
  network: TestNetwork,
  work: Pick<ScriptedWork, 'url' | 'apiKey'>,
): Promise<{ readonly path: string; readonly file: SolverConfigFile }> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-solver-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = solverFile(network, {
    quoteApiUrl: work.url,
    quoteApiKey: work.apiKey,
    directory: join(folder, 'solver'),
    healthPort: 0,
    pollMs: 50,
  })
  const path = join(folder, 'solver.json')
  await writeFile(path, JSON.stringify(file), { mode: 0o600 })
  return { path, file }
}

/** A solver in a process of its own; gone after the test. */
export function startSolver(configFile: string): SolverProcess {
  const solver = spawnSolver(configFile)
  onTestFinished(async () => {
    solver.kill('SIGKILL')
    await solver.ended
  })
  return solver
}

/**
 * Gives a solver work and kills it at a random moment, again and again; some of its reports get no answer.
 * @returns one more, which nobody kills
 */
export async function surviveKills(
  configFile: string,
  { work, kills }: { readonly work: Pick<ScriptedWork, 'dropReports'>; readonly kills: number },
  addWork: () => Promise<void>,
): Promise<SolverProcess> {
  for (let round = 0; round < kills; round += 1) {
    const solver = startSolver(configFile)
    await solver.ready()
    work.dropReports(randomInt(3))
    await addWork()
    await new Promise((resolve) => setTimeout(resolve, randomInt(600)))
    solver.kill('SIGKILL')
    expect(await solver.ended).toBe('SIGKILL')
  }
  return startSolver(configFile)
}

type FillsByOrder = ReadonlyMap<Hex, readonly Hex[]>

/**
 * Successful transactions through the fill contract by the order id at their end, up to the block of each
 * asking; no block is read twice.
 */
export function watchFills(
  network: Pick<LocalNetwork, 'chains' | 'deployment'>,
  key: UserChain,
): () => Promise<FillsByOrder> {
  const { client } = network.chains[key].chain
  const { fillContract } = network.deployment[key]
  const fills = new Map<Hex, Hex[]>()
  let blockNumber = 0n
  return async () => {
    const head = await client.getBlockNumber({ cacheTime: 0 })
    for (; blockNumber <= head; blockNumber += 1n) {
      const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true })
      for (const { to, input, hash } of transactions) {
        if (to?.toLowerCase() !== fillContract) continue
        const { status } = await client.getTransactionReceipt({ hash })
        const orderId = sliceHex(input, size(input) - 32)
        if (status === 'success') fills.set(orderId, [...(fills.get(orderId) ?? []), hash])
      }
    }
    return fills
  }
}
