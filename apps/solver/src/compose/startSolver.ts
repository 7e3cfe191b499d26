import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { privateKeyToAccount } from 'viem/accounts'
import { startHealth } from '@causeway/localnet'
import { startLoop } from '@causeway/localnet'
import { takeRunFile } from '@causeway/localnet'
import { createChainDesk } from '../wallet/chainDesk.ts'
import { connectFillWallet } from '../wallet/fillWallet.ts'
import type { SolverChain } from './handleItem.ts'
import { createInventory } from '../wallet/inventory.ts'
import { openOutbox } from '../wallet/outbox.ts'
import type { SolverConfig } from './solverConfig.ts'
import { createRound } from './solverRound.ts'
import { createWorkClient } from '../work/workClient.ts'

export type Solver = { readonly healthPort: number; stop(): Promise<void> }

const solverNotice = 'A development part of a local network: it holds the key of the fill wallet.'

/**
 * The reference solver of a local network: pays what quote-api lists, each item once.
 * @throws ConfigurationError when another one works in the same folder, a record cannot be read, or a
 * node is of another chain
 */
export async function startSolver(config: SolverConfig, log: (line: string) => void): Promise<Solver> {
  log(`The reference solver. ${solverNotice}`)
  await mkdir(config.directory, { recursive: true, mode: 0o700 })
  const { runFile } = await takeRunFile(join(config.directory, 'run.json'), 'a solver')
  const outbox = await openOutbox(join(config.directory, 'items'))
  const account = privateKeyToAccount(config.fillWalletKey)
  const chains = config.chains.map((chain): SolverChain => {
    const desk = createChainDesk(connectFillWallet(chain, account), outbox, log)
    return { config: chain, desk, inventory: createInventory(desk, chain, outbox) }
  })
  for (const chain of chains) await checkChain(chain)
  const work = createWorkClient(config.quoteApiUrl, config.quoteApiKey)
  const round = createRound({ chains, outbox, work, log, nowMs: () => performance.now() })
  let rounds = 0
  let lastProblem: string | undefined
  const loop = startLoop({
    everyMs: config.pollMs,
    async run() {
      await round()
      rounds += 1
      lastProblem = undefined
    },
    report(line) {
      lastProblem = line
      log(`a round ${line}`)
    },
  })
  const openTransactions = () => outbox.all().filter(({ outcome }) => outcome === 'open').length
  const health = await startHealth(config.healthPort, () => ({
    notice: solverNotice,
    ...{ wallet: account.address, rounds, lastProblem, openTransactions: openTransactions() },
  }))
  return {
    healthPort: health.port,
    async stop() {
      await loop.stop()
      await health.stop()
      await runFile.release()
    },
  }
}

async function checkChain({ config: { chainId }, desk }: SolverChain): Promise<void> {
  const found = await desk.wallet.client.getChainId()
  if (found !== chainId) throw new ConfigurationError(`the node of chain ${chainId} says chain ${found}`)
}
