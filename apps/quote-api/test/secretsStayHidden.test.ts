// Goal: a canary: no secret appears in anything the service or the command line says. Method: both as
// processes with known secrets, on every log level; each answer, log line, metric and page is kept and
// searched at the end. The admin routes are walked on the way.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { bundledScript, startTestNetwork, type TestNetwork } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { repositoryRoot, serviceEnvironment } from './fixtures/service.ts'
import { localRequest } from './serviceSupport/localRequest.ts'
import { type ServiceProcess, type ServiceUrls, spawnService } from './serviceSupport/serviceProcess.ts'

const pepper = 'c0ffee15'.repeat(8)
const adminKey = 'canary-admin-5d41402abc4b2a76'
let network: TestNetwork
let database: TestDatabase
let directory: string
let environment: Record<string, string>
let service: ServiceProcess
let urls: ServiceUrls
beforeAll(async () => {
  network = await startTestNetwork({ blockTimeSeconds: 1 })
  database = await startTestDatabase()
  directory = await mkdtemp(join(tmpdir(), 'causeway-canary-'))
  environment = await serviceEnvironment(network, directory, {
    LOG_LEVEL: 'trace',
    DATABASE_URL: database.connectionString,
    API_KEY_PEPPERS: `v1:${pepper}`,
    ADMIN_API_KEY: adminKey,
    CUSTODY_ADDRESS: network.keys.custody.address,
  })
  service = spawnService(environment)
  urls = await service.listening()
})
afterAll(async () => {
  await service?.stop()
  await database?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

/** Everything that was said, and to whom. */
const said: { readonly where: string; readonly text: string }[] = []

type Sending = { body?: object; apiKey?: string; method?: string }

async function send(url: string, { body, apiKey, method }: Sending = {}) {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'manual',
  })
  const text = await response.text()
  const headers = JSON.stringify([...response.headers])
  return { status: response.status, text, keep: () => said.push({ where: url, text: headers + text }) }
}

async function tell(url: string, sending: Sending = {}): Promise<number> {
  const answer = await send(url, sending)
  answer.keep()
  return answer.status
}

const admin = (path: string, body?: object) =>
  send(`${urls.adminUrl}/admin${path}`, { apiKey: adminKey, ...(body !== undefined && { body }) })

/** Status of an admin request whose answer must hold no secret at all. */
async function tellAdmin(path: string, body?: object): Promise<number> {
  const answer = await admin(path, body)
  answer.keep()
  return answer.status
}

function runCommand(words: readonly string[], overrides: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [bundledScript('apps/quote-api/src/cli.ts'), ...words], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], ...environment, ...overrides },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
  }
  return new Promise<{ code: number | null; text: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, text }))
  })
}

test('no secret appears in an answer, a log line, a metric, a page or a command’s output', async () => {
  expect((await send(`${urls.adminUrl}/admin/keys`)).status).toBe(401)
  expect(await tell(`${urls.adminUrl}/admin/keys`, { apiKey: 'wrong', body: { label: 'x' } })).toBe(401)
  const created = await admin('/keys', { label: 'canary' })
  expect(created.status).toBe(201)
  const { id, apiKey } = JSON.parse(created.text)
  const rotated = await admin(`/keys/${id}/rotate`, { overlapSeconds: 3_600 })
  expect(rotated.status).toBe(200)
  const next: string = JSON.parse(rotated.text).apiKey

  expect(await tellAdmin('/keys')).toBe(200)
  expect(await tellAdmin('/wallets')).toBe(200)
  expect(await tellAdmin(`/keys/${id}/unlink-wallet`, {})).toBe(409)
  expect(await tellAdmin(`/keys/${id}/revoke`)).toBe(404)
  expect(await tellAdmin('/keys/aaaaaaaaaa/revoke', {})).toBe(404)
  expect(await tellAdmin(`/keys/${id}/rotate`, { overlapSeconds: -1 })).toBe(400)
  expect(await tellAdmin('/keys', { label: '' })).toBe(400)

  const wallet = network.keys.sponsor.address
  for (const key of [apiKey, next]) {
    expect(await tell(`${urls.publicUrl}/chains`, { apiKey: key })).toBe(200)
    expect(await tell(`${urls.publicUrl}/chains`, { apiKey: `${key}x` })).toBe(401)
    expect(await tell(`${urls.publicUrl}/nothing`, { apiKey: key })).toBe(404)
    const sponsored = { ...localRequest(network, { amount: 70_000_000n }), subsidizeFees: true }
    expect(await tell(`${urls.publicUrl}/quote`, { apiKey: key, body: sponsored })).toBe(403)
    const place = `${urls.publicUrl}/sponsorship/wallets`
    expect(await tell(`${place}/challenge`, { apiKey: key, body: { wallet } })).toBe(200)
    const lie = { wallet, nonce: 'none', signature: '0x' }
    expect(await tell(`${place}/link`, { apiKey: key, body: lie })).toBe(400)
  }
  for (const path of ['/documentation', '/documentation/json', '/']) await tell(`${urls.publicUrl}${path}`)
  for (const path of ['/metrics', '/ready']) await tell(`${urls.opsUrl}${path}`)

  for (const words of [['keys', 'list'], ['wallets', 'list', '--json'], ['ledger', 'verify'], ['help']]) {
    const { code, text } = await runCommand(words)
    expect(code, text).toBe(0)
    said.push({ where: words.join(' '), text })
  }
  const badDatabase = database.connectionString.replace('/causeway', '/absent')
  const failures = [
    await runCommand(['keys', 'list'], { DATABASE_URL: badDatabase }),
    await runCommand(['keys', 'list'], { API_KEY_PEPPERS: `v1:${pepper}0` }),
    await runCommand(['keys', 'lits', apiKey]),
  ]
  expect(failures.map(({ code }) => code)).toEqual([1, 1, 2])
  for (const { text } of failures) said.push({ where: 'a command that fails', text })

  expect((await admin(`/keys/${id}/revoke`, {})).status).toBe(200)
  await service.stop()
  expect(service.output()).toContain('"level":')
  said.push({ where: 'the log', text: service.output() })

  const password = new URL(database.connectionString).password
  const signer = network.keys.orderSigner.privateKey.slice(2)
  const secrets = { pepper, adminKey, password, signer, ...secretParts({ apiKey, next }) }
  expect(said.length).toBeGreaterThan(30)
  for (const { where, text } of said) {
    for (const [name, secret] of Object.entries(secrets)) {
      expect(text.includes(secret), `${name} in ${where}`).toBe(false)
    }
  }
})

/** The part of each key that nobody but its holder may know. */
function secretParts(keys: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(keys).map(([name, key]) => {
      const [, , , ...rest] = key.split('_')
      return [name, rest.join('_')]
    }),
  )
}
