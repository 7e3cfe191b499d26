// The mistakes of operators: what each is, how it is made, who says it, and what becomes of money meanwhile.
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FindingCode, Severity } from '@causeway/core/config'

export const services = ['quote-api', 'oracle', 'solver', 'allocator'] as const
export type ServiceName = (typeof services)[number]

export type Variables = Readonly<Record<string, string>>

/** The files and services that a mistake is made with. */
export type Scene = {
  readonly repositoryRoot: string
  /** A new folder. */
  folder(name: string): Promise<string>
  /** Variables of a service of the running local network; of oracles the first one's. */
  running(service: ServiceName): Variables
  /** Database of quote-api there. */
  readonly databaseUrl: string
}

/** Place of a mistake: in settings of a test network that ask nobody, or of the local network that runs. */
type Base = 'settings' | 'network'

export const subjects = ['key', 'file', 'address', 'database', 'disk', 'peer', 'clock'] as const
export const forms = ['wrong', 'missing', 'swapped', 'expired', 'empty', 'full', 'read-only'] as const

export type Mistake = {
  readonly of: (typeof subjects)[number]
  readonly form: (typeof forms)[number]
  readonly what: string
  /** Finding of the doctor of a service, at once. */
  readonly doctor: {
    readonly service: ServiceName
    readonly severity: Exclude<Severity, 'note'>
    readonly code: FindingCode
    /** Words of its setting and of what was seen. */
    readonly words: string
  }
  /** Place that says it within a minute where the service runs. */
  readonly within: string
  /** Fate of money meanwhile. */
  readonly money: string
  readonly fix: string
  /** Changed variables of the service. */
  readonly made?: readonly [Base, (scene: Scene) => Variables | Promise<Variables>]
  /** `<file> › <title>` of tests that make it; with `made` those of the service that runs. */
  readonly proofs?: readonly string[]
}

const refused = 'The start is refused'
const nothing = 'None comes in: nothing runs'
const key = (digits: string) => `0x${digits.repeat(32)}`
/** The first account of anvil and hardhat. */
const published = {
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
}
const live = 'test/mistakes.test.ts'
const terms = 'apps/quote-api/test/solverTerms.test.ts'
const peersAreTold = `${live} › O-104, O-127: an oracle says %s by its /ready where %s is wrong`
const stops = (service: ServiceName, code: FindingCode, words: string): Mistake['doctor'] => ({
  service,
  severity: 'stops',
  code,
  words,
})
const degrades = (service: ServiceName, code: FindingCode, words: string): Mistake['doctor'] => ({
  service,
  severity: 'degrades',
  code,
  words,
})

/** The shipped files with one in which something is wrong. */
async function filesWith({ repositoryRoot, folder }: Scene, name: string, text: string): Promise<Variables> {
  const configs = await folder('configs')
  await cp(join(repositoryRoot, 'configs'), configs, { recursive: true })
  await writeFile(join(configs, name), text)
  return { CONFIG_DIR: configs }
}

async function emptyFile({ folder }: Scene): Promise<string> {
  const path = join(await folder('keys'), 'empty.key')
  await writeFile(path, '', { mode: 0o600 })
  return path
}

/** Replaces each URL of a list by a closed port of its own. */
export function elsewhere(urls = ''): string {
  let port = 10
  return urls.replaceAll(/127\.0\.0\.1:\d+/g, () => {
    port -= 1
    return `127.0.0.1:${port}`
  })
}

/** Replaces the peers' keys by one that no peer knows. */
export const withOtherKeys = (peers = ''): string =>
  peers.replaceAll(/\|[^;]+/g, '|another-key-of-these-tests')

/** Swaps signers, so that each is at the next one's address. */
export function signersSwapped(oracles = ''): string {
  const entries = oracles.split(';').map((entry) => entry.split('|'))
  return entries
    .map(([url, apiKey], index) => [url, apiKey, entries[(index + 1) % entries.length]?.[2]].join('|'))
    .join(';')
}

