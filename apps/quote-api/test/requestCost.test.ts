// Goal: what makes a price or a quote dearer is seen when it is written. Method: a process of its own counts calls to
// chains and allocated bytes, which do not depend on the machine. A dearer request fails here: make it cheaper, or
// write the new figure below and say in the commit what it buys.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'

/** KiB beyond a route of constant bytes, in code that is not optimised, which allocates more than a warm service. */
const keptKiB = { price: 67, quote: 140 }
const tolerance = 1.1

const script = fileURLToPath(new URL('./serviceSupport/requestCostProcess.ts', import.meta.url))
const callsSchema = z.object({ first: z.number(), again: z.number() })
const costsSchema = z.object({
  quoteCalls: callsSchema,
  priceCalls: callsSchema,
  priceKiB: z.number(),
  quoteKiB: z.number(),
})
let costs: z.infer<typeof costsSchema>

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-opt', '--no-maglev', script])
  costs = costsSchema.parse(JSON.parse(stdout))
}, 180_000)

test.each(['priceCalls', 'quoteCalls'] as const)(
  'a user of whom nothing is known costs three calls to chains, and none when he asks again: %s',
  (calls) => {
    // State of the user and a trial of the deposit on the origin, a trial of the payment on the destination.
    expect(costs[calls]).toEqual({ first: 3, again: 0 })
  },
)

test.each(['price', 'quote'] as const)('a %s allocates at most a tenth more than the kept figure', (kind) => {
  expect(costs[`${kind}KiB`]).toBeLessThan(keptKiB[kind] * tolerance)
})
