// Goal: a host whose clock is minutes off sells nothing that would be an option, and says so. Attacks: a clock ahead, which
// makes quotes last longer, and one behind; a clock that is set while the service runs. Method: quote-api as a process whose
// Date is moved, a real database and nodes with the right time.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serviceEnvironment } from '../../apps/quote-api/test/fixtures/service.ts'
import { post, readError, send } from '../../apps/quote-api/test/serviceSupport/callService.ts'
import { localRequest } from '../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { spawnService } from '../../apps/quote-api/test/serviceSupport/serviceProcess.ts'

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
        ...{ DATABASE_URL: server.connectionString, LOG_LEVEL: 'info', NODE_OPTIONS: movedClock(file) },
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
        ...{ errorCode: 'SERVICE_UNAVAILABLE', retryable: true },
        message: 'The clock of this service is off, so nothing is quoted.',
      })
      await writeFile(file, '0')
      await expect.poll(async () => (await ask()).status, { timeout: 60_000 }).toBe(200)
    } finally {
      await service.stop()
    }
  },
)