const keys: readonly Mistake[] = [
  {
    of: 'key',
    form: 'missing',
    what: 'No key of the order signer',
    doctor: stops('quote-api', 'key-wrong', 'ECDSA_PRIVATE_KEY'),
    within: refused,
    money: nothing,
    fix: 'Name its file in `ECDSA_PRIVATE_KEY_FILE`',
    made: ['settings', () => ({ ECDSA_PRIVATE_KEY: '' })],
  },
  {
    of: 'key',
    form: 'empty',
    what: 'The file of the fill wallet’s key is empty',
    doctor: stops('solver', 'key-wrong', 'ECDSA_PRIVATE_KEY_FILE'),
    within: refused,
    money: nothing,
    fix: 'Write the key to the file again',
    made: [
      'settings',
      async (scene) => ({ ECDSA_PRIVATE_KEY: '', ECDSA_PRIVATE_KEY_FILE: await emptyFile(scene) }),
    ],
  },
  {
    of: 'key',
    form: 'wrong',
    what: 'Half of a key was pasted',
    doctor: stops('oracle', 'key-wrong', 'ECDSA_PRIVATE_KEY'),
    within: refused,
    money: nothing,
    fix: 'Paste `0x` and 64 hex digits',
    made: ['settings', () => ({ ECDSA_PRIVATE_KEY: key('5a').slice(0, 34) })],
  },
  {
    of: 'key',
    form: 'wrong',
    what: 'A key that everybody knows, of a guide',
    doctor: stops('quote-api', 'address-foreign', 'published'),
    within: refused,
    money: nothing,
    fix: 'Make a key of your own',
    made: ['settings', () => ({ ECDSA_PRIVATE_KEY: published.privateKey })],
  },
  {
    of: 'key',
    form: 'swapped',
    what: 'The allocator’s key in the variables of quote-api',
    doctor: stops('quote-api', 'setting-contradicts', 'ALLOCATOR_ECDSA_PRIVATE_KEY'),
    within: refused,
    money: nothing,
    fix: 'Remove it there, and make the allocator another one',
    made: ['settings', () => ({ ALLOCATOR_ECDSA_PRIVATE_KEY: key('5b') })],
  },
  {
    of: 'key',
    form: 'swapped',
    what: 'The order signer’s key signs timelines too',
    doctor: stops('quote-api', 'key-wrong', 'evidence key'),
    within: refused,
    money: nothing,
    fix: 'Make a key of its own for `EVIDENCE_ECDSA_PRIVATE_KEY`',
    made: ['settings', () => ({ EVIDENCE_ECDSA_PRIVATE_KEY: key('5a') })],
  },
  {
    of: 'key',
    form: 'swapped',
    what: 'The key of another allocator',
    doctor: stops('allocator', 'chain-contradicts', 'takes signatures of'),
    within: refused,
    money: 'Withdrawals wait',
    fix: 'Use the key that the contract on the hub names',
    made: [
      'network',
      () => ({ ALLOCATOR_ECDSA_PRIVATE_KEY: key('5c'), ALLOCATOR_ECDSA_PRIVATE_KEY_FILE: '' }),
    ],
  },
  {
    of: 'key',
    form: 'swapped',
    what: 'quote-api signs orders with another key',
    doctor: degrades('quote-api', 'solver-differs', 'ORDER_SIGNERS'),
    within: '`/ready` (`ORDER_SIGNER_DIFFERS`), status, `SolverDiffers`',
    money: 'Quotes are refused; a refund is paid once both agree',
    fix: 'Put the key back, or its address into `ORDER_SIGNERS`',
    proofs: [
      `${terms} › O-83, O-105: a replica with another order signer sells nothing, says so everywhere, and ends it by itself`,
      `${terms} › O-85: a refund that the solver refuses is listed at once with its words, told in the timeline, and goes on by itself`,
      'test/alerts/operators.test.ts › SolverDiffers where quote-api signs orders with a key that the solver does not accept',
    ],
  },
  {
    of: 'key',
    form: 'swapped',
    what: 'The solver has the key of another wallet',
    doctor: degrades('solver', 'solver-differs', 'FILL_WALLET_ADDRESS'),
    within: '`/ready` (`FILL_WALLET_DIFFERS`), status, `SolverDiffers`',
    money: 'Quotes are refused',
    fix: 'Put the key back',
    proofs: [
      `${terms} › O-83: a solver of another wallet is named by both sides, and nothing is quoted from the balances of a wallet that does not pay`,
    ],
  },
  {
    of: 'key',
    form: 'wrong',
    what: 'A key id that the key service does not hold',
    doctor: stops('oracle', 'key-wrong', 'NotFoundException'),
    within: refused,
    money: nothing,
    fix: 'Copy id and region from the console of the key service',
    made: [
      'settings',
      () => ({
        SIGNING_MODULE: 'aws-kms',
        ECDSA_PRIVATE_KEY: '',
        AWS_KMS_SIGNER_KEY_ID: 'another',
        AWS_KMS_SIGNER_KEY_REGION: 'eu-central-1',
      }),
    ],
    proofs: [
      'packages/signer/test/awsKms.test.ts › O-104: a key id that the key service does not hold is refused, of another key too',
    ],
  },
  {
    of: 'key',
    form: 'missing',
    what: 'The key service signs no more',
    doctor: stops('oracle', 'key-wrong', 'the key service'),
    within: '`/ready` of quote-api (`SIGNER_FAILED`), `AttestationsFail` of an oracle',
    money: 'Quotes are refused; settlement waits',
    fix: 'Look at its rights and its limits',
    proofs: [
      'packages/signer/test/awsKms.test.ts › O-5: where %s the start says so',
      'apps/quote-api/src/requests/draft/orderKey.test.ts › SIGNER_FAILED',
      'test/alerts/oracles.test.ts › AttestationsFail where the key management service signs no more',
    ],
  },
  {
    of: 'key',
    form: 'missing',
    what: 'No `SOLVER_API_KEY` in quote-api',
    doctor: stops('quote-api', 'setting-missing', 'SOLVER_API_KEY'),
    within: refused,
    money: nothing,
    fix: 'Set the key that the solver shows',
    made: ['settings', () => ({ SOLVER_API_KEY: '' })],
  },
  {
    of: 'key',
    form: 'wrong',
    what: 'The solver shows another `SOLVER_API_KEY`',
    doctor: degrades('solver', 'service-silent', 'SOLVER_API_KEY'),
    within: '`/ready` of quote-api (`SOLVER_SILENT`), status',
    money: 'What is deposited waits, and is filled or given back once the solver asks',
    fix: 'Give both services the same key',
    made: ['network', () => ({ SOLVER_API_KEY: 'another-key-of-these-tests' })],
    proofs: [
      `${live} › O-104: quote-api says that no solver asks where it was given another %s`,
      'apps/quote-api/test/standingRequests.test.ts › O-45: a solver that is down, and one without inventory, are named by what they are, until they pay',
    ],
  },
  {
    of: 'key',
    form: 'missing',
    what: 'No key of the admin listener',
    doctor: stops('quote-api', 'setting-wrong', 'ADMIN_API_KEY'),
    within: refused,
    money: nothing,
    fix: 'Set `ADMIN_API_KEY`',
    made: ['settings', () => ({ ADMIN_API_KEY: '' })],
  },
  {
    of: 'key',
    form: 'missing',
    what: 'No peppers',
    doctor: stops('quote-api', 'setting-missing', 'API_KEY_PEPPERS'),
    within: refused,
    money: nothing,
    fix: 'Set those of before; new ones make every API key 401',
    made: ['settings', () => ({ API_KEY_PEPPERS: '' })],
  },
  {
    of: 'key',
    form: 'swapped',
    what: 'Another pepper of the same id',
    doctor: stops('quote-api', 'pepper-wrong', 'API_KEY_PEPPERS'),
    within: refused,
    money: nothing,
    fix: 'Put the pepper back',
    proofs: [
      'apps/quote-api/test/apiKeys.test.ts › of the same id that are others are found, and refuse commands and a start',
    ],
  },
  {
    of: 'key',
    form: 'swapped',
    what: 'Two oracles sign with one key',
    doctor: degrades('oracle', 'signer-shared', 'both count once'),
    within: '`/ready` (`SIGNER_SHARED`), `PeerSharesSigner` from the first attestation on',
    money: 'Fills go on; settlement waits for another signature',
    fix: 'Give each oracle a key of its own',
    proofs: [
      `${live} › O-104, O-127: an oracle says by its /ready that a peer signs with its key`,
      'apps/oracle/src/compose/examine.test.ts › P-3: a peer that signs as this oracle does is named, and two that sign as one',
      'test/alerts/oracles.test.ts › PeerSharesSigner where a peer was started with the key of the oracle that asks it',
    ],
  },
]

