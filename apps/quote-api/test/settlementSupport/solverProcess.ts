import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestNetwork } from '@causeway/localnet'
import { repositoryRoot } from '../fixtures/service.ts'

/** The reference solver in a process of its own, as the local network runs it. */
export type SolverProcess = {
  output(): string
  /** Kills it whatever it does; resolves when it is gone. */
  kill(): Promise<void>
}

/** Configuration of a solver that keeps its records in `directory`. @returns the path of the file */
export async function writeSolverConfig(options: {
  network: TestNetwork
  directory: string
  quoteApiUrl: string
  quoteApiKey: string
}): Promise<string> {
  const { network, directory, quoteApiUrl, quoteApiKey } = options
  const chainOf = (key: 'base' | 'optimism') => {
    const { depository, fillContract, wrappedNative, ...more } = network.deployment[key]
    const { chainId, url: rpcUrl } = network.chains[key]
    const depositAddresses = more.depositAddresses.contract
    const permitRouter = more.permitRouter.contract
    const contracts = { depository, fillContract, depositAddresses, permitRouter, wrappedNative }
    return { chainId, rpcUrl, ...contracts, stock: [] }
  }
  const file = join(directory, 'solver.json')
  const config = {
    quoteApiUrl,
    quoteApiKey,
    directory: join(directory, 'solver'),
    healthPort: 0,
    pollMs: 50,
    fillWalletKey: network.keys.fillWallet.privateKey,
    allocatorKey: network.keys.deployer.privateKey,
    chains: [chainOf('base'), chainOf('optimism')],
  }
  await writeFile(file, JSON.stringify(config), { mode: 0o600 })
  return file
}

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
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return {
    output: () => output,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
