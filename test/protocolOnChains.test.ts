// Goal: what the model of the protocol proves over models of contracts holds over the contracts themselves. Method:
// the same random steps and invariants on real nodes with the local hub and the real allocator contract; each run
// has parties that the chains have not seen. CAUSEWAY_FAULTS=1 runs the long form, CAUSEWAY_SEED=<seed> one again.
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, test } from 'vitest'
import type { Network } from './model/network.ts'
import { nodeNetwork, withNewParties } from './model/nodeNetwork.ts'
import { isLongForm, playRandomly } from './model/run.ts'

/** Only ends a test that would hang. */
const longTest = 7_200_000
let network: TestNetwork
let nodes: Network

beforeAll(async () => {
  network = await startTestNetwork()
  nodes = await nodeNetwork(network)
})
afterAll(() => network?.stop())

test('the same holds on real chains', { timeout: longTest }, () =>
  playRandomly('protocol model on real chains', isLongForm ? 500 : 10, async (play) => {
    await play(await withNewParties(nodes))
  }),
)
