// Goal: whatever an operator gets wrong, the doctor of that service says at once, and within a minute the start that is
// refused, `/ready`, status or an alert; meanwhile no money comes in that cannot get out. Method: each mistake of the
// table is made in the variables of one service, in those of a test network or of a whole local network that runs; those
// with which a service starts run here too, or in the test that the table names.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hexToBytes } from '@causeway/core'
import type { Finding } from '@causeway/core/config'
import { findEmbeddedPostgres } from '@causeway/database'
import { type KmsStandIn, startKmsStandIn, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { examineAllocator } from '../apps/allocator/src/compose/examine.ts'
import { examineOwnOracle } from '../apps/oracle/src/compose/examine.ts'
import { examineQuoteApi } from '../apps/quote-api/src/compose/examine.ts'
import { localRequest } from '../apps/quote-api/test/serviceSupport/localRequest.ts'
import { examineSolver } from '../apps/solver/src/compose/examine.ts'
import {
  elsewhere,
  firstTwo,
  forms,
  type Mistake,
  mistakes,
  mistakesLists,
  type Scene,
  type ServiceName,
  services,
  signersSwapped,
  subjects,
  type Variables,
  withOtherKeys,
} from './support/mistakes.ts'
import { type MortalService, mortalServices, type SessionBed, startSessionBed } from './support/sessionBed.ts'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
const patience = { patienceMs: 180_000 }
/** Patience for the repair of a reported mistake, which takes longer on a busy machine. */
const minute = { patienceMs: 60_000 }
const examiners = {
  'quote-api': examineQuoteApi,
  oracle: examineOwnOracle,
  solver: examineSolver,
  allocator: examineAllocator,
}
const kmsVariables = ['AWS_ENDPOINT_URL_KMS', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const
let directory: string
let bed: SessionBed
let kms: KmsStandIn
let mortals: readonly MortalService[] = []
let scene: Scene
const running = new Map<ServiceName, Variables>()

vi.setConfig({ testTimeout: 3 * patience.patienceMs, hookTimeout: 2 * patience.patienceMs })

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-mistakes-'))
  kms = await startKmsStandIn({ privateKey: hexToBytes(`0x${'5d'.repeat(32)}`) })
  for (const name of kmsVariables) process.env[name] = name === kmsVariables[0] ? kms.url : 'stand-in'
  bed = await startSessionBed()
  mortals = mortalServices(bed)
  const { paths } = bed.session.network
  for (const service of services) {
    const file = paths.serviceFile(service === 'oracle' ? 'oracle-1' : service)
    running.set(service, z.record(z.string(), z.string()).parse(JSON.parse(await readFile(file, 'utf8'))))
  }
  const databaseUrl = await findEmbeddedPostgres({ dataDirectory: join(bed.directory, 'postgres') })
  scene = {
    repositoryRoot,
    databaseUrl: databaseUrl ?? '',
    running: (service) => running.get(service) ?? {},
    folder: (name) => mkdtemp(join(directory, `${name}-`)),
  }
})
afterAll(async () => {
  for (const name of kmsVariables) delete process.env[name]
  await Promise.all(mortals.map((service) => service.stop()))
  await bed?.stop()
  await kms?.stop()
  await rm(directory, { recursive: true, force: true })
})

const testNetwork = {
  ENVIRONMENT: 'testnets.prod',
  ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
  DATABASE_URL: 'postgres://causeway:secret@127.0.0.1:9/causeway',
  BASE_SEPOLIA_RPC_URL: 'https://rpc.example/key',
  MAINNETS_BASE_URL: 'https://api.example',
  TESTNETS_BASE_URL: 'https://api.testnets.example',
}
/** Complete settings in which nothing stops a start. */
const settings: Readonly<Partial<Record<ServiceName, Variables>>> = {
  'quote-api': {
    ...testNetwork,
    API_KEY_PEPPERS: `v1:${'9e'.repeat(32)}`,
    PUBLIC_URL: 'https://api.testnets.example',
    ADMIN_API_KEY: 'admin-key-of-these-tests',
    SOLVER_API_KEY: 'solver-key-of-these-tests',
    FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
  },
  oracle: {
    ENVIRONMENT: 'testnets.prod',
    ECDSA_PRIVATE_KEY: testNetwork.ECDSA_PRIVATE_KEY,
    RELAY_TESTNET_RPC_URL: 'https://rpc.example/key',
  },
  solver: {
    ...testNetwork,
    QUOTE_API_URL: 'http://127.0.0.1:9',
    SOLVER_API_KEY: 'solver-key-of-these-tests',
    ORDER_SIGNERS: `0x${'5e'.repeat(20)}`,
  },
}

