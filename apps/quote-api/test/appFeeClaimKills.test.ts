// Goal: whatever is killed while app fees are claimed, every claim that was taken is paid exactly once. Method: the
// service, the solver and PostgreSQL as processes of their own, SIGKILL for each in turn while claims are
// signed and paid; what counts is what the chain holds at the end. CAUSEWAY_FAULTS=1 runs the long form.
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@causeway/core'
import {
  createDatabase,
  type Database,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@causeway/database'
import { accrueAppFees, verifyLedger } from '@causeway/ledger'
import {
  freeLoopbackPort,
  type SpawnedService,
  spawnSolver,
  startTestNetwork,
  type TestNetwork,
  waitUntil,
} from '@causeway/localnet'
import { erc20Abi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceEnvironment } from './fixtures/service.ts'
import { readClaimStep } from './serviceSupport/appFeeClaim.ts'
import { post } from './serviceSupport/callService.ts'
import { type ServiceProcess, spawnService } from './serviceSupport/serviceProcess.ts'
import { solverVariables } from './settlementSupport/solverVariables.ts'
import { pepperText } from './sponsorSupport/sponsors.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const kills = isLongForm ? 60 : 6
const claimsPerKill = 3
const amount = 5_000_000n
const solverKey = 'solver-key-of-the-tests'
const patience = { acquireTimeoutMs: 60_000, statementTimeoutMs: 60_000 }
/** Only ends a test that would hang: a busy machine takes minutes to start what was killed. */
const patienceMs = 400_000
const longest = isLongForm ? 3_600_000 : 1_200_000

let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let service: ServiceProcess | undefined
let solver: SpawnedService | undefined

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-claim-kills-'))
  await startServer()
}, 120_000)
afterAll(async () => {
  await killSolver()
  await service?.stop()
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
}, 120_000)

async function startServer(port?: number): Promise<void> {
  const dataDirectory = join(directory, 'postgres')
  server = await startEmbeddedPostgres({ dataDirectory, ...(port !== undefined && { port }) })
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2, ...patience })
}

async function killServer(): Promise<void> {
  const { port } = server
  process.kill(server.pid, 'SIGKILL')
  await database.close()
  await server.stop()
  await startServer(port)
}

/** Until it is answered: what is killed meanwhile comes back. */
const again = (ask: () => Promise<boolean>, what: string) =>
  waitUntil(what, () => ask().catch(() => false), { patienceMs, pollMs: 200, circumstances })

async function killSolver(): Promise<void> {
  solver?.kill('SIGKILL')
  await solver?.ended
}

/** Context for the message of a failure. */
async function circumstances(): Promise<string> {
  const items = await database
    .query(`select state, tx_hash, reason, attempts from work_item where state <> 'done'`)
    .catch((error: unknown) => String(error))
  const tail = (output: string | undefined) => output?.split('\n').slice(-15).join('\n')
  return `${JSON.stringify(items)}\n${tail(solver?.output())}\n${tail(service?.output())}`
}

/** A wallet of its own claims all that it is owed, however often it has to ask. */
async function claim(url: string, app: ReturnType<typeof privateKeyToAccount>): Promise<void> {
  const body = {
    chainId: network.chains.base.chainId,
    currency: network.deployment.base.tokens.USDC,
    recipient: app.address,
  }
  let prepared: ReturnType<typeof readClaimStep> | undefined
  await again(async () => {
    const answer = await post(`${url}/app-fees/${app.address}/claim`, body)
    prepared = readClaimStep(answer)
    return true
  }, 'a claim is prepared')
  if (prepared === undefined) throw new Error('there is no claim')
  const { claimId: requestId, typedData } = prepared
  const signature = await app.signTypedData(typedData)
  const permits = `${url}/execute/permits?signature=${signature}`
  await again(async () => (await post(permits, { kind: 'claim', requestId })).status === 200, 'it is taken')
}

const balanceOf = (holder: Hex) =>
  network.chains.base.chain.client.readContract({
    address: network.deployment.base.tokens.USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [holder],
  })

test(
  'kill -9 of the service, the solver and PostgreSQL in turn: every claim is paid once',
  async () => {
    const port = await freeLoopbackPort()
    const url = `http://127.0.0.1:${port}`
    const variables = await serviceEnvironment(network, directory, {
      LOG_LEVEL: 'info',
      HTTP_PORT: String(port),
      DATABASE_URL: server.connectionString,
      API_KEY_PEPPERS: pepperText,
      SOLVER_API_KEY: solverKey,
    })
    const config = await solverVariables({
      network,
      directory,
      server,
      database,
      quoteApiUrl: url,
      quoteApiKey: solverKey,
    })
    service = spawnService(variables)
    await service.listening()
    solver = spawnSolver(config)

    const { chainId } = network.chains.base
    const address = network.deployment.base.tokens.USDC
    const asset = { chainId, address, symbol: 'USDC', name: 'USD Coin', decimals: 6 }
    const apps = Array.from({ length: kills * claimsPerKill }, () =>
      privateKeyToAccount(generatePrivateKey()),
    )
    // CAST: lower-cased hex stays hex.
    const fees = apps.map((app) => ({ recipient: app.address.toLowerCase() as Hex, amount }))
    await database.transaction((tx) => accrueAppFees(tx, { requestId: generatePrivateKey(), asset, fees }))

    const killers = [
      async () => {
        service?.signal('SIGKILL')
        await service?.ended
        service = spawnService(variables)
      },
      async () => {
        await killSolver()
        solver = spawnSolver(config)
      },
      killServer,
    ]
    for (let kill = 0; kill < kills; kill += 1) {
      const claiming = apps
        .slice(kill * claimsPerKill, (kill + 1) * claimsPerKill)
        .map((app) => claim(url, app))
      await sleep(randomInt(2_500))
      await killers[kill % killers.length]?.()
      await Promise.all(claiming)
    }
    await again(async () => {
      const open = await database.query(`select 1 from app_fee_claim where status = 'pending'`)
      return open.length === 0
    }, 'every claim has ended')

    const ends = await database.query('select wallet, status, amount from app_fee_claim order by wallet')
    expect(ends).toEqual(
      fees
        .map(({ recipient: wallet }) => ({ wallet, status: 'paid', amount }))
        .toSorted((one, other) => (one.wallet < other.wallet ? -1 : 1)),
    )
    for (const app of apps) expect(await balanceOf(app.address), app.address).toBe(amount)
    expect(await verifyLedger(database)).toEqual([])
  },
  longest,
)
