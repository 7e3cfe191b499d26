import { randomBytes } from 'node:crypto'
import { allocatorKeys, freeLoopbackPort, type TestNetwork } from '@causeway/localnet'

type Variables = Readonly<Record<string, string>>

/**
 * Environment of each image on a local network.
 * @param databases connection strings, one empty database each
 */
export async function imageVariables(
  network: TestNetwork,
  databases: Readonly<Record<'quote-api' | 'solver', string>>,
): Promise<Readonly<Record<'quote-api' | 'oracle' | 'solver' | 'allocator', Variables>>> {
  return {
    'quote-api': { ...(await quoteApiVariables(network)), DATABASE_URL: databases['quote-api'] },
    oracle: await oracleVariables(network),
    solver: { ...(await solverVariables(network)), DATABASE_URL: databases.solver },
    allocator: await allocatorVariables(network),
  }
}

async function quoteApiVariables(local: TestNetwork): Promise<Record<string, string>> {
  const { fillWallet, custody, orderSigner } = local.keys
  return {
    ...(await commonVariables(local)),
    ADMIN_PORT: String(await freeLoopbackPort()),
    FILL_WALLET_ADDRESS: fillWallet.address,
    CUSTODY_ADDRESS: custody.address,
    ECDSA_PRIVATE_KEY: orderSigner.privateKey,
    API_KEY_PEPPERS: `v1:${randomBytes(32).toString('hex')}`,
  }
}

async function oracleVariables(local: TestNetwork): Promise<Record<string, string>> {
  const [{ privateKey }] = local.keys.oracles
  return { ...(await commonVariables(local)), ECDSA_PRIVATE_KEY: privateKey }
}

async function allocatorVariables(local: TestNetwork): Promise<Record<string, string>> {
  const { ecdsa, ed25519 } = allocatorKeys(local)
  return {
    ENVIRONMENT: 'local',
    OPS_PORT: String(await freeLoopbackPort()),
    RELAY_RPC_URL: local.chains.hub.url,
    ALLOCATOR_ECDSA_PRIVATE_KEY: ecdsa,
    ALLOCATOR_ED25519_PRIVATE_KEY: ed25519,
  }
}

/** Nobody answers at the address of quote-api: it is ready without, and asks again. */
async function solverVariables(local: TestNetwork): Promise<Record<string, string>> {
  const { fillWallet, orderSigner } = local.keys
  return {
    ...(await commonVariables(local)),
    QUOTE_API_URL: 'http://127.0.0.1:1',
    SOLVER_API_KEY: randomBytes(16).toString('hex'),
    ORDER_SIGNERS: orderSigner.address,
    ECDSA_PRIVATE_KEY: fillWallet.privateKey,
  }
}

async function commonVariables({ chains }: TestNetwork): Promise<Record<string, string>> {
  return {
    ENVIRONMENT: 'local',
    HTTP_PORT: String(await freeLoopbackPort()),
    OPS_PORT: String(await freeLoopbackPort()),
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
    RELAY_RPC_URL: chains.hub.url,
  }
}
