import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import { size, sliceHex } from 'viem'
import { onTestFinished } from 'vitest'
import type { LocalNetwork } from '../../src/network/startLocalNetwork.ts'
import type { TestNetwork } from '../../src/network/testNetwork/startTestNetwork.ts'
import type { SolverConfigFile } from '../../src/solver/solverConfig.ts'
import type { ScriptedWork } from './scriptedWork.ts'

export type UserChain = 'base' | 'optimism'
const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))

/** Configuration of a solver on a test network, in a folder of its own. */
export async function solverFile(
  network: TestNetwork,
  work: Pick<ScriptedWork, 'url' | 'apiKey'>,
  { low = '0' }: { readonly low?: string } = {},
): Promise<{ readonly path: string; readonly file: SolverConfigFile }> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-solver-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const chain = (key: UserChain) => {
    const { depository, fillContract, wrappedNative, tokens, ...more } = network.deployment[key]
    const depositAddresses = more.depositAddresses.contract
    const permitRouter = more.permitRouter.contract
    const { chainId, url } = network.chains[key]
    const stock = [{ currency: tokens.USDC, low }]
    const contracts = { depository, fillContract, depositAddresses, permitRouter, wrappedNative }
    return { chainId, rpcUrl: url, ...contracts, stock }
  }
  const file: SolverConfigFile = {
    quoteApiUrl: work.url,
    quoteApiKey: work.apiKey,
    directory: join(folder, 'solver'),
    healthPort: 0,
    pollMs: 50,
    fillWalletKey: network.keys.fillWallet.privateKey,
    allocatorKey: network.keys.deployer.privateKey,
    chains: [chain('base'), chain('optimism')],
  }
  const path = join(folder, 'solver.json')
  await writeFile(path, JSON.stringify(file), { mode: 0o600 })
  return { path, file }
}

export type SolverProcess = {
  readonly pid: number
  output(): string
  /** Resolves with the exit code or signal. */
  readonly ended: Promise<string>
  kill(signal: NodeJS.Signals): void
}

/** `main.ts` of the solver in a process of its own; gone after the test. */
export function spawnSolver(configFile: string): SolverProcess {
  const main = join(repositoryRoot, 'packages/localnet/src/solver/main.ts')
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', main], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], SOLVER_CONFIG_FILE: configFile },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  if (child.pid === undefined) throw new Error('the solver could not be spawned')
  return { pid: child.pid, output: () => output, ended, kill: (signal) => void child.kill(signal) }
}

/** Successful transactions through the fill contract by the order id at their end. */
export async function fillsOnChain(
  network: Pick<LocalNetwork, 'chains' | 'deployment'>,
  key: UserChain,
): Promise<ReadonlyMap<Hex, readonly Hex[]>> {
  const { client } = network.chains[key].chain
  const { fillContract } = network.deployment[key]
  const fills = new Map<Hex, Hex[]>()
  const head = await client.getBlockNumber({ cacheTime: 0 })
  for (let blockNumber = 0n; blockNumber <= head; blockNumber += 1n) {
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