const files: readonly Mistake[] = [
  {
    of: 'file',
    form: 'wrong',
    what: '`ENVIRONMENT` is mistyped',
    doctor: stops('quote-api', 'environment-unknown', 'known:'),
    within: refused,
    money: nothing,
    fix: 'Choose one of those that it names',
    made: ['settings', () => ({ ENVIRONMENT: 'testnet.prod' })],
  },
  {
    of: 'file',
    form: 'empty',
    what: 'The folder of the configuration files is empty',
    doctor: stops('oracle', 'environment-unknown', 'it holds no'),
    within: refused,
    money: nothing,
    fix: 'Mount the folder of your files at `CONFIG_DIR`',
    made: ['settings', async ({ folder }) => ({ CONFIG_DIR: await folder('configs') })],
  },
  {
    of: 'file',
    form: 'empty',
    what: 'The quote file was cut off by a full disk',
    doctor: stops('quote-api', 'configuration-wrong', 'is no JSON'),
    within: refused,
    money: nothing,
    fix: 'Copy the file again',
    made: ['settings', (scene) => filesWith(scene, 'quote.testnets.prod.json', '')],
  },
  {
    of: 'file',
    form: 'missing',
    what: 'The quote file is not there',
    doctor: stops('quote-api', 'configuration-wrong', 'does not exist'),
    within: refused,
    money: nothing,
    fix: 'Copy the file to `CONFIG_DIR`',
    made: [
      'settings',
      async ({ repositoryRoot, folder }) => {
        const configs = await folder('configs')
        const kept = (path: string) => !path.endsWith('quote.testnets.prod.json')
        await cp(join(repositoryRoot, 'configs'), configs, { recursive: true, filter: kept })
        return { CONFIG_DIR: configs }
      },
    ],
  },
  {
    of: 'file',
    form: 'swapped',
    what: 'The quote file of another environment under this one’s name',
    doctor: stops('quote-api', 'configuration-wrong', 'environment'),
    within: refused,
    money: nothing,
    fix: 'Copy the file of this environment',
    made: [
      'settings',
      async (scene) => {
        const other = join(scene.repositoryRoot, 'configs', 'quote.mainnets.prod.json')
        return filesWith(scene, 'quote.testnets.prod.json', await readFile(other, 'utf8'))
      },
    ],
  },
  {
    of: 'file',
    form: 'missing',
    what: 'The deny list is not where `DENY_LIST_FILE` says',
    doctor: stops('quote-api', 'setting-wrong', 'DENY_LIST_FILE'),
    within: refused,
    money: nothing,
    fix: 'Name the file, or fetch it again',
    made: ['network', () => ({ DENY_LIST_FILE: '/nowhere/denied.json' })],
    proofs: [
      'apps/quote-api/test/deniedAccounts.test.ts › a service whose list cannot be read does not start',
    ],
  },
  {
    of: 'file',
    form: 'expired',
    what: 'The deny list cannot be fetched for a day',
    doctor: stops('quote-api', 'setting-wrong', 'DENY_LIST_FILE'),
    within: '`/ready` (`DENY_LIST_STALE`), status, `DenyListStale`',
    money: 'Quotes are refused',
    fix: 'Mend what fetches it',
    proofs: [
      'test/alerts/faults.test.ts › DenyListStale where the list is gone',
      'packages/service/src/denyListWatch.test.ts › DENY_LIST_STALE',
    ],
  },
]

