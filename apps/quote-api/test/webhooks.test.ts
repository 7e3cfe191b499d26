// Goal: an integrator is told of every status of its requests, signed over the bytes that arrive, at least once
// and in order, whatever its receiver does, and nothing is ever sent into a private network. Method: real HTTP
// receivers on loopback, a real database, the statuses as settlement writes them; kill -9 of a sending process.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Hex, Secret } from '@causeway/core'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { ledgerMigrations } from '@causeway/ledger'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createAdministration } from '../src/administration.ts'
import { runCli } from '../src/cli/runCli.ts'
import { loadConfig } from '../src/config.ts'
import type { RequestStatus } from '../src/history/requestFilter.ts'
import { parsePeppers } from '../src/keys/peppers.ts'
import { toBytes } from '../src/orders/orderColumns.ts'
import { createOrderStore } from '../src/orders/orderStore.ts'
import { recordTransaction, showStatus } from '../src/settlement/requestProgress.ts'
import { announceStatus } from '../src/webhooks/announceStatus.ts'
import { createWebhookDelivery, type DeliveryAttempt } from '../src/webhooks/deliverWebhooks.ts'
import { createMessageSender, type SenderOptions } from '../src/webhooks/sendMessage.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { orderMigrations, orderNamed } from './orderSupport/orders.ts'
import { waitUntil } from './serviceSupport/waitUntil.ts'
import { pepperText } from './sponsorSupport/sponsors.ts'
import {
  answerWith,
  messageOf,
  type Received,
  type Receiver,
  startReceiver,
} from './webhookSupport/receiver.ts'

const actor = 'cli:test'
const peppers = parsePeppers(new Secret(pepperText))
let bed: TestDatabase
let receiver: Receiver
let keyId: string
let secret: string

beforeAll(async () => {
  bed = await startTestDatabase({
    directories: [{ name: 'ledger', path: ledgerMigrations }, orderMigrations],
  })
})
afterAll(() => bed?.stop())
beforeEach(async () => {
  await bed.database.query('delete from webhook_endpoint')
  receiver = await openReceiver()
  ;({ keyId, secret } = await createWebhook(receiver.url))
})

async function openReceiver(): Promise<Receiver> {
  const opened = await startReceiver()
  onTestFinished(() => opened.stop())
  return opened
}

function administration(allowPrivate = true) {
  const config = { environment: 'local', webhooks: { allowPrivate } }
  return createAdministration({ config, database: bed.database, peppers })
}

async function createWebhook(url: string, headers = {}): Promise<{ keyId: string; secret: string }> {
  const { keys, webhooks } = administration()
  const { id } = await keys.create({ actor, label: 'shop' })
  const { secret: shown } = await webhooks.set({ actor, apiKeyId: id, url, headers })
  if (shown === undefined) throw new Error('a new webhook shows its secret')
  return { keyId: id, secret: shown }
}

/** A stored quote of a key. */
async function request(apiKeyId: string | undefined = keyId): Promise<Hex> {
  const order = orderNamed(randomUUID(), { apiKeyId })
  await createOrderStore({ database: bed.database }).save(order)
  return order.requestId
}

/** As settlement does it. @returns false when the status was final */
function show(requestId: Hex, status: RequestStatus, failReason?: string): Promise<boolean> {
  return bed.database.transaction((tx) => showStatus(tx, announceStatus, { requestId, status, failReason }))
}

