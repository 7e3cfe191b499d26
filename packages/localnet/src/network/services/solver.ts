import { createHash } from 'node:crypto'
import { fillKeysOf, quotedFamilyVariables } from '../../families/familyVariables.ts'
import { hubPayers } from '../../keys/familyAccounts.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import { solverEnvironment } from '../../solver/solverEnvironment.ts'
import { oracleThreshold, settlementOracles } from './oracle.ts'
import type { ServiceContext, ServicePlan } from './servicePlan.ts'

const pollMs = 250

/** The solver with its own embedded PostgreSQL under the network's directory. */
export const solverPlan: ServicePlan = {
  name: 'solver',
  about: 'the service itself: it holds the fill wallet and pays what it has checked',
  script: 'apps/solver/src/main.ts',
  ports: ({ quote }) => ({ ops: quote + 3 }),
  async environment(context, ports) {
    const { chains, keys, paths } = context.network
    const { families, writeSecret } = context
    const oracles = settlementOracles(context)
    return {
      ...solverEnvironment(context.network, {
        quoteApiUrl: `http://127.0.0.1:${context.ports.get('quote-api')?.['http']}`,
        quoteApiKey: solverApiKey(keys),
        directory: paths.directory,
        // Never 0: `ports` above names it.
        opsPort: ports['ops'] ?? 0,
        pollMs,
      }),
      ...quotedFamilyVariables(families, keys),
      BASE_WS_RPC_URL: chains.base.url.replace('http:', 'ws:'),
      OPTIMISM_WS_RPC_URL: chains.optimism.url.replace('http:', 'ws:'),
      ECDSA_PRIVATE_KEY: '',
      ECDSA_PRIVATE_KEY_FILE: await writeSecret('fill-wallet.key', keys.fillWallet.privateKey),
      ...(await familyKeyFiles(context)),
      // Oracles sign the solver's entries on the hub, and the hub's key pays for these.
      ORACLES: oracles,
      ORACLES_THRESHOLD: oracles === '' ? '' : String(oracleThreshold),
      HUB_ECDSA_PRIVATE_KEY: '',
      HUB_ECDSA_PRIVATE_KEY_FILE: await writeSecret('solver-hub.key', hubPayers(keys).solver.privateKey),
    }
  },
  readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
}

/** Variables of files with the fill wallets' keys on other families' chains; empty where those do not run. */
async function familyKeyFiles({
  network: { keys },
  families,
  writeSecret,
}: ServiceContext): Promise<Readonly<Record<string, string>>> {
  const files = await Promise.all(
    Object.entries(fillKeysOf(keys)).map(async ([variable, key]) => {
      const name = `fill-wallet.${variable.toLowerCase().replaceAll('_', '-')}.key`
      return {
        [variable]: '',
        [`${variable}_FILE`]: families === undefined ? '' : await writeSecret(name, key),
      }
    }),
  )
  return Object.assign({}, ...files)
}

/** API key of the solver at quote-api; derived, so that every start has the same. */
export function solverApiKey(keys: LocalKeys): string {
  return createHash('sha256').update(`solver of ${keys.fillWallet.privateKey}`).digest('hex')
}