const addresses: readonly Mistake[] = [
  {
    of: 'address',
    form: 'missing',
    what: 'No fill wallet',
    doctor: stops('quote-api', 'nothing-quotable', 'FILL_WALLET_ADDRESS'),
    within: refused,
    money: nothing,
    fix: 'Set the address that the solver’s doctor names',
    made: ['settings', () => ({ FILL_WALLET_ADDRESS: '' })],
  },
  {
    of: 'address',
    form: 'wrong',
    what: 'An account of a guide as fill wallet',
    doctor: stops('quote-api', 'address-foreign', 'fillWallet'),
    within: refused,
    money: nothing,
    fix: 'Set the address that the solver’s doctor names',
    made: ['settings', () => ({ FILL_WALLET_ADDRESS: published.address })],
  },
  {
    of: 'address',
    form: 'swapped',
    what: 'The treasury as fill wallet',
    doctor: degrades('quote-api', 'solver-differs', 'FILL_WALLET_ADDRESS'),
    within: '`/ready` (`FILL_WALLET_DIFFERS`), status, `SolverDiffers`',
    money: 'Quotes are refused',
    fix: 'Set the address that the solver’s doctor names',
    proofs: [
      `${terms} › O-83: a solver of another wallet is named by both sides, and nothing is quoted from the balances of a wallet that does not pay`,
    ],
  },
  {
    of: 'address',
    form: 'swapped',
    what: 'The endpoints of two chains',
    doctor: stops('quote-api', 'chain-contradicts', 'base'),
    within: refused,
    money: nothing,
    fix: 'Swap the two variables',
    made: [
      'network',
      ({ running }) => {
        const { BASE_RPC_URL: base = '', OPTIMISM_RPC_URL: optimism = '' } = running('quote-api')
        return { BASE_RPC_URL: optimism, OPTIMISM_RPC_URL: base }
      },
    ],
  },
  {
    of: 'address',
    form: 'swapped',
    what: 'The endpoint of a chain in place of the hub’s',
    doctor: stops('oracle', 'chain-contradicts', 'is not on chain'),
    within: refused,
    money: 'Settlement waits for the other oracles',
    fix: 'Set the hub’s endpoint',
    made: ['network', ({ running }) => ({ RELAY_RPC_URL: running('oracle')['BASE_RPC_URL'] ?? '' })],
  },
  {
    of: 'address',
    form: 'missing',
    what: 'No chain has an endpoint',
    doctor: stops('quote-api', 'chain-without-endpoint', 'BASE_SEPOLIA_RPC_URL'),
    within: refused,
    money: nothing,
    fix: 'Set the variable that it names',
    made: ['settings', () => ({ BASE_SEPOLIA_RPC_URL: '' })],
  },
  {
    of: 'address',
    form: 'wrong',
    what: 'Nothing listens at the endpoint of a chain',
    doctor: degrades('quote-api', 'endpoints-too-few', 'httpRpcUrl of optimism'),
    within: 'status, `ChainStopped`',
    money: 'Quotes from and to the chain are refused',
    fix: 'Mend the address, or name another endpoint',
    made: ['network', () => ({ OPTIMISM_RPC_URL: 'http://127.0.0.1:9', OPTIMISM_WS_RPC_URL: '' })],
    proofs: [`${live} › O-104: a chain whose endpoint is another address is named, and not quoted`],
  },
  {
    of: 'address',
    form: 'wrong',
    what: 'The solver asks another address than that of quote-api',
    doctor: degrades('solver', 'service-silent', 'QUOTE_API_URL'),
    within: '`/ready` of quote-api (`SOLVER_SILENT`), status',
    money: 'What is deposited waits, and is filled or given back once the solver asks',
    fix: 'Set `QUOTE_API_URL`',
    made: ['network', () => ({ QUOTE_API_URL: 'http://127.0.0.1:9' })],
    proofs: [`${live} › O-104: quote-api says that no solver asks where it was given another %s`],
  },
  {
    of: 'address',
    form: 'wrong',
    what: 'The addresses of oracles in quote-api',
    doctor: degrades('quote-api', 'threshold-unreachable', 'ORACLES'),
    within: '`/ready` (`ORACLES_SILENT`), status',
    money: 'Fills and refunds go on; settlement waits',
    fix: 'Ask their operators for the addresses',
    made: ['network', ({ running }) => ({ ORACLES: elsewhere(running('quote-api')['ORACLES']) })],
    proofs: [`${live} › O-104, O-105: the addresses of oracles, wrong in %s, are told by its /ready`],
  },
  {
    of: 'address',
    form: 'wrong',
    what: 'The addresses of oracles in the solver',
    doctor: degrades('solver', 'threshold-unreachable', 'ORACLES'),
    within: '`/ready` of the solver (`ORACLES_SILENT`)',
    money: 'Fills go on up to what may be unattested, then quotes to the chain are refused',
    fix: 'Ask their operators for the addresses',
    made: ['network', ({ running }) => ({ ORACLES: elsewhere(running('solver')['ORACLES']) })],
    proofs: [`${live} › O-104, O-105: the addresses of oracles, wrong in %s, are told by its /ready`],
  },
  {
    of: 'address',
    form: 'swapped',
    what: 'The signers of oracles in quote-api',
    doctor: degrades('quote-api', 'signer-unlisted', 'ORACLES'),
    within: '`/ready` (`SIGNER_UNLISTED`), status, `OracleDoesNotSign` from the first fill on',
    money: 'Fills and refunds go on; settlement waits',
    fix: 'Compare each address with its operator',
    made: ['network', ({ running }) => ({ ORACLES: signersSwapped(running('quote-api')['ORACLES']) })],
    proofs: [
      `${live} › O-104, O-127: the signers of oracles, swapped in %s, are told by its /ready`,
      'test/alerts/money.test.ts › OracleDoesNotSign and RequestsStandStill where two of three oracles deny a fill',
    ],
  },
  {
    of: 'address',
    form: 'swapped',
    what: 'The signers of oracles in the solver',
    doctor: degrades('solver', 'signer-unlisted', 'ORACLES'),
    within: '`/ready` of the solver (`SIGNER_UNLISTED`), `SolverPaymentRefused` from the first fill on',
    money: 'Fills go on up to what may be unattested, then quotes to the chain are refused',
    fix: 'Compare each address with its operator',
    made: ['network', ({ running }) => ({ ORACLES: signersSwapped(running('solver')['ORACLES']) })],
    proofs: [
      `${live} › O-104, O-127: the signers of oracles, swapped in %s, are told by its /ready`,
      'test/alerts/solver.test.ts › SolverPaymentRefused',
    ],
  },
  {
    of: 'address',
    form: 'wrong',
    what: 'The allocator asks another address for stops',
    doctor: degrades('allocator', 'service-silent', 'STOPS_URL'),
    within: '`/ready` of the allocator (`stops`)',
    money: 'Withdrawals wait',
    fix: 'Name the operations listener of quote-api',
    made: ['network', () => ({ STOPS_URL: 'http://127.0.0.1:9' })],
    proofs: [`${live} › O-104: an allocator that cannot ask for stops says so`],
  },
  {
    of: 'address',
    form: 'missing',
    what: 'No public address of the service',
    doctor: stops('quote-api', 'setting-missing', 'PUBLIC_URL'),
    within: refused,
    money: nothing,
    fix: 'Set `PUBLIC_URL`',
    made: ['settings', () => ({ PUBLIC_URL: '' })],
  },
  {
    of: 'address',
    form: 'wrong',
    what: 'Two listeners have one port',
    doctor: stops('quote-api', 'setting-contradicts', 'OPS_PORT'),
    within: refused,
    money: nothing,
    fix: 'Give each a port of its own',
    made: ['settings', () => ({ HTTP_PORT: '3001', OPS_PORT: '3001' })],
  },
]

