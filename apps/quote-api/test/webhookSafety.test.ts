// Goal: no message reaches a private network, no secret can be read where it is stored, and the guide's receiver
// tells genuine messages from others. Method: real HTTP receivers on loopback, a real database, resolvers that
// lie, the example of the guide as a process.
import { spawn } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { waitUntil } from '@causeway/localnet'
import { describe, expect, test } from 'vitest'
import type { Peppers } from '../src/access/keys/peppers.ts'
import { loadConfig } from '../src/config/config.ts'
import { runCli } from '../src/operate/cli/runCli.ts'
import type { SenderOptions } from '../src/webhooks/sendMessage.ts'
import { repositoryRoot } from './fixtures/service.ts'
import { pepperText } from './sponsorSupport/sponsors.ts'
import {
  actor,
  createTestDelivery,
  follow,
  isSigned,
  peppers,
  useWebhooks,
} from './webhookSupport/webhookBed.ts'

const bed = useWebhooks()

describe('the own network', () => {
  const refused = async (url: string, sender: Partial<SenderOptions>) => {
    await bed.administration().webhooks.set({ actor, apiKeyId: bed.keyId, url, headers: {} })
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    const { attempts } = bed.deliver({ allowPrivate: false, ...sender })
    await waitUntil('it is tried', async () => attempts.length > 0)
    expect(attempts.map(({ result }) => result.outcome)).toContain('address_refused')
    expect(attempts.every(({ result }) => result.outcome === 'address_refused')).toBe(true)
    expect(bed.receiver.received).toEqual([])
  }

  test('gets nothing by its address', () => refused(bed.receiver.url, {}))

  test('gets nothing by a name of the system', () => refused(`http://localhost:${bed.receiver.port}/`, {}))

  test('L-82: gets nothing by a name that led elsewhere when it was asked for before', async () => {
    const answers = [[{ address: '93.184.216.34', family: 4 }], [{ address: '127.0.0.1', family: 4 }]]
    const { webhooks } = bed.administration(false)
    const name = `https://rebound.example:${bed.receiver.port}/`
    expect(await webhooks.set({ actor, apiKeyId: bed.keyId, url: name, headers: {} })).toMatchObject({
      url: name,
    })
    // A check of the address before connecting would have got this first answer.
    const resolve = async () => answers.shift() ?? [{ address: '127.0.0.1', family: 4 }]
    await resolve()
    await refused(`http://rebound.example:${bed.receiver.port}/`, { resolve })
  })

  test('gets nothing by a name that has a public address as well', () =>
    refused(`http://both.example:${bed.receiver.port}/`, {
      resolve: async () => [
        { address: '93.184.216.34', family: 4 },
        { address: '::ffff:127.0.0.1', family: 6 },
      ],
    }))

  test('is refused when the webhook is set, and so is plain HTTP', async () => {
    const { webhooks } = bed.administration(false)
    for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'http://example.org/']) {
      await expect(webhooks.set({ actor, apiKeyId: bed.keyId, url, headers: {} })).rejects.toThrow('The URL')
    }
  })

  test('answers over TLS only with a certificate that somebody vouches for', async () => {
    await bed.administration().webhooks.set({
      actor,
      apiKeyId: bed.keyId,
      url: `https://127.0.0.1:${bed.receiver.port}/`,
      headers: {},
    })
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    const { attempts } = bed.deliver()
    await waitUntil('it is tried', async () => attempts.length > 0)
    expect(attempts[0]?.result.outcome).toBe('unreachable')
    expect(bed.receiver.received).toEqual([])
  })
})

