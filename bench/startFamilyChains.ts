import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** Chain families beside the EVM. */
export const families = ['Solana', 'Bitcoin', 'Tron', 'Lighter', 'Hyperliquid'] as const
export type Family = (typeof families)[number]

const sideSchema = z.object({
  chainId: z.number(),
  currency: z.string(),
  unitsPerDollar: z.number(),
  leastDollars: z.number(),
  accounts: z.array(z.string()).readonly(),
})

const chainsSchema = z.object({
  /** Environment of a service that quotes all of them. */
  environment: z.record(z.string(), z.string()),
  /** Environment of a service that quotes the EVM chains alone. */
  evmEnvironment: z.record(z.string(), z.string()),
  origin: sideSchema,
  destination: sideSchema,
  families: z.record(z.enum(families), sideSchema),
})

export type FamilyChains = z.infer<typeof chainsSchema>

/** Two EVM chains and one chain of each other family, in a process of their own. */
export async function startFamilyChains(): Promise<FamilyChains & { stop(): Promise<void> }> {
  const script = fileURLToPath(new URL('./familyChains.ts', import.meta.url))
  const child = spawn(process.execPath, [script], {
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
