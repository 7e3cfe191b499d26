// Goal: the solver pays nothing where oracles halted a chain, nor for a deposit there, whatever the list of work says.
// Attackers: whoever writes the list of work and has no stop; whoever deposits on a chain that is about to be taken back.
// Method: the solver as an operator runs it, on real nodes with real deposits; a scripted quote-api lists the work.
import { waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type StandInOracles,
  startStandInOracles,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { fillItem, paidOrder, refundItem } from '../apps/solver/test/support/paidOrders.ts'
import { type SolverBed, startSolverBed } from '../apps/solver/test/support/solverBed.ts'
import { startSolver } from '../apps/solver/test/support/solverBench.ts'

let bed: SolverBed
let oracles: StandInOracles

beforeAll(async () => {
  bed = await startSolverBed()
  oracles = await startStandInOracles()
})
afterAll(async () => {
  await oracles?.stop()
  await bed?.stop()
})
beforeEach(() => {
  oracles.set()
  halt()
})

/** One list of chains for each oracle; missing ones have halted none. */
function halt(...chains: readonly (readonly string[])[]) {
  for (const [index, oracle] of oracles.all.entries()) oracle.halted = chains[index] ?? []
}

const start = () => bed.start({ ORACLES: oracles.setting, ORACLES_THRESHOLD: '2' })
/** Longer than the oracles are asked again, and than an item is looked at again. */
const someLooks = () => new Promise((resolve) => setTimeout(resolve, 7_000))

test.each([
  ['the deposit', 'base', '8453'],
  ['the payment', 'optimism', '10'],
])(
  'O-65: nothing is paid while the chain of %s is halted, and it is paid afterwards',
  async (_, chain, stopped) => {
    halt([chain], [chain])
    const { work } = await start()
    const fill = fillItem(bed.network, await paidOrder(bed.network))
    work.add(fill)
    await someLooks()
    expect([work.reports.has(fill.id), work.failures.has(fill.id), work.stopped()]).toEqual([
      false,
      false,
      stopped,
    ])
    // Whoever silences the oracles lifts no halt.
    oracles.set('garbage', 'garbage', 'garbage')
    await someLooks()
    expect(work.reports.has(fill.id)).toBe(false)
    oracles.set()
    halt([chain])
    await waitUntil('it is paid', () => work.reports.has(fill.id))
    expect(work.stopped()).toBeNull()
  },
)

test('O-65: a deposit on a halted chain is not given back either, and one oracle alone keeps nothing back', async () => {
  halt(['base'], ['base'])
  const { work } = await start()
  const back = refundItem(bed.network, await paidOrder(bed.network))
  work.add(back)
  await someLooks()
  expect(work.reports.has(back.id)).toBe(false)
  halt([], [], ['base'])
  await waitUntil('it is given back', () => work.reports.has(back.id))
})

test('O-65: whoever silences the oracles lifts no halt by a restart of the solver', async () => {
  halt(['base'], ['base'])
  const { work, settings, solver } = await start()
  solver.kill('SIGKILL')
  await solver.ended
  oracles.set('garbage', 'garbage', 'garbage')
  const fill = fillItem(bed.network, await paidOrder(bed.network))
  work.add(fill)
  const again = startSolver(settings)
  await again.ready()
  await someLooks()
  expect([work.reports.has(fill.id), work.stopped()]).toEqual([false, '8453'])
  oracles.set()
  halt()
  await waitUntil('it is paid', () => work.reports.has(fill.id))
})