const databases: readonly Mistake[] = [
  {
    of: 'database',
    form: 'missing',
    what: 'No `DATABASE_URL`',
    doctor: stops('quote-api', 'setting-missing', 'DATABASE_URL'),
    within: refused,
    money: nothing,
    fix: 'Set it',
    made: ['settings', () => ({ DATABASE_URL: '' })],
  },
  {
    of: 'database',
    form: 'wrong',
    what: 'Another password, user or name',
    doctor: stops('quote-api', 'database-unreachable', 'DATABASE_URL'),
    within: refused,
    money: nothing,
    fix: 'Do what the server’s own words say',
    proofs: [
      'packages/database/test/examineDatabase.test.ts › O-58: %s is told in the words of the server, and is no matter of waiting',
      'apps/quote-api/test/databaseStates.test.ts › O-156: %s is refused, naming DATABASE_URL',
    ],
  },
  {
    of: 'database',
    form: 'swapped',
    what: 'The solver is given the database of quote-api',
    doctor: stops('solver', 'database-schema', 'another service keeps its tables there'),
    within: refused,
    money: 'What is deposited waits, and is filled or given back once a solver asks',
    fix: 'Give each service a database of its own',
    made: ['network', ({ databaseUrl }) => ({ DATABASE_URL: databaseUrl })],
    proofs: [
      'packages/database/test/migrate.test.ts › O-104: tells of an empty database, and refuses one in which another service keeps its tables',
    ],
  },
  {
    of: 'database',
    form: 'read-only',
    what: 'A user that may only read',
    doctor: stops('quote-api', 'database-rights', 'DATABASE_URL'),
    within: refused,
    money: nothing,
    fix: 'Let the user own the database',
    proofs: [
      'packages/database/test/examineDatabase.test.ts › a user that may only read stops the start, before and after migrations',
    ],
  },
  {
    of: 'database',
    form: 'read-only',
    what: 'It takes no writes any more while the service runs',
    doctor: stops('quote-api', 'database-rights', 'read-only'),
    within: '`/ready` (`DATABASE_STARTING`), status',
    money: 'Quotes are refused',
    fix: 'See whether it is a standby, and who set it read-only',
    proofs: [
      'apps/quote-api/test/status.test.ts › O-90: a database that takes no writes',
      'packages/database/test/examineDatabase.test.ts › a user that may only read stops the start, before and after migrations',
    ],
  },
  {
    of: 'database',
    form: 'full',
    what: 'The disk of the database has no room',
    doctor: degrades('quote-api', 'database-full', 'no room'),
    within: '`/ready` (`database`), status',
    money: 'Quotes are refused',
    fix: 'Make room',
    proofs: [
      'packages/database/test/examineDatabase.test.ts › a disk without room',
      'apps/quote-api/test/databaseStates.test.ts › O-157: %s is named, keeps nothing by half and ends by itself',
    ],
  },
  {
    of: 'database',
    form: 'missing',
    what: 'It is not there yet, or not any more',
    doctor: degrades('quote-api', 'database-unreachable', 'the start waits for it'),
    within: '`/ready` (`DATABASE_STARTING`), status',
    money: 'Quotes are refused',
    fix: 'Start it; quote-api goes on by itself',
    proofs: [
      'packages/database/test/examineDatabase.test.ts › what cannot be reached is waited for where the service waits, and stops it elsewhere',
      'apps/quote-api/test/databaseStates.test.ts › O-156: is waited for, visibly, and used when it comes',
    ],
  },
]

