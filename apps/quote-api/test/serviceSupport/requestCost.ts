import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'

/** KiB beyond a route of constant bytes, in code that is not optimised, which allocates more than a warm service. */
export const keptKiB = { price: 67, quote: 140 }

const script = fileURLToPath(new URL('./requestCostProcess.ts', import.meta.url))
const callsSchema = z.object({ first: z.number(), again: z.number() })
const costsSchema = z.object({
  quoteCalls: callsSchema,
  priceCalls: callsSchema,
  /** For users who ask again, beyond what a service asks whom nobody asks. */
  callsPerUserAndBlock: z.number(),
  priceKiB: z.number(),
  quoteKiB: z.number(),
})

export type RequestCosts = z.infer<typeof costsSchema>

/** Counts calls to chains and allocated bytes in a process of its own: neither depends on the machine. */
export async function measureRequestCosts(): Promise<RequestCosts> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-opt', '--no-maglev', script])
  return costsSchema.parse(JSON.parse(stdout))
}