/** Sends until the test is over. */
function deliver(sender: Partial<SenderOptions> = {}) {
  const attempts: DeliveryAttempt[] = []
  const stopping = new AbortController()
  const delivery = createWebhookDelivery({
    database: bed.database,
    peppers,
    send: createMessageSender({ allowPrivate: true, timeoutMs: 10_000, now: () => Date.now(), ...sender }),
    retry: { firstMs: 5 },
    random: () => 0.5,
    now: () => performance.now(),
    onAttempt: (attempt) => attempts.push(attempt),
    onFailure: (error) => {
      throw error
    },
  })
  const repeat = async () => {
    while (!stopping.signal.aborted) {
      await delivery.job.run({ fence: async () => {}, signal: stopping.signal })
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await delivery.close()
  }
  const ended = repeat()
  onTestFinished(async () => {
    stopping.abort()
    await ended
  })
  return { attempts }
}

const statusesFor = (requestId: Hex, at = receiver) =>
  at.received
    .map(messageOf)
    .filter(({ data }) => data.requestId === requestId)
    .map(({ data }) => data.status)

async function stored(requestId: Hex) {
  return bed.database.query<{ state: string; attempts: number; problem: string | null; event_id: string }>(
    'select state, attempts, problem, event_id from webhook_delivery where request_id = $1 order by seq',
    [toBytes(requestId)],
  )
}
const allDelivered = async (requestId: Hex, count: number) => {
  const rows = await stored(requestId)
  return rows.length === count && rows.every(({ state }) => state === 'delivered')
}

function isSigned({ headers, body }: Received, key = secret): boolean {
  const timestamp = headers['x-signature-timestamp']
  const expected = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')
  return headers['x-signature-sha256'] === expected
}

describe('a message', () => {
  test('tells the status of a request as the interface says, signed over its very bytes', async () => {
    await administration().webhooks.set({
      actor,
      apiKeyId: keyId,
      url: receiver.url,
      headers: { authorization: 'Bearer token', 'user-agent': 'mine' },
    })
    const requestId = await request()
    const deposit = { requestId, role: 'deposit', chainId: 8453, txHash: '0x01', blockNumber: 7n } as const
    await bed.database.transaction((tx) => recordTransaction(tx, deposit))
    await show(requestId, 'pending')
    deliver()
    await waitUntil(() => allDelivered(requestId, 1), 'it is delivered')
    const [message] = receiver.received
    if (message === undefined) throw new Error('nothing arrived')
    expect(isSigned(message)).toBe(true)
    expect(isSigned({ ...message, body: `${message.body} ` })).toBe(false)
    expect(isSigned(message, `${secret}x`)).toBe(false)
    expect(message.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer token',
      'user-agent': 'mine',
    })
    const told = messageOf(message)
    expect(message.headers['x-event-id']).toBe(told.id)
    expect(JSON.parse(message.body)).toEqual({
      id: told.id,
      event: 'request.status.updated',
      timestamp: told.data.updatedAt,
      data: {
        status: 'pending',
        details: null,
        inTxHashes: ['0x01'],
        txHashes: [],
        originChainId: 8453,
        destinationChainId: 792703809,
        updatedAt: told.data.updatedAt,
        failReason: 'N/A',
        refundFailReason: 'N/A',
        requestId,
        depositAddress: null,
        referrer: null,
      },
    })
  })

  test('is queued in the transaction of its status, and a rollback takes both back', async () => {
    const requestId = await request()
    const undone = bed.database.transaction(async (tx) => {
      await showStatus(tx, announceStatus, { requestId, status: 'pending' })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const committed = await request()
    await show(committed, 'pending')
    deliver()
    await waitUntil(() => allDelivered(committed, 1), 'the committed one is delivered')
    expect(await stored(requestId)).toEqual([])
  })

  test('is not made for requests without a key, without a webhook, or of a revoked key', async () => {
    const { keys, webhooks } = administration()
    const { id: other } = await keys.create({ actor, label: 'without webhook' })
    const { keyId: revoked } = await createWebhook(receiver.url)
    await keys.revoke({ actor, id: revoked })
    for (const apiKeyId of [undefined, other, revoked]) {
      const order = orderNamed(randomUUID(), { apiKeyId })
      await createOrderStore({ database: bed.database }).save(order)
      await show(order.requestId, 'pending')
    }
    const told = await request()
    await show(told, 'pending')
    deliver()
    await waitUntil(() => allDelivered(told, 1), 'the other one is delivered')
    expect(receiver.received.map(messageOf).map(({ data }) => data.requestId)).toEqual([told])
    expect(await webhooks.show(keyId)).toMatchObject({ waiting: 0, failed: 0 })
  })
})

describe('the statuses of a request', () => {
  test('arrive in their order, the end once, whoever writes at the same time', async () => {
    const requestId = await request()
    await show(requestId, 'pending')
    await show(requestId, 'submitted')
    const ends = await Promise.all(
      (['success', 'refund', 'success', 'refund', 'pending'] as const).map((status) =>
        show(requestId, status),
      ),
    )
    const announced = ends.filter((shown) => shown).length
    deliver()
    await waitUntil(() => allDelivered(requestId, 2 + announced), 'all are delivered')
    const statuses = statusesFor(requestId)
    expect(statuses.slice(0, 2)).toEqual(['pending', 'submitted'])
    expect(statuses.filter((status) => status === 'success' || status === 'refund')).toHaveLength(1)
    expect(['success', 'refund']).toContain(statuses.at(-1))
  })

  test('keep their order when one has to be repeated, and others need not wait for it', async () => {
    const [slow, quick] = [await request(), await request()]
    const refusals = new Map<string, number>()
    receiver.answer = (response, received) => {
      const { data } = messageOf(received)
      const count = refusals.get(data.status) ?? 0
      refusals.set(data.status, count + 1)
      answerWith(response, data.requestId === slow && data.status === 'pending' && count < 4 ? 500 : 200)
    }
    await show(slow, 'pending')
    await show(slow, 'success')
    await show(quick, 'submitted')
    deliver()
    await waitUntil(async () => (await allDelivered(slow, 2)) && allDelivered(quick, 1), 'all are delivered')
    expect(statusesFor(slow)).toEqual(['pending', 'pending', 'pending', 'pending', 'pending', 'success'])
    expect((await stored(slow)).map(({ attempts }) => attempts)).toEqual([5, 1])
    const ids = receiver.received.filter((one) => messageOf(one).data.requestId === slow).map(messageOf)
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2)
    expect(receiver.received.every((one) => isSigned(one))).toBe(true)
  })
})

describe('a receiver', () => {
  test('that refuses is tried eleven times, then given up, and told again when it is asked for', async () => {
    receiver.answer = (response) => answerWith(response, 503)
    const requestId = await request()
    await show(requestId, 'success')
    const { attempts } = deliver()
    await waitUntil(async () => (await stored(requestId))[0]?.state === 'failed', 'it is given up')
    expect(receiver.received).toHaveLength(11)
    expect(attempts.filter(({ isGivenUp }) => isGivenUp)).toHaveLength(1)
    const { webhooks } = administration()
    expect(await webhooks.show(keyId)).toMatchObject({ waiting: 0, failed: 1, problem: 'answered_503' })
    receiver.answer = (response) => answerWith(response, 200)
    expect(await webhooks.replay({ actor, apiKeyId: keyId })).toBe(1)
    await waitUntil(() => allDelivered(requestId, 1), 'it is delivered')
    expect(new Set(receiver.received.map(messageOf).map(({ id }) => id)).size).toBe(1)
  })

  test.each([
    [
      'redirects',
      'answered_302',
      (at: Receiver) => {
        at.answer = (response) =>
          answerWith(response, 302, { location: `http://127.0.0.1:${at.port}/elsewhere` })
      },
    ],
    [
      'hangs up',
      'unreachable',
      (at: Receiver) => {
        at.answer = (response) => response.destroy()
      },
    ],
    [
      'sends headers without end',
      'unreachable',
      (at: Receiver) => {
        at.answer = (response) => answerWith(response, 200, { filler: 'x'.repeat(30_000) })
      },
    ],
  ] as const)('that %s has not received', async (_what, problem, prepare) => {
    prepare(receiver)
    const requestId = await request()
    await show(requestId, 'success')
    deliver()
    await waitUntil(async () => (await stored(requestId))[0]?.problem === problem, 'it is tried')
    expect(receiver.received.every(({ path }) => path === '/hook')).toBe(true)
  })

  test('that answers without end has received', async () => {
    receiver.answer = (response) => {
      response.writeHead(200)
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    }
    const requestId = await request()
    await show(requestId, 'success')
    deliver()
    await waitUntil(() => allDelivered(requestId, 1), 'it is delivered')
  })

  test('that answers and then keeps the connection has received, and loses the connection', async () => {
    const closed: number[] = []
    receiver.answer = (response) => {
      response.writeHead(200)
      response.write('and')
      response.once('close', () => closed.push(1))
    }
    const requestId = await request()
    await show(requestId, 'success')
    deliver({ timeoutMs: 3_000 })
    await waitUntil(() => allDelivered(requestId, 1), 'it is delivered')
    await waitUntil(async () => closed.length === receiver.received.length, 'the connection is closed')
  })

  test('that hangs is left after its time, holds nobody, and has few requests open at a time', async () => {
    receiver.answer = () => {}
    const other = await openReceiver()
    const { keyId: otherKey } = await createWebhook(other.url)
    const hanging = await Promise.all(Array.from({ length: 20 }, () => request()))
    for (const requestId of hanging) await show(requestId, 'pending')
    const { attempts } = deliver({ timeoutMs: 1_000 })
    await waitUntil(async () => receiver.received.length > 0, 'it has begun')
    const served = await Promise.all(Array.from({ length: 20 }, () => request(otherKey)))
    for (const requestId of served) await show(requestId, 'pending')
    const told = () => new Set(other.received.map((one) => messageOf(one).data.requestId))
    await waitUntil(async () => told().size === served.length, 'the others are told')
    await waitUntil(async () => attempts.some(({ result }) => result.outcome === 'timed_out'), 'it is left')
    expect(receiver.openMax()).toBeLessThanOrEqual(4)
    expect(other.openMax()).toBeLessThanOrEqual(4)
  })

  test('that is told by a process that is killed hears the same event again', async () => {
    const requestId = await request()
    let isHolding = true
    receiver.answer = (response) => {
      if (!isHolding) answerWith(response, 200)
    }
    await show(requestId, 'success')
    const first = spawnSender()
    await waitUntil(async () => receiver.received.length === 1, 'the first process sends')
    await first.kill()
    isHolding = false
    spawnSender()
    await waitUntil(() => allDelivered(requestId, 1), 'the second process delivers')
    const [before, after] = receiver.received.map(messageOf)
    expect(before).toEqual(after)
    expect(receiver.received.map(({ body }) => body)).toEqual([
      receiver.received[0]?.body,
      receiver.received[0]?.body,
    ])
  })
})

describe('the own network', () => {
  const refused = async (url: string, sender: Partial<SenderOptions>) => {
    await administration().webhooks.set({ actor, apiKeyId: keyId, url, headers: {} })
    const requestId = await request()
    await show(requestId, 'success')
    const { attempts } = deliver({ allowPrivate: false, ...sender })
    await waitUntil(async () => attempts.length > 0, 'it is tried')
    expect(attempts.map(({ result }) => result.outcome)).toContain('address_refused')
    expect(attempts.every(({ result }) => result.outcome === 'address_refused')).toBe(true)
    expect(receiver.received).toEqual([])
  }

  test('gets nothing by its address', () => refused(receiver.url, {}))

  test('gets nothing by a name of the system', () => refused(`http://localhost:${receiver.port}/`, {}))

  test('gets nothing by a name that led elsewhere when it was asked for before', async () => {
    const answers = [[{ address: '93.184.216.34', family: 4 }], [{ address: '127.0.0.1', family: 4 }]]
    const { webhooks } = administration(false)
    const name = `https://rebound.example:${receiver.port}/`
    expect(await webhooks.set({ actor, apiKeyId: keyId, url: name, headers: {} })).toMatchObject({
      url: name,
    })
    // What a careful sender would have asked before it connects.
    const resolve = async () => answers.shift() ?? [{ address: '127.0.0.1', family: 4 }]
    await resolve()
    await refused(`http://rebound.example:${receiver.port}/`, { resolve })
  })

  test('gets nothing by a name that has a public address as well', () =>
    refused(`http://both.example:${receiver.port}/`, {
      resolve: async () => [
        { address: '93.184.216.34', family: 4 },
        { address: '::ffff:127.0.0.1', family: 6 },
      ],
    }))

  test('is refused when the webhook is set, and so is plain HTTP', async () => {
    const { webhooks } = administration(false)
    for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'http://example.org/']) {
      await expect(webhooks.set({ actor, apiKeyId: keyId, url, headers: {} })).rejects.toThrow('The URL')
    }
  })

  test('answers over TLS only with a certificate that somebody vouches for', async () => {
    await administration().webhooks.set({
      actor,
      apiKeyId: keyId,
      url: `https://127.0.0.1:${receiver.port}/`,
      headers: {},
    })
    const requestId = await request()
    await show(requestId, 'success')
    const { attempts } = deliver()
    await waitUntil(async () => attempts.length > 0, 'it is tried')
    expect(attempts[0]?.result.outcome).toBe('unreachable')
    expect(receiver.received).toEqual([])
  })
})

