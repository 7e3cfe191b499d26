import { createHash } from 'node:crypto'
import { quotedFamilyVariables, solanaAccounts } from '../../families/solanaAccounts.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import { solverEnvironment } from '../../solver/solverEnvironment.ts'
import type { ServicePlan } from './servicePlan.ts'

const pollMs = 250

/** The solver with its own embedded PostgreSQL under the network's directory. */
export const solverPlan: ServicePlan = {
  name: 'solver',
  about: 'the service itself: it holds the fill wallet and pays what it has checked',
  script: 'apps/solver/src/main.ts',
  ports: ({ quote }) => ({ ops: quote + 3 }),
  async environment(context, ports) {
    const { chains, keys, paths } = context.network
    const families = await context.families
    return {
      ...solverEnvironment(context.network, {
        quoteApiUrl: `http://127.0.0.1:${context.ports.get('quote-api')?.['http']}`,
        quoteApiKey: solverApiKey(keys),
        directory: paths.directory,
        opsPort: ports['ops'] ?? 0,
        pollMs,
      }),
      ...quotedFamilyVariables(families, keys),
      BASE_WS_RPC_URL: chains.base.url.replace('http:', 'ws:'),
      OPTIMISM_WS_RPC_URL: chains.optimism.url.replace('http:', 'ws:'),
      ECDSA_PRIVATE_KEY: '',
      ECDSA_PRIVATE_KEY_FILE: await context.writeSecret('fill-wallet.key', keys.fillWallet.privateKey),
      BITCOIN_PRIVATE_KEY: '',
      BITCOIN_PRIVATE_KEY_FILE: '',
      TRON_PRIVATE_KEY: '',
      TRON_PRIVATE_KEY_FILE: '',
      LIGHTER_PRIVATE_KEY: '',
      LIGHTER_PRIVATE_KEY_FILE: '',
      LIGHTER_API_KEY: '',
      LIGHTER_API_KEY_FILE: '',
      // Of the account on Solana, where that runs.
      ED25519_PRIVATE_KEY: '',
      ED25519_PRIVATE_KEY_FILE:
        families === undefined
          ? ''
          : await context.writeSecret('fill-wallet.ed25519.key', solanaAccounts(keys).fillWallet.seed),
    }
  },
  readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
}

/** What quote-api knows the solver by; derived, so that every start has the same. */
export function solverApiKey(keys: LocalKeys): string {
  return createHash('sha256').update(`solver of ${keys.fillWallet.privateKey}`).digest('hex')
}
