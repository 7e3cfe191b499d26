import { allocatorSignerFile } from '../../allocator/signerConfig.ts'
import type { ServicePlan } from './servicePlan.ts'

const pollMs = 250

/** Signs what the allocator's contract issued. A development part. */
export const allocatorSignerPlan: ServicePlan = {
  name: 'allocator',
  about: "a development part: it holds the allocator's key and signs the withdrawals that were issued",
  script: 'packages/localnet/src/allocator/main.ts',
  ports: ({ quote }) => ({ ops: quote + 4 }),
  async environment({ network, writeSecret }, ports) {
    const file = allocatorSignerFile(network, { healthPort: ports['ops'] ?? 0, pollMs })
    return { ALLOCATOR_CONFIG_FILE: await writeSecret('allocator.json', JSON.stringify(file)) }
  },
  readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
}
