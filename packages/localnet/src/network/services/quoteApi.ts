import { createHash } from 'node:crypto'
import { quotedFamilyVariables } from '../../families/familyVariables.ts'
import { hubPayers } from '../../keys/familyAccounts.ts'
import type { LocalKeys } from '../../keys/localKeys.ts'
import { oracleThreshold, settlementOracles } from './oracle.ts'
import type { ServicePlan } from './servicePlan.ts'
import { solverApiKey } from './solver.ts'

/** quote-api with its own embedded PostgreSQL under the network's directory. */
export const quoteApiPlan: ServicePlan = {
  name: 'quote-api',
  about: 'the service itself, with an embedded PostgreSQL',
  script: 'apps/quote-api/src/main.ts',
  ports: ({ quote }) => ({ http: quote, ops: quote + 1, admin: quote + 2 }),
  async environment(context, ports) {
    const { network, writeSecret, families } = context
    const { chains, keys, paths } = network
    const oracles = settlementOracles(context)
    return {
      ENVIRONMENT: 'local',
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: String(ports['http']),
      OPS_PORT: String(ports['ops']),
      ADMIN_PORT: String(ports['admin']),
      CAUSEWAY_LOCAL_DIR: paths.directory,
      // An empty variable counts as unset: the state of a local network lies in its directory alone.
      DATABASE_URL: '',
      BASE_RPC_URL: chains.base.url,
      OPTIMISM_RPC_URL: chains.optimism.url,
      BASE_WS_RPC_URL: chains.base.url.replace('http:', 'ws:'),
      OPTIMISM_WS_RPC_URL: chains.optimism.url.replace('http:', 'ws:'),
      RELAY_RPC_URL: chains.hub.url,
      // Web pages read receipts and code from these endpoints.
      BASE_PUBLIC_ENDPOINT: chains.base.url,
      OPTIMISM_PUBLIC_ENDPOINT: chains.optimism.url,
      ...quotedFamilyVariables(families, keys),
      // Without oracles this chain is not quoted, because only they attest for which order a transfer is.
      ...(oracles === '' && { HYPERLIQUID_RPC_URL: '' }),
      ORACLES: oracles,
      ORACLES_THRESHOLD: oracles === '' ? '' : String(oracleThreshold),
      SOLVER_API_KEY: solverApiKey(keys),
      // Receivers of webhooks may run on a developer's machine.
      WEBHOOK_PRIVATE_ADDRESSES: 'allow',
      FILL_WALLET_ADDRESS: keys.fillWallet.address,
      CUSTODY_ADDRESS: keys.custody.address,
      ECDSA_PRIVATE_KEY: '',
      ECDSA_PRIVATE_KEY_FILE: await writeSecret('order-signer.key', keys.orderSigner.privateKey),
      // Pays for entries on the hub, which only deposits on Hyperliquid need.
      HUB_ECDSA_PRIVATE_KEY: '',
      HUB_ECDSA_PRIVATE_KEY_FILE:
        families === undefined ? '' : await writeSecret('hub.key', hubPayers(keys).quoteApi.privateKey),
      EVIDENCE_ECDSA_PRIVATE_KEY: '',
      EVIDENCE_ECDSA_PRIVATE_KEY_FILE: await writeSecret('evidence.key', evidenceKey(keys)),
    }
  },
  readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
}

/** Key that signs timelines; derived, so that every start has the same. */
function evidenceKey(keys: LocalKeys): string {
  return `0x${createHash('sha256').update(`evidence of ${keys.orderSigner.privateKey}`).digest('hex')}`
}
