import fc from 'fast-check'
import { expect } from 'vitest'
import { rememberSlack, violations } from './invariants.ts'
import { modelNetwork, type Network } from './network.ts'
import { type Rules, shippedRules } from './rules.ts'
import { type Step, step, take } from './steps.ts'
import { World } from './world.ts'

export const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const stepsPerRun = 40

/** One run: the steps in their order, the invariants after each. @throws Error naming the step and what broke */
async function play(network: Network, steps: readonly Step[], rules: Rules): Promise<World> {
  const world = new World(network, rules)
  await rememberSlack(world)
  for (const [index, taken] of steps.entries()) {
    await take(world, taken)
    const found = taken.do === 'nothing' ? [] : await violations(world)
    if (found.length > 0) {
      const before = world.story.slice(-12).join('\n')
      throw new Error(`after step ${index}, ${taken.do}:\n${found.join('\n')}\nbefore it:\n${before}`)
    }
  }
  return world
}

const manySteps = fc.array(step, { minLength: stepsPerRun, maxLength: stepsPerRun })

/** Message of the first random run that breaks an invariant; `undefined` when none does. */
export async function firstBroken(rules: Rules, runs: number, seed: number): Promise<string | undefined> {
  const property = fc.asyncProperty(manySteps, async (taken) => {
    await play(modelNetwork(rules), taken, rules)
  })
  const found = await fc.check(property, { numRuns: runs, seed, endOnFailure: true })
  return found.failed ? String(found.errorInstance) : undefined
}

/**
 * Plays so many random runs. A failing one shrinks to the steps that matter; CAUSEWAY_SEED plays it again.
 * @param open the chains of one run
 */
export async function playRandomly(
  name: string,
  runs: number,
  onChains: (play: (network: Network) => Promise<World>) => Promise<void>,
): Promise<void> {
  const seed = Number(process.env['CAUSEWAY_SEED'] ?? Date.now() % 2 ** 31)
  console.log(`${name}: ${runs} runs of ${stepsPerRun} steps, CAUSEWAY_SEED=${seed}`)
  const reached = new Map<string, number>()
  const property = fc.asyncProperty(manySteps, (taken) =>
    onChains(async (network) => {
      const world = await play(network, taken, shippedRules)
      for (const [what, count] of reachedBy(world)) reached.set(what, (reached.get(what) ?? 0) + count)
      return world
    }),
  )
  const { failed, counterexample, errorInstance } = await fc.check(property, { numRuns: runs, seed })
  const told = (counterexample?.[0] ?? []).filter((one) => one.do !== 'nothing')
  expect({ failed, error: String(errorInstance ?? ''), steps: told }).toEqual({
    failed: false,
    error: '',
    steps: [],
  })
  console.log(`${name}: ${[...reached].map(([what, count]) => `${count} ${what}`).join(', ')}`)
  // A model in which nothing gets anywhere would prove nothing.
  if (runs >= 100) for (const [what, count] of reached) expect([what, count > 0]).toEqual([what, true])
}

/** Fates of quotes, deposits, payments and cheats that must come about in some run. */
const ways = [
  ...['quotes that buy nothing', 'quotes refused for the cap', 'rewards', 'rewards less than earned'],
  ...['deposits that slipped', 'late deposits that were bound', 'deposits too late for their price'],
  ...['surpluses', 'payments that would fail', 'payments that waited for attestations'],
  ...['payments that oracles refused for good', 'trades inside a payment refused'],
  ...['payments in two entries refused', 'trades around a transfer refused', 'trades in a batch refused'],
  ...['operations of a listed wallet refused', 'records of another order refused'],
  ...['plain payments attested', 'plain payments refused'],
]

/** Progress of a run. */
function reachedBy({
  settlements,
  service,
  withdrawals,
  executions,
  story,
  reached,
}: World): readonly (readonly [string, number])[] {
  const noted = [...reached, ...service.reached]
  const stages = service.requests.map(({ stage }) => stage)
  const debits = [...service.ledger.holds.values()].flat().filter(({ state }) => state === 'posted')
  return [
    ['settlements by a fill', settlements.filter(({ kind }) => kind === 'fill').length],
    ['settlements by a refund', settlements.filter(({ kind }) => kind === 'refund').length],
    ['requests settled', stages.filter((stage) => stage === 'settled').length],
    ['requests refunded', stages.filter((stage) => stage === 'refunded').length],
    ['sponsor debits', debits.length],
    ['withdrawals issued', withdrawals.filter(({ payloads }) => payloads.length > 0).length],
    ['payouts', withdrawals.reduce((sum, { payouts }) => sum + payouts.length, 0)],
    ['executions signed', executions.length],
    ['transactions refused', story.filter((line) => line.includes(' refused ')).length],
    ...ways.map((what) => [what, noted.filter((one) => one === what).length] as const),
  ]
}
