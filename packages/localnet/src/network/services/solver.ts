import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { LocalKeys } from '../../keys/localKeys.ts'
import { solverFile } from '../../solver/solverFile.ts'
import type { ServicePlan } from './servicePlan.ts'

const pollMs = 250

/** The reference solver: pays with the fill wallet what quote-api lists. A development part. */
export const solverPlan: ServicePlan = {
  name: 'solver',
  about: 'a development part: it holds the fill wallet and fills every order that quote-api lists',
  script: 'apps/solver/src/main.ts',
  ports: ({ quote }) => ({ ops: quote + 3 }),
  async environment(context, ports) {
    const { keys, paths } = context.network
    const file = solverFile(context.network, {
      quoteApiUrl: `http://127.0.0.1:${context.ports.get('quote-api')?.['http']}`,
      quoteApiKey: solverApiKey(keys),
      directory: join(paths.directory, 'solver'),
      healthPort: ports['ops'] ?? 0,
      pollMs,
    })
    return { SOLVER_CONFIG_FILE: await context.writeSecret('solver.json', JSON.stringify(file)) }
  },
  readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
}

/** What quote-api knows the solver by; derived, so that every start has the same. */
export function solverApiKey(keys: LocalKeys): string {
  return createHash('sha256').update(`solver of ${keys.fillWallet.privateKey}`).digest('hex')
}
