// The reference solver of the local network, in a process of its own, working for a service under test.
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestNetwork } from '@causeway/localnet'
import { repositoryRoot } from '../fixtures/service.ts'
import { waitUntil } from '../serviceSupport/waitUntil.ts'

export type ReferenceSolver = { readonly output: () => string; stop(): Promise<void> }

/** @param options.directory of its own: its signed transactions are kept there */
export async function startReferenceSolver(
  network: TestNetwork,
  options: { readonly url: string; readonly apiKey: string; readonly directory: string },
): Promise<ReferenceSolver> {
  const chain = (key: 'base' | 'optimism') => {
    const { depository, fillContract, permitRouter, depositAddresses, wrappedNative } =
      network.deployment[key]
    const { chainId, url: rpcUrl } = network.chains[key]
    const contracts = { depository, fillContract, wrappedNative }
    const relaying = { permitRouter: permitRouter.contract, depositAddresses: depositAddresses.contract }
    return { chainId, rpcUrl, ...contracts, ...relaying, stock: [] }
  }
  const file = {
    quoteApiUrl: options.url,
    quoteApiKey: options.apiKey,
    directory: join(options.directory, 'solver'),
    healthPort: 0,
    pollMs: 100,
    fillWalletKey: network.keys.fillWallet.privateKey,
    allocatorKey: network.keys.deployer.privateKey,
    chains: [chain('base'), chain('optimism')],
  }
  const path = join(options.directory, 'solver.json')
  await writeFile(path, JSON.stringify(file), { mode: 0o600 })
  const main = join(repositoryRoot, 'packages/localnet/src/solver/main.ts')
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', main], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], SOLVER_CONFIG_FILE: path },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  await waitUntil(async () => hasEnded || output.includes('ready on port'), 'the solver is ready')
  if (hasEnded) throw new Error(`the solver ended: ${output}`)
  return {
    output: () => output,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
