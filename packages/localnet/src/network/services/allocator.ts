import { join } from 'node:path'
import { allocatorEnvironment, allocatorKeys } from '../../allocator/allocatorEnvironment.ts'
import type { ServicePlan } from './servicePlan.ts'

const pollMs = 250

/** The allocator's process, which signs the withdrawals that its contract on the hub issued. */
export const allocatorPlan: ServicePlan = {
  name: 'allocator',
  about: "the service itself: it holds the allocator's key and signs the withdrawals that were issued",
  script: 'apps/allocator/src/main.ts',
  ports: ({ quote }) => ({ ops: quote + 4 }),
  async environment({ network, writeSecret }, ports) {
    const { ecdsa, ed25519 } = allocatorKeys(network)
    // Never 0: `ports` above names it.
    const opsPort = ports['ops'] ?? 0
    const stateDirectory = join(network.paths.directory, 'allocator')
    return {
      ...allocatorEnvironment(network, { opsPort, pollMs, stateDirectory }),
      ALLOCATOR_ECDSA_PRIVATE_KEY_FILE: await writeSecret('allocator.key', ecdsa),
      ALLOCATOR_ED25519_PRIVATE_KEY_FILE: await writeSecret('allocator.ed25519.key', ed25519),
    }
  },
  readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
}