describe('the secret of a webhook', () => {
  test('is shown once, stays when the URL changes, and signs no more when it is rotated', async () => {
    const { webhooks } = bed.administration()
    expect(await webhooks.set({ actor, apiKeyId: bed.keyId, url: bed.receiver.url, headers: {} })).toEqual({
      id: bed.keyId,
      url: bed.receiver.url,
    })
    expect(JSON.stringify(await webhooks.show(bed.keyId))).not.toContain(bed.secret)
    const { secret: next } = await webhooks.rotateSecret({ actor, apiKeyId: bed.keyId })
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    bed.deliver()
    await waitUntil('it is delivered', () => bed.areDelivered(requestId, 1))
    expect(bed.receiver.received.map((one) => [isSigned(one, bed.secret), isSigned(one, next)])).toEqual([
      [false, true],
    ])
  })

  test('L-83: is in no table as it is, nor are the headers', async () => {
    await bed.administration().webhooks.set({
      actor,
      apiKeyId: bed.keyId,
      url: bed.receiver.url,
      headers: { authorization: 'Bearer of this integrator' },
    })
    const rows = await bed.database.query<{ row: string }>(
      `select e::text || coalesce((select string_agg(a::text, ' ') from admin_action a), '') as row
       from webhook_endpoint e`,
    )
    const text = rows.map(({ row }) => row).join()
    for (const hidden of [bed.secret, Buffer.from(bed.secret).toString('hex'), 'of this integrator']) {
      expect(text).not.toContain(hidden)
    }
  })

  test('moves to a new pepper, after which the old one may go', async () => {
    const rotated = { currentId: 'v2', byId: new Map([...peppers.byId, ['v2', randomBytes(32)] as const]) }
    const run = { fence: async () => {}, signal: new AbortController().signal }
    const sent: string[] = []
    const delivery = (known: Peppers) =>
      createTestDelivery({
        database: bed.database,
        peppers: known,
        async send({ signingSecret }) {
          sent.push(signingSecret)
          return { outcome: 'delivered' }
        },
      })
    await delivery(rotated).job.run(run)
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    const current = new Map([...rotated.byId].filter(([id]) => id === 'v2'))
    const last = delivery({ currentId: 'v2', byId: current })
    await last.job.run(run)
    await last.close()
    expect(sent).toEqual([bed.secret])
  })

  test('that cannot be read keeps its own messages only, and says so', async () => {
    const { receiver, secret } = bed
    const { keyId: damaged } = await bed.createWebhook(`${receiver.url}/damaged`)
    await bed.database.query(
      `update webhook_endpoint set sealed = '\\x00', pepper_id = 'gone' where api_key_id = $1`,
      [damaged],
    )
    const [lost, told] = [await bed.request(damaged), await bed.request()]
    await bed.show(lost, 'success')
    await bed.show(told, 'success')
    const { attempts } = bed.deliver()
    await waitUntil('the other one is delivered', () => bed.areDelivered(told, 1))
    await waitUntil('it is tried', async () => attempts.some(({ apiKeyId }) => apiKeyId === damaged))
    expect((await bed.stored(lost))[0]?.problem).toBe('secrets_unreadable')
    expect(receiver.received.map((one) => isSigned(one, secret))).toEqual([true])
    await expect(bed.administration().webhooks.show(damaged)).rejects.toThrow('cannot be read')
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
    const { keyId } = bed
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
    const child = spawn(process.execPath, [join(repositoryRoot, 'docs/guides/examples/receiveWebhooks.ts')], {
      env: { PATH: process.env['PATH'], WEBHOOK_SECRET: bed.secret, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const { lines } = follow(child)
    await waitUntil('the example listens', async () => lines().some((line) => line.startsWith('listening')))
    const url = lines()[0]?.split(' ')[1] ?? ''
    await bed.administration().webhooks.set({ actor, apiKeyId: bed.keyId, url, headers: {} })
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    bed.deliver()
    await waitUntil('it is delivered', () => bed.areDelivered(requestId, 1))
    await waitUntil('the example has told of it', async () => lines().includes(`${requestId} success`))

    const body = '{"id":"1","data":{}}'
    const post = async (sent: string, timestamp: number, key: string) => {
      const signature = createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')
      const headers = { 'x-signature-timestamp': String(timestamp), 'x-signature-sha256': signature }
      return (await fetch(url, { method: 'POST', headers, body: sent })).status
    }
    expect(await post(`${body} `, Date.now(), bed.secret)).toBe(401)
    expect(await post(body, Date.now(), 'another secret')).toBe(401)
    expect(await post(body, Date.now() - 3_600_000, bed.secret)).toBe(401)
    expect((await fetch(url, { method: 'POST', body })).status).toBe(401)
  })
})