describe('the secret of a webhook', () => {
  test('is shown once, stays when the URL changes, and signs no more when it is rotated', async () => {
    const { webhooks } = administration()
    expect(await webhooks.set({ actor, apiKeyId: keyId, url: receiver.url, headers: {} })).toEqual({
      id: keyId,
      url: receiver.url,
    })
    expect(JSON.stringify(await webhooks.show(keyId))).not.toContain(secret)
    const { secret: next } = await webhooks.rotateSecret({ actor, apiKeyId: keyId })
    const requestId = await request()
    await show(requestId, 'success')
    deliver()
    await waitUntil(() => allDelivered(requestId, 1), 'it is delivered')
    expect(receiver.received.map((one) => [isSigned(one), isSigned(one, next)])).toEqual([[false, true]])
  })

  test('is in no table as it is, nor are the headers', async () => {
    await administration().webhooks.set({
      actor,
      apiKeyId: keyId,
      url: receiver.url,
      headers: { authorization: 'Bearer of this integrator' },
    })
    const rows = await bed.database.query<{ row: string }>(
      `select e::text || coalesce((select string_agg(a::text, ' ') from admin_action a), '') as row
       from webhook_endpoint e`,
    )
    const text = rows.map(({ row }) => row).join()
    for (const hidden of [secret, Buffer.from(secret).toString('hex'), 'of this integrator']) {
      expect(text).not.toContain(hidden)
    }
  })

  test('moves to a new pepper, after which the old one may go', async () => {
    const rotated = { currentId: 'v2', byId: new Map([...peppers.byId, ['v2', randomBytes(32)] as const]) }
    const run = { fence: async () => {}, signal: new AbortController().signal }
    const sent: string[] = []
    const delivery = (known: typeof rotated) =>
      createWebhookDelivery({
        database: bed.database,
        peppers: known,
        send: async ({ signingSecret }) => {
          sent.push(signingSecret)
          return { outcome: 'delivered' }
        },
        retry: { firstMs: 5 },
        random: () => 0.5,
        now: () => performance.now(),
        onAttempt: () => {},
        onFailure: () => {},
      })
    await delivery(rotated).job.run(run)
    const requestId = await request()
    await show(requestId, 'success')
    const current = new Map([...rotated.byId].filter(([id]) => id === 'v2'))
    const last = delivery({ currentId: 'v2', byId: current })
    await last.job.run(run)
    await last.close()
    expect(sent).toEqual([secret])
  })
})