/** A doctor as it is typed, with these variables. */
function examine(
  service: ServiceName,
  base: 'settings' | 'network',
  changes: Variables = {},
): Promise<readonly Finding[]> {
  const variables = { ...(base === 'settings' ? settings[service] : scene.running(service)), ...changes }
  const scope = base === 'settings' ? 'settings' : 'all'
  return examiners[service](variables, { repositoryRoot, nowMs: () => Date.now(), scope })
}

const isMeant = ({ severity, code, words }: Mistake['doctor']) => {
  return (one: Finding) =>
    one.severity === severity && one.code === code && `${one.setting} ${one.seen}`.includes(words)
}

const made = mistakes.flatMap((mistake) => {
  const { what, doctor } = mistake
  return mistake.made === undefined ? [] : [{ what, doctor, made: mistake.made }]
})

test.each(services)('O-104: nothing is wrong before, with %s', async (service) => {
  const bases = settings[service] === undefined ? (['network'] as const) : (['settings', 'network'] as const)
  for (const base of bases)
    expect((await examine(service, base)).filter(({ severity }) => severity === 'stops')).toEqual([])
})

test.each(made)('O-104: the doctor names: $what', async ({ doctor, made: [base, make] }) => {
  const { service } = doctor
  const before = await examine(service, base)
  expect(before.filter(isMeant(doctor))).toEqual([])
  const found = await examine(service, base, await make(scene))
  const [finding] = found.filter(isMeant(doctor))
  expect(finding, JSON.stringify(found, null, 2)).toBeDefined()
  // A code alone says nothing to whoever made the mistake.
  expect(finding?.seen.length).toBeGreaterThan(10)
})

test('O-104: every mistake is made, here or in tests that exist', async () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(40)
  expect(new Set(mistakes.map((one) => one.of))).toEqual(new Set(subjects))
  expect(new Set(mistakes.map((one) => one.form))).toEqual(new Set(forms))
  for (const { what, doctor, within, made, proofs = [] } of mistakes) {
    expect(made !== undefined || proofs.length > 0, what).toBe(true)
    // Only what refuses the start lets nobody else say it.
    if (within === 'The start is refused') expect([what, doctor.severity]).toEqual([what, 'stops'])
    for (const proof of proofs) {
      const [file = '', title = 'none'] = proof.split(' › ')
      expect(await readFile(join(repositoryRoot, file), 'utf8'), proof).toContain(title)
    }
  }
})

test('O-104: the page lists the same', async () => {
  const page = await readFile(join(repositoryRoot, 'docs/operating/mistakes.md'), 'utf8')
  for (const list of mistakesLists()) expect(page).toContain(list)
})

async function restart(name: string, changes: Variables = {}): Promise<void> {
  await mortals.find((service) => service.name === name)?.killAndRestart(changes)
}

const readinessSchema = z.object({
  checks: z.record(z.string(), z.string()),
  reasons: z.record(z.string(), z.string()).optional(),
})

/** Word of `/ready` about one check: the reason where it names one. */
async function told(service: string, check: string): Promise<string | undefined> {
  const opsUrl = bed.targets.find(({ name }) => name === service)?.opsUrl
  const answer: unknown = await (await fetch(`${opsUrl}/ready`)).json()
  const { checks, reasons } = readinessSchema.parse(answer)
  return reasons?.[check] ?? checks[check]
}

const says = (service: string, check: string, reason: string) =>
  waitUntil(
    `${service}: ${check} is ${reason}`,
    async () => (await told(service, check)) === reason,
    reason === 'ok' ? patience : minute,
  )

/** The page that `causeway status` asks for. */
async function status(): Promise<string> {
  const quoteApi = bed.session.services.find(({ plan }) => plan.name === 'quote-api')
  return (await fetch(`http://127.0.0.1:${quoteApi?.ports['admin']}/admin/status`)).text()
}

const statusSays = (words: string) =>
  waitUntil(`status says ${words}`, async () => (await status()).includes(words), minute)