const others: readonly Mistake[] = [
  {
    of: 'disk',
    form: 'read-only',
    what: 'The state folder of an oracle cannot be written',
    doctor: stops('oracle', 'disk-unwritable', 'STATE_DIR'),
    within: refused,
    money: 'Settlement waits for the other oracles',
    fix: 'Let the user of the service own the folder',
    made: ['network', () => ({ STATE_DIR: '/dev/null/causeway' })],
  },
  {
    of: 'disk',
    form: 'read-only',
    what: 'The state folder of the allocator cannot be written',
    doctor: stops('allocator', 'disk-unwritable', 'STATE_DIR'),
    within: refused,
    money: 'Withdrawals wait',
    fix: 'Let the user of the service own the folder',
    made: ['network', () => ({ STATE_DIR: '/dev/null/causeway' })],
  },
  {
    of: 'disk',
    form: 'full',
    what: 'The state folder takes nothing more while an oracle runs',
    doctor: stops('oracle', 'disk-unwritable', 'STATE_DIR'),
    within: '`/ready` (`STATE_NOT_KEPT`), `StateNotKept`',
    money: 'Everything goes on',
    fix: 'Make room before the oracle is restarted',
    proofs: [
      'apps/oracle/test/signingCaps.test.ts › O-93: a state folder that takes nothing is shown while it signs on, and gets everything once it takes it',
      'apps/oracle/src/compose/examine.test.ts › a state folder that cannot be written stops the start; none forgets',
      'test/alerts/oracles.test.ts › O-93: StateNotKept where a file stands in the place of the state folder',
    ],
  },
  {
    of: 'disk',
    form: 'empty',
    what: 'The state folder of an oracle was emptied',
    doctor: degrades('oracle', 'state-empty', 'STATE_DIR'),
    within: '`/ready` (`STATE_EMPTY`), for an hour',
    money: 'Everything goes on; each cap begins a new hour',
    fix: 'Put the folder back, or start an hour after the last signature',
    proofs: [
      'apps/oracle/src/compose/stateCheck.test.ts › O-128: a start without counts is told for the hour that it gives away',
      'test/production/rehearsal.test.ts › O-128: an oracle that began without counts says so by its /ready',
      'apps/oracle/src/compose/examine.test.ts › O-93: a state folder without counts is named, for it may have been emptied; one with them is not',
    ],
  },
  {
    of: 'peer',
    form: 'wrong',
    what: 'Nothing listens at the address of a peer',
    doctor: degrades('oracle', 'peer-silent', 'PEERS entry 1'),
    within: '`/ready` (`PEER_SILENT`), `PeerSilent` from the first attestation on',
    money: 'Everything goes on with the others',
    fix: 'Compare the address with its operator',
    made: ['network', ({ running }) => ({ PEERS: elsewhere(running('oracle')['PEERS']) })],
    proofs: [
      peersAreTold,
      'test/alerts/faults.test.ts › PeerSilent and ServiceDown where an oracle is killed',
    ],
  },
  {
    of: 'peer',
    form: 'expired',
    what: 'The certificate of a peer',
    doctor: degrades('oracle', 'peer-silent', 'expired'),
    within: '`/ready` (`PEER_SILENT`), `PeerSilent` from the first attestation on',
    money: 'Everything goes on with the others',
    fix: 'Ask its operator to renew it',
    proofs: [
      'apps/oracle/test/peerCertificates.test.ts › O-95: the doctor names a certificate that has expired, and one that nobody vouches for',
      'packages/service/src/doctor/neighbourWatch.test.ts › O-127: what two looks in a row find is told, and ends with the first look that finds it no more',
      'test/alerts/faults.test.ts › PeerSilent and ServiceDown where an oracle is killed',
    ],
  },
  {
    of: 'peer',
    form: 'expired',
    what: 'Our key at a peer',
    doctor: degrades('oracle', 'peer-refuses', 'does not know our key'),
    within: '`/ready` (`PEER_REFUSES`)',
    money: 'Everything goes on with the others',
    fix: 'Ask its operator for another key',
    made: ['network', ({ running }) => ({ PEERS: withOtherKeys(running('oracle')['PEERS']) })],
    proofs: [
      peersAreTold,
      'apps/oracle/src/compose/examine.test.ts › O-95: a peer that does not know our key any more is named, whether it says so or only limits us',
    ],
  },
  {
    of: 'peer',
    form: 'missing',
    what: 'A signer of a peer is not among `ORACLE_SIGNERS`',
    doctor: degrades('oracle', 'signer-unlisted', 'ORACLE_SIGNERS'),
    within: '`/ready` (`SIGNER_UNLISTED`)',
    money: 'Everything goes on with the others',
    fix: 'Compare the address with its operator, and list it',
    made: ['network', ({ running }) => ({ ORACLE_SIGNERS: firstTwo(running('oracle')['ORACLE_SIGNERS']) })],
    proofs: [peersAreTold],
  },
  {
    of: 'clock',
    form: 'wrong',
    what: 'The clock of the machine is minutes off',
    doctor: degrades('quote-api', 'clock-off', 'clock'),
    within: '`/ready` (`CLOCK_OFF`), status',
    money: 'Quotes are refused; work goes by the database’s time',
    fix: 'Let NTP set it',
    proofs: [
      'apps/quote-api/test/doctor.test.ts › finds a clock that is %i ms off, by blocks and by the database',
      'test/databases/hostClock.test.ts › O-63: a clock that is %i ms off quotes nothing and is not ready, until it is set',
      'test/databases/hostClock.test.ts › O-66: a clock that is a day %s binds and fills what was deposited in time, gives back what was not, and takes no permit',
    ],
  },
]

export function firstTwo(signers = ''): string {
  return signers.split(';').slice(0, 2).join(';')
}

export const mistakes: readonly Mistake[] = [...keys, ...files, ...addresses, ...databases, ...others]

/** As the page has them: those that refuse a start, which have one fate of money, then the others. */
export function mistakesLists(): readonly [atStart: string, whileItRuns: string] {
  const isAtStart = ({ within }: Mistake) => within === refused
  const itemOf = ({ what, doctor: { service, code } }: Mistake, rest: string) =>
    `- ${what} (${service}: \`${code}\`): ${rest}`
  return [
    mistakes
      .filter(isAtStart)
      .map((one) => itemOf(one, one.fix))
      .join('\n'),
    mistakes
      .filter((one) => !isAtStart(one))
      .map((one) => itemOf(one, `${one.within}. ${one.money}. ${one.fix}`))
      .join('\n'),
  ]
}
