import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { solanaLibrary } from '@causeway/core'
import { z } from 'zod'
import { solanaChainId } from '../test/support/solanaService.ts'
import type { LoadResult } from './load.ts'
import { type BenchProcess, startQuoteServer } from './process.ts'
import { alternate, describe, ratioOf, usdcBodies } from './quoteBench.ts'
import type { BenchRow } from './row.ts'

const { Keypair } = solanaLibrary()

/** P1 and P2 with Solana on one side, against the same work between two EVM chains in the same run. */
export async function benchSolanaQuotes(): Promise<readonly BenchRow[]> {
  const results = await measure()
  return (['/price', '/quote'] as const).flatMap((path, index) =>
    (['to', 'from'] as const).map((side) => ({
      id: `P${index + 1}-solana-${side}`,
      name: `P${index + 1} ${side} Solana`,
      value: `${describe(results, `${path} ${side}`)}; EVM ${describe(results, path)}`,
      limit: '>= 0.8 of the EVM route',
      ratio: ratioOf(results, `${path} ${side}`, path),
      goal: 0.8,
      atLeast: true,
    })),
  )
}

const side = z.object({ chainId: z.number(), usdc: z.string() })
const chainsSchema = z.object({
  environment: z.record(z.string(), z.string()),
  base: side,
  optimism: side,
  mint: z.string(),
})

/** The chains in a process of their own. */
async function startChains() {
  const script = fileURLToPath(new URL('./solanaCluster.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=source', '--import', 'tsx', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit')
  const line = await Promise.race([
    once(lines, 'line').then(([text]) => String(text)),
    ended.then(([code]) => Promise.reject(new Error(`the chains ended with ${code}`))),
  ])
  return {
    ...chainsSchema.parse(JSON.parse(line)),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function measure(): Promise<Map<string, LoadResult[]>> {
  const { environment, base, optimism, mint, stop } = await startChains()
  let server: BenchProcess | undefined
  try {
    server = await startQuoteServer({ ...process.env, ...environment })
    const { url, child } = server
    const common = { url, pid: child.pid }
    const solana = { chainId: solanaChainId, usdc: mint }
    const accounts = Array.from(
      { length: 1_000 },
      (_, index) => `0x${(index + 1).toString(16).padStart(40, 'c')}`,
    )
    const wallets = accounts.map(() => Keypair.generate().publicKey.toBase58())
    const to = usdcBodies({ from: base, to: solana, users: accounts, recipients: wallets })
    const from = usdcBodies({ from: solana, to: optimism, users: wallets, recipients: accounts })
    return await alternate(
      (['/price', '/quote'] as const).flatMap((path) => [
        { ...common, path, name: path },
        { ...common, path, name: `${path} to`, texts: to },
        { ...common, path, name: `${path} from`, texts: from },
      ]),
      usdcBodies({ from: base, to: optimism, users: accounts, recipients: accounts }),
    )
  } finally {
    await server?.stop()
    await stop()
  }
}
