// Goal: the example that keeps a sponsor's key out of the browser does: its page's quotes are sponsored within the
// sponsor's terms, and neither a page nor a stranger gets the key, another's terms, or an owner's answers.
// Method: the example as the guide has it, before the running service.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, type EmbeddedPostgres, startTestPostgres } from '@causeway/database'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoteResponseSchema } from '../src/http/wire/quoteResponse.ts'
import { repositoryRoot, startTestService, type TestService } from './fixtures/service.ts'
import { post, readOk, send } from './serviceSupport/callService.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { createSponsor, pepperText, type TestSponsor } from './sponsorSupport/sponsors.ts'

const origin = 'https://shop.example'
const capMicroUsd = 10_000n

let network: TestNetwork
let directory: string
let server: EmbeddedPostgres
let database: Database
let service: TestService
let sponsor: TestSponsor
let stopProxy: (() => boolean) | undefined
let url: string

beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  directory = await mkdtemp(join(tmpdir(), 'causeway-sponsor-proxy-'))
  server = await startTestPostgres({ dataDirectory: join(directory, 'postgres') })
  service = await startTestService(network, {
    DATABASE_URL: server.connectionString,
    API_KEY_PEPPERS: pepperText,
  })
  const { publicUrl } = await service.listen()
  database = createDatabase({ connectionString: server.connectionString, poolSize: 2 })
  sponsor = await createSponsor(database, 100_000_000n)
  const child = spawn(process.execPath, [join(repositoryRoot, 'docs/guides/examples/sponsorProxy.ts')], {
    env: {
      PATH: process.env['PATH'],
      QUOTE_API: publicUrl,
      API_KEY: sponsor.apiKey,
      PORT: '0',
      ALLOWED_ORIGIN: origin,
      MAX_SUBSIDY_MICRO_USD: capMicroUsd.toString(),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  stopProxy = () => child.kill('SIGKILL')
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  await waitUntil('the example listens', () => /^listening \S+\n/.test(output))
  url = output.trim().split(' ')[1] ?? ''
})
afterAll(async () => {
  stopProxy?.()
  await service?.stop()
  await database?.close()
  await server?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

const body = (more: object = {}) => localRequest(network, { amount: 60_000_000n, more })
const quoted = async (more: object = {}, headers: Record<string, string> = { origin }) =>
  readOk(await post(`${url}/quote`, body(more), headers), quoteResponseSchema)

describe('the example proxy', () => {
  test('has quotes of its page sponsored, up to its own cap, whatever the page says', async () => {
    const plain = await quoted()
    const greedy = {
      subsidizeFees: false,
      maxSubsidizationAmount: '100000000',
      sponsoredFeeComponents: ['gas'],
    }
    const asked = await quoted(greedy)
    for (const { fees, feeSponsorship } of [plain, asked]) {
      expect(feeSponsorship?.status).not.toBe('none')
      expect(BigInt(fees.subsidized.amount)).toBeGreaterThan(0n)
      expect(BigInt(fees.subsidized.amount)).toBeLessThanOrEqual(capMicroUsd)
    }
  })

  test('gives the key to nobody, and takes none from a page', async () => {
    const answers = [
      await post(`${url}/quote`, body(), { origin }),
      await post(`${url}/quote`, body(), { origin, 'x-api-key': 'wrong' }),
      await post(`${url}/quote`, { user: 'nobody' }, { origin }),
      await send(`${url}/chains`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 200])
    for (const { text, headers } of answers) {
      expect(text).not.toContain(sponsor.apiKey)
      expect(JSON.stringify([...headers])).not.toContain(sponsor.apiKey)
    }
  })

  test('sponsors no page of others, and shows nobody what belongs to the owner of the key', async () => {
    for (const headers of [{}, { origin: 'https://thief.example' }])
      expect((await post(`${url}/quote`, body(), headers)).status).toBe(403)
    expect((await send(`${url}/requests/v3`, { headers: { origin } })).status).toBe(401)
    const history = `${url}/requests/v3?user=${sponsor.wallet}`
    expect((await send(history, { headers: { origin } })).status).toBe(200)
    expect((await send(history)).status).toBe(403)
    const wallet = { wallet: sponsor.wallet }
    expect((await post(`${url}/sponsorship/wallets/challenge`, wallet, { origin })).status).toBe(401)
    expect((await send(`${url}/balance-events/${sponsor.wallet}`, { headers: { origin } })).status).toBe(401)
  })

  test('answers the preflight of a browser for its page alone', async () => {
    const headers = { origin, 'access-control-request-headers': 'content-type,relay-sdk-version' }
    const answer = await fetch(`${url}/quote`, { method: 'OPTIONS', headers })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, origin])
    expect(answer.headers.get('access-control-allow-headers')).toBe('content-type,relay-sdk-version')
  })

  test('refuses what is no request, too large, or larger than it says, and goes on', async () => {
    const raw = (text: string) =>
      fetch(`${url}/quote`, { method: 'POST', headers: { origin }, body: text }).then(({ status }) => status)
    expect([await raw('{'), await raw('[]'), await raw('null')]).toEqual([400, 400, 400])
    expect(await raw('x'.repeat(70_000))).toBe(413)
    const cut = await new Promise<string>((resolve) => {
      const sent = httpRequest(`${url}/quote`, { method: 'POST', headers: { origin } }, (response) =>
        resolve(`status ${response.statusCode}`),
      )
      sent.on('error', () => resolve('cut off'))
      // In chunks, without a length.
      for (let part = 0; part < 20; part += 1) sent.write('x'.repeat(8_000))
      sent.end()
    })
    expect(['cut off', 'status 502']).toContain(cut)
    expect((await quoted()).feeSponsorship?.status).not.toBe('none')
  })
})