describe('the commands', () => {
  test('set, show, replay, give a new secret and remove', async () => {
    const run = async (...words: string[]) => {
      const lines: string[] = []
      const keep = async (line: string) => void lines.push(line)
      const variables = {
        ENVIRONMENT: 'local',
        DATABASE_URL: bed.connectionString,
        API_KEY_PEPPERS: pepperText,
      }
      const code = await runCli({
        words: ['webhooks', ...words],
        actor,
        signal: new AbortController().signal,
        print: keep,
        complain: keep,
        config: async () => ({ config: loadConfig(variables, repositoryRoot), variables }),
      })
      return { code, output: lines.join('\n') }
    }
    const url = 'https://shop.example/hook'
    await run('remove', keyId)
    const set = await run('set', keyId, '--url', url, '--headers', '{"Authorization":"Bearer hidden"}')
    expect(set).toMatchObject({ code: 0, output: expect.stringMatching(/^secret: whsec_\S{43}$/m) })
    expect((await run('set', keyId, '--url', url)).output).toBe(`Messages of key ${keyId} go to ${url}.`)
    expect((await run('show', keyId)).output).toMatch(
      /^url: {5}https:\/\/shop.example\/hook\nheaders: none\n/,
    )
    expect(await run('replay', keyId)).toEqual({ code: 0, output: '0 messages are sent again.' })
    expect((await run('rotate-secret', keyId)).output).toMatch(/^secret: whsec_/)
    expect((await run('set', keyId, '--url', 'http://shop.example')).output).toContain('INVALID_WEBHOOK_URL')
    expect((await run('set', keyId, '--url', 'https://[::1]/')).code).toBe(1)
    expect((await run('set', keyId, '--url', url, '--headers', '{"a"')).output).toContain('are no JSON')
    expect((await run('set', keyId, '--url', url, '--headers', '["a"]')).code).toBe(2)
    expect((await run('set', 'aaaaaaaaaa', '--url', url)).output).toContain('API_KEY_NOT_FOUND')
    expect((await run('remove', keyId)).code).toBe(0)
    expect((await run('show', keyId)).output).toContain('WEBHOOK_NOT_FOUND')
  })
})

