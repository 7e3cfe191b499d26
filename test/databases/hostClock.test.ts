// Goal: a host whose clock is minutes off sells nothing that would be an option, and says so. Attacks: a clock ahead, which
// makes quotes last longer, and one behind; a clock that is set while the service runs. Method: quote-api as a process whose
// Date is moved, a real database and nodes with the right time.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { quoteResponseSchema } from '../../apps/quote-api/src/http/wire/quoteResponse.ts'
import { serviceEnvironment } from '../../apps/quote-api/test/fixtures/service.ts'
import {
  post,
  postPatiently,
  type QuoteAnswer,
  readError,
  readOk,
  send,
} from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { localRequest } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { spawnService } from '../../apps/quote-api/test/serviceSupport/serviceProcess.ts'
import { postSignature, signStep } from '../../apps/quote-api/test/serviceSupport/signatureStep.ts'
import { bytesOf, createRequestDriver } from '../../apps/quote-api/test/settlementSupport/requestDriver.ts'
import { createScriptedSolver } from '../../apps/quote-api/test/settlementSupport/scriptedSolver.ts'
import { solverKey } from '../../apps/quote-api/test/settlementSupport/settlementBed.ts'
import { pepperText } from '../../apps/quote-api/test/sponsorSupport/sponsors.ts'
import { fillItem, paidOrders } from '../../apps/solver/test/support/paidOrders.ts'
import { startSolverBed } from '../../apps/solver/test/support/solverBed.ts'

let network: TestNetwork
let server: TestDatabase
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-clock-'))
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  server = await startTestDatabase()
})
afterAll(async () => {
  await Promise.all([network?.stop(), server?.stop()])
  await rm(directory, { recursive: true, force: true })
})

/** Moves `Date` by the milliseconds in a file, from the moment when they stand there. */
const movedClock = (file: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`
  import { readFileSync } from 'node:fs'
  const now = Date.now
  let offset = 0
  const read = () => { offset = Number(readFileSync(${JSON.stringify(file)}, 'utf8')) }
  read()
  setInterval(read, 200).unref()
  Date.now = () => now() + offset
`)}`

test.each([240_000, -240_000])(
  'O-63: a clock that is %i ms off quotes nothing and is not ready, until it is set',
  async (offsetMs) => {
    const file = join(directory, `offset${offsetMs}`)
    await writeFile(file, '0')
    const service = spawnService(
      await serviceEnvironment(network, directory, {
        DATABASE_URL: server.connectionString,
        LOG_LEVEL: 'info',
        NODE_OPTIONS: movedClock(file),
      }),
    )
    try {
      const { publicUrl, opsUrl } = await service.listening()
      const ask = () => post(`${publicUrl}/quote`, localRequest(network, { amount: 60_000_000n }))
      const reasons = async () => JSON.parse((await send(`${opsUrl}/ready`)).text).reasons ?? {}
      await expect.poll(async () => (await ask()).status, { timeout: 60_000 }).toBe(200)
      await writeFile(file, String(offsetMs))
      await expect.poll(reasons).toMatchObject({ clock: 'CLOCK_OFF' })
      const refused = await ask()
      expect(refused.status, refused.text).toBe(503)
      expect(readError(refused)).toMatchObject({
        errorCode: 'SERVICE_UNAVAILABLE',
        retryable: true,
        message: 'The clock of this service is off, so nothing is quoted.',
      })
      await writeFile(file, '0')
      await expect.poll(async () => (await ask()).status, { timeout: 60_000 }).toBe(200)
    } finally {
      await service.stop()
    }
  },
)

const dayMs = 86_400_000

test.each([
  ['ahead', dayMs],
  ['behind', -dayMs],
])(
  'O-66: a clock that is a day %s binds and fills what was deposited in time, gives back what was not, and takes no permit',
  async (_, offsetMs) => {
    const file = join(directory, `day${offsetMs}`)
    await writeFile(file, '0')
    const own = await startTestDatabase()
    const service = spawnService(
      await serviceEnvironment(network, directory, {
        DATABASE_URL: own.connectionString,
        LOG_LEVEL: 'info',
        NODE_OPTIONS: movedClock(file),
        SOLVER_API_KEY: solverKey,
        API_KEY_PEPPERS: pepperText,
      }),
    )
    try {
      const { publicUrl: url, opsUrl } = await service.listening()
      const { database } = own
      const solver = createScriptedSolver({ network, url, apiKey: solverKey })
      const requests = createRequestDriver({ network, database, url, solver })
      const quoted = async (more: object = {}): Promise<QuoteAnswer> =>
        readOk(
          await postPatiently(`${url}/quote`, localRequest(network, { amount: 60_000_000n, more })),
          quoteResponseSchema,
        )
      const [inTime, late, permit] = [await quoted(), await quoted(), await quoted({ usePermit: true })]
      await database.query(
        `update orders set deadline = clock_timestamp() - interval '1 second' where request_id = $1`,
        [bytesOf(late.requestId)],
      )
      await writeFile(file, String(offsetMs))
      const reasons = async () => JSON.parse((await send(`${opsUrl}/ready`)).text).reasons ?? {}
      await expect.poll(reasons).toMatchObject({ clock: 'CLOCK_OFF' })
      await requests.execute(inTime)
      await solver.carryOut(await requests.workFor(inTime, 'fill'))
      await requests.reaches(inTime, 'success')
      await requests.execute(late)
      expect((await requests.workFor(late, 'refund')).requestId).toBe(late.requestId)
      const signature = await signStep(permit, requests.user)
      expect(readError(await postSignature(url, permit, { signature }))).toMatchObject({
        errorCode: 'SERVICE_UNAVAILABLE',
        message: expect.stringContaining('clock'),
      })
    } finally {
      await service.stop()
      await own.stop()
    }
  },
)

test('O-66: a solver whose clock is minutes behind fills in time, and nothing after its deadline', async () => {
  const file = join(directory, 'solver')
  await writeFile(file, '-240000')
  const bed = await startSolverBed()
  try {
    const { work } = await bed.start({ NODE_OPTIONS: movedClock(file) })
    // It lies ahead by the solver's clock alone.
    const past = Math.floor(Date.now() / 1_000) - 60
    const [fits, ends] = await paidOrders(bed.network, [{}, { deadline: past }])
    if (!fits || !ends) throw new Error('no orders')
    const [fill, late] = [fillItem(bed.network, fits), fillItem(bed.network, ends)]
    work.add(fill)
    await waitUntil('it is filled', () => work.reports.has(fill.id))
    work.add(late)
    await waitUntil('it is refused', () => work.failures.has(late.id))
    expect(work.failures.get(late.id)?.[0]).toBe('the deadline has passed')
  } finally {
    await bed.stop()
  }
})
