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
/** Of the native coin, within an hour: far above what is paid. */
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

/** Every key but the fill wallet's is made for this run alone. */
export async function planServices(options: ServicesOptions): Promise<FieldServices> {
  const { environment, configDirectory, stateDirectory, endpoints } = options
  const { fillWalletKey, databaseUrl, freePort } = options
  const common = {
    ...{ ENVIRONMENT: environment, CONFIG_DIR: configDirectory, LOG_LEVEL: 'info' },
    ...{ MAINNETS_BASE_URL: unusedUrl, TESTNETS_BASE_URL: unusedUrl },
    ...endpoints,
  }
  const secret = () => randomBytes(24).toString('hex')
  const oracles = await Promise.all(
    oracleNumbers.map(async (number) => ({
      ...{ number, name: `oracle-${number}`, key: generatePrivateKey() },
      ...{ httpPort: await freePort(), opsPort: await freePort() },
      keyFor: {
        ...{ 'quote-api': secret(), solver: secret(), field: secret() },
        ...{ 'oracle-1': secret(), 'oracle-2': secret(), 'oracle-3': secret() },
      },
    })),
  )
  type Asker = keyof (typeof oracles)[number]['keyFor']
  const urlOf = ({ httpPort }: (typeof oracles)[number]) => `http://127.0.0.1:${httpPort}`
  const askedBy = (asker: Asker) =>
    oracles.map((one) => `${urlOf(one)}|${one.keyFor[asker]}|${privateKeyToAddress(one.key)}`).join(';')
  const orderKey = generatePrivateKey()
  const [quotePort, quoteOpsPort, adminPort, solverOpsPort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ])
  const [solverKey, adminKey, pepper] = [secret(), secret(), randomBytes(32).toString('hex')]
  const quoteApiUrl = `http://127.0.0.1:${quotePort}`
  const ready = (port: number) => `http://127.0.0.1:${port}/ready`
  const list: readonly Service[] = [
    ...oracles.map(({ name, key, keyFor, httpPort, opsPort }) => ({
      ...{ name, script: 'apps/oracle/src/main.ts', readyUrl: ready(opsPort) },
      variables: {
        ...common,
        ...Object.fromEntries(options.capVariables.map((variable) => [variable, signingCaps])),
        ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: `${httpPort}`, OPS_PORT: `${opsPort}` },
        ...{ ECDSA_PRIVATE_KEY: key, STATE_DIR: join(stateDirectory, name) },
        PEER_API_KEYS: Object.entries(keyFor)
          .filter(([asker]) => asker !== name)
          .map(([asker, text]) => `${text}:${asker}`)
          .join(';'),
        PEERS: oracles
          .filter((other) => other.name !== name)
          // CAST: oracles are named so above.
          .map((other) => `${urlOf(other)}|${other.keyFor[name as Asker]}`)
          .join(';'),
        ORACLE_SIGNERS: oracles.map((one) => privateKeyToAddress(one.key)).join(';'),
        ORACLE_SIGNERS_THRESHOLD: `${quorum}`,
      },
    })),
    {
      ...{ name: 'quote-api', script: 'apps/quote-api/src/main.ts', readyUrl: ready(quoteOpsPort) },
      variables: {
        ...common,
        ...{ HTTP_HOST: '127.0.0.1', HTTP_PORT: `${quotePort}`, PUBLIC_URL: unusedUrl },
        ...{ OPS_PORT: `${quoteOpsPort}`, ADMIN_PORT: `${adminPort}` },
        ...{ DATABASE_URL: databaseUrl('quote_api'), ECDSA_PRIVATE_KEY: orderKey },
        ...{ API_KEY_PEPPERS: `v1:${pepper}`, ADMIN_API_KEY: adminKey, SOLVER_API_KEY: solverKey },
        ...{ FILL_WALLET_ADDRESS: privateKeyToAddress(fillWalletKey), ORACLES: askedBy('quote-api') },
      },
    },
    {
      ...{ name: 'solver', script: 'apps/solver/src/main.ts', readyUrl: ready(solverOpsPort) },
      variables: {
        ...common,
        ...{ OPS_PORT: `${solverOpsPort}`, QUOTE_API_URL: quoteApiUrl, SOLVER_API_KEY: solverKey },
        ...{ DATABASE_URL: databaseUrl('solver'), ECDSA_PRIVATE_KEY: fillWalletKey },
        ...{ ORDER_SIGNERS: privateKeyToAddress(orderKey), ORACLES: askedBy('solver') },
      },
    },
  ]
  const [first] = oracles
  if (first === undefined) throw new Error('there is no oracle')
  return { list, quoteApiUrl, oracle: { url: urlOf(first), apiKey: first.keyFor.field } }
}