describe('the example of the guide', () => {
  test('accepts a message once, and refuses one that was changed, is old or is signed by another', async () => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', join(repositoryRoot, 'docs/guides/examples/receiveWebhooks.ts')],
      {
        env: { PATH: process.env['PATH'], WEBHOOK_SECRET: secret, PORT: '0' },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const { lines } = follow(child)
    await waitUntil(async () => lines().some((line) => line.startsWith('listening')), 'the example listens')
    const url = lines()[0]?.split(' ')[1] ?? ''
    await administration().webhooks.set({ actor, apiKeyId: keyId, url, headers: {} })
    const requestId = await request()
    await show(requestId, 'success')
    deliver()
    await waitUntil(() => allDelivered(requestId, 1), 'it is delivered')
    await waitUntil(async () => lines().includes(`${requestId} success`), 'the example has told of it')

    const body = '{"id":"1","data":{}}'
    const post = async (sent: string, timestamp: number, key: string) => {
      const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')
      const headers = { 'x-signature-timestamp': String(timestamp), 'x-signature-sha256': signature }
      return (await fetch(url, { method: 'POST', headers, body: sent })).status
    }
    expect(await post(`${body} `, Date.now(), secret)).toBe(401)
    expect(await post(body, Date.now(), 'another secret')).toBe(401)
    expect(await post(body, Date.now() - 3_600_000, secret)).toBe(401)
    expect((await fetch(url, { method: 'POST', body })).status).toBe(401)
  })
})

type Sender = { lines(): readonly string[]; kill(): Promise<void> }

function spawnSender(): Sender {
  const script = join(import.meta.dirname, 'webhookSupport/webhookProcess.ts')
  return follow(
    spawn(process.execPath, ['--conditions=source', '--import', 'tsx', script, bed.connectionString], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
}

/** What a process says; it is killed when the test is over. */
function follow(child: ChildProcess): Sender {
  let output = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return { lines: () => output.split('\n'), kill }
}
