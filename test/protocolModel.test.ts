// Goal: whatever owners, recipients, solvers, peers, endpoints and strangers do in whatever order, the oracles sign
// no settlement that is not so, depositories hold what the hub owes, a sponsor pays for what was filled, and a
// withdrawal is paid once. Method: the shipped rules of both services over models of the contracts, which another
// test holds equal to the real ones; random steps, the invariants after each. CAUSEWAY_FAULTS=1 runs the long form,
// CAUSEWAY_SEED=<seed> one again.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { violations } from './model/invariants.ts'
import { modelNetwork } from './model/network.ts'
import { shippedRules } from './model/rules.ts'
import { type Step, step, take } from './model/steps.ts'
import { World } from './model/world.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const runs = isLongForm ? 5_000 : 200
const stepsPerRun = 40
const seed = Number(process.env['CAUSEWAY_SEED'] ?? Date.now() % 2 ** 31)

async function play(steps: readonly Step[]): Promise<void> {
  const world = new World(modelNetwork(shippedRules), shippedRules)
  for (const [index, taken] of steps.entries()) {
    await take(world, taken)
    const found = await violations(world)
    if (found.length > 0) throw new Error(`after step ${index}, ${taken.do}:\n${found.join('\n')}`)
  }
}

test('whatever everybody does, nobody has more than he put in and was paid', async () => {
  console.log(`protocol model: ${runs} runs of ${stepsPerRun} steps, CAUSEWAY_SEED=${seed}`)
  const steps = fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun })
  const details = await fc.check(fc.asyncProperty(steps, play), { numRuns: runs, seed })
  const told = (details.counterexample?.[0] ?? []).filter((one) => one.do !== 'nothing')
  expect({ failed: details.failed, error: String(details.errorInstance ?? ''), steps: told }).toEqual({
    ...{ failed: false, error: '', steps: [] },
  })
}, 3_600_000)
