// Goal: whatever owners, recipients, solvers, peers, endpoints and strangers do in whatever order, the oracles sign
// no settlement that is not so, depositories hold what the hub owes, a sponsor pays for what was filled, and a
// withdrawal is paid once. Method: the shipped rules of both services over models of the contracts, which another
// test holds equal to the real ones; random steps, the invariants after each. CAUSEWAY_FAULTS=1 runs the long form,
// CAUSEWAY_SEED=<seed> one again.
import { test } from 'vitest'
import { modelNetwork } from './model/network.ts'
import { shippedRules } from './model/rules.ts'
import { isLongForm, playRandomly } from './model/run.ts'

/** Only ends a test that would hang. */
const longTest = 7_200_000

test('whatever everybody does, nobody has more than he put in and was paid', { timeout: longTest }, () =>
  playRandomly('protocol model', isLongForm ? 5_000 : 200, async (play) => {
    await play(modelNetwork(shippedRules))
  }),
)