async function priced(from: 'base' | 'optimism', to: 'base' | 'optimism'): Promise<number> {
  const body = localRequest(bed.session.network, { amount: 60_000_000n, from, to })
  const answer = await fetch(`${bed.url}/price`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await answer.arrayBuffer()
  return answer.status
}

const isSold = () => waitUntil('it is sold', async () => (await priced('base', 'optimism')) === 200, patience)

test.each<[string, Variables]>([
  ['SOLVER_API_KEY', { SOLVER_API_KEY: 'another-key-of-these-tests' }],
  ['QUOTE_API_URL', { QUOTE_API_URL: 'http://127.0.0.1:9' }],
])('O-104: quote-api says that no solver asks where it was given another %s', async (_setting, changes) => {
  await says('quote-api', 'solver work', 'ok')
  try {
    await restart('solver', changes)
    await says('quote-api', 'solver work', 'SOLVER_SILENT')
    await statusSays('No solver asks for work')
  } finally {
    await restart('solver')
  }
  await says('quote-api', 'solver work', 'ok')
})

test.each(['solver', 'quote-api'] as const)(
  'O-104, O-105: the addresses of oracles, wrong in %s, are told by its /ready',
  async (service) => {
    await says(service, 'oracles', 'ok')
    try {
      await restart(service, { ORACLES: elsewhere(scene.running(service)['ORACLES']) })
      await says(service, 'oracles', 'ORACLES_SILENT')
      if (service === 'quote-api') await statusSays('Fewer oracles answer than must sign')
    } finally {
      await restart(service)
    }
    await says(service, 'oracles', 'ok')
    await isSold()
  },
)

test.each(['solver', 'quote-api'] as const)(
  'O-104, O-127: the signers of oracles, swapped in %s, are told by its /ready',
  async (service) => {
    await says(service, 'oracle signers', 'ok')
    try {
      await restart(service, { ORACLES: signersSwapped(scene.running(service)['ORACLES']) })
      await says(service, 'oracle signers', 'SIGNER_UNLISTED')
      if (service === 'quote-api') await statusSays('An oracle signs with another address')
    } finally {
      await restart(service)
    }
    await isSold()
  },
)

test.each<[string, string, (own: Variables) => Variables]>([
  ['PEER_SILENT', 'the address of a peer', (own) => ({ PEERS: elsewhere(own['PEERS']) })],
  ['PEER_REFUSES', 'our key at a peer', (own) => ({ PEERS: withOtherKeys(own['PEERS']) })],
  ['SIGNER_UNLISTED', 'the list', (own) => ({ ORACLE_SIGNERS: firstTwo(own['ORACLE_SIGNERS']) })],
])('O-104, O-127: an oracle says %s by its /ready where %s is wrong', async (reason, _what, change) => {
  await says('oracle-1', 'peers', 'ok')
  try {
    await restart('oracle-1', change(scene.running('oracle')))
    await says('oracle-1', 'peers', reason)
  } finally {
    await restart('oracle-1')
  }
})

test('O-104, O-127: an oracle says by its /ready that a peer signs with its key', async () => {
  await says('oracle-1', 'peers', 'ok')
  try {
    const { ECDSA_PRIVATE_KEY_FILE = '' } = scene.running('oracle')
    await restart('oracle-2', { ECDSA_PRIVATE_KEY_FILE })
    await says('oracle-1', 'peers', 'SIGNER_SHARED')
  } finally {
    await restart('oracle-2')
  }
  await says('oracle-1', 'peers', 'ok')
})

test('O-104: an allocator that cannot ask for stops says so', async () => {
  await says('allocator', 'stops', 'ok')
  try {
    await restart('allocator', { STOPS_URL: 'http://127.0.0.1:9' })
    await says('allocator', 'stops', 'failed')
  } finally {
    await restart('allocator')
  }
})

test('O-104: a chain whose endpoint is another address is named, and not quoted', async () => {
  await isSold()
  try {
    // Prices stand on the other one.
    await restart('quote-api', { OPTIMISM_RPC_URL: 'http://127.0.0.1:9', OPTIMISM_WS_RPC_URL: '' })
    await statusSays('Chain optimism')
    expect(await priced('base', 'optimism')).not.toBe(200)
    expect(await priced('optimism', 'base')).not.toBe(200)
  } finally {
    await restart('quote-api')
  }
  await isSold()
})
