// The services of a run in the field: three oracles, quote-api and a solver, as production runs them.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'

type Variables = Readonly<Record<string, string>>

export type Service = {
  readonly name: string
  /** From the repository's root. */
  readonly script: string
  readonly variables: Variables
  readonly readyUrl: string
}

export type FieldServices = {
  /** In the order in which they start. */
  readonly list: readonly Service[]
  readonly quoteApiUrl: string
  /** One that asks the other two. */
  readonly oracle: { readonly url: string; readonly apiKey: string }
}

/** Signatures that attest a fact. */
export const quorum = 2
const oracleNumbers = [1, 2, 3] as const
/** Cap of the native coin within an hour, far above the payments. */
const signingCaps = `0x${'0'.repeat(40)}=10000000000000000000`
/** Nobody is sent there. */
const unusedUrl = 'https://field.example'

export type ServicesOptions = {
  readonly environment: string
  readonly configDirectory: string
  readonly stateDirectory: string
  /** Endpoints of the chains and the hub, and of price services. */
  readonly endpoints: Variables
  readonly capVariables: readonly string[]
  readonly fillWalletKey: Hex
  readonly databaseUrl: (name: 'quote_api' | 'solver') => string
  readonly freePort: () => Promise<number>
}

const secret = () => randomBytes(24).toString('hex')
const ready = (port: number) => `http://127.0.0.1:${port}/ready`

async function planOracle(number: (typeof oracleNumbers)[number], freePort: ServicesOptions['freePort']) {
  const [httpPort, opsPort] = [await freePort(), await freePort()]
  return {
    name: `oracle-${number}` as const,
    key: generatePrivateKey(),
    httpPort,
    opsPort,
    url: `http://127.0.0.1:${httpPort}`,
    keyFor: {
      'quote-api': secret(),
      solver: secret(),
      field: secret(),
      'oracle-1': secret(),
      'oracle-2': secret(),
      'oracle-3': secret(),
    },
  }
}

type PlannedOracle = Awaited<ReturnType<typeof planOracle>>

function oracleService(
  { name, key, keyFor, httpPort, opsPort }: PlannedOracle,
  oracles: readonly PlannedOracle[],
  { stateDirectory, capVariables }: ServicesOptions,
): Service {
  const others = oracles.filter((one) => one.name !== name)
  const callers = Object.entries(keyFor).filter(([asker]) => asker !== name)
  return {
    name,
    script: 'apps/oracle/src/main.ts',
    readyUrl: ready(opsPort),
    variables: {
      ...Object.fromEntries(capVariables.map((variable) => [variable, signingCaps])),
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: `${httpPort}`,
      OPS_PORT: `${opsPort}`,
      ECDSA_PRIVATE_KEY: key,
      STATE_DIR: join(stateDirectory, name),
      PEER_API_KEYS: callers.map(([asker, text]) => `${text}:${asker}`).join(';'),
      PEERS: others.map((other) => `${other.url}|${other.keyFor[name]}`).join(';'),
      ORACLE_SIGNERS: oracles.map((one) => privateKeyToAddress(one.key)).join(';'),
      ORACLE_SIGNERS_THRESHOLD: `${quorum}`,
    },
  }
}

/** quote-api, and the solver that asks it. */
async function paidServices(options: ServicesOptions, oracles: readonly PlannedOracle[]) {
  const { fillWalletKey, databaseUrl, freePort } = options
  const askedBy = (asker: 'quote-api' | 'solver') =>
    oracles.map((one) => `${one.url}|${one.keyFor[asker]}|${privateKeyToAddress(one.key)}`).join(';')
  const orderKey = generatePrivateKey()
  const [httpPort, opsPort, adminPort] = [await freePort(), await freePort(), await freePort()]
  const solverOpsPort = await freePort()
  const [solverKey, adminKey, pepper] = [secret(), secret(), randomBytes(32).toString('hex')]
  const url = `http://127.0.0.1:${httpPort}`
  const quoteApi: Service = {
    name: 'quote-api',
    script: 'apps/quote-api/src/main.ts',
    readyUrl: ready(opsPort),
    variables: {
      HTTP_HOST: '127.0.0.1',
      HTTP_PORT: `${httpPort}`,
      PUBLIC_URL: unusedUrl,
      OPS_PORT: `${opsPort}`,
      ADMIN_PORT: `${adminPort}`,
      DATABASE_URL: databaseUrl('quote_api'),
      ECDSA_PRIVATE_KEY: orderKey,
      API_KEY_PEPPERS: `v1:${pepper}`,
      ADMIN_API_KEY: adminKey,
      SOLVER_API_KEY: solverKey,
      FILL_WALLET_ADDRESS: privateKeyToAddress(fillWalletKey),
      ORACLES: askedBy('quote-api'),
    },
  }
  const solver: Service = {
    name: 'solver',
    script: 'apps/solver/src/main.ts',
    readyUrl: ready(solverOpsPort),
    variables: {
      OPS_PORT: `${solverOpsPort}`,
      QUOTE_API_URL: url,
      SOLVER_API_KEY: solverKey,
      DATABASE_URL: databaseUrl('solver'),
      ECDSA_PRIVATE_KEY: fillWalletKey,
      ORDER_SIGNERS: privateKeyToAddress(orderKey),
      ORACLES: askedBy('solver'),
    },
  }
  return { url, services: [quoteApi, solver] }
}

/** Every key but the fill wallet's is made for this run alone. */
export async function planServices(options: ServicesOptions): Promise<FieldServices> {
  const { environment, configDirectory, endpoints, freePort } = options
  const common = {
    ENVIRONMENT: environment,
    CONFIG_DIR: configDirectory,
    LOG_LEVEL: 'info',
    MAINNETS_BASE_URL: unusedUrl,
    TESTNETS_BASE_URL: unusedUrl,
    ...endpoints,
  }
  const oracles = await Promise.all(oracleNumbers.map((number) => planOracle(number, freePort)))
  const [first] = oracles
  if (first === undefined) throw new Error('there is no oracle')
  const { url, services } = await paidServices(options, oracles)
  const all = [...oracles.map((one) => oracleService(one, oracles, options)), ...services]
  return {
    list: all.map((one) => ({ ...one, variables: { ...common, ...one.variables } })),
    quoteApiUrl: url,
    oracle: { url: first.url, apiKey: first.keyFor.field },
  }
}
