// Goal: an integrator is told of every status of its requests, signed over the bytes that arrive, at least once
// and in order, whatever its receiver does. Method: real HTTP receivers on loopback, a real database, statuses
// as settlement writes them; kill -9 of a sending process.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { waitUntil } from '@causeway/localnet'
import { describe, expect, test } from 'vitest'
import { createOrderStore } from '../src/requests/orders/orderStore.ts'
import { recordTransaction, setStatus } from '../src/requests/status/requestProgress.ts'
import { announceStatus } from '../src/webhooks/announceStatus.ts'
import { orderNamed } from './orderSupport/orders.ts'
import { answerWith, messageOf, type Receiver } from './webhookSupport/receiver.ts'
import {
  actor,
  createTestDelivery,
  follow,
  isSigned,
  openReceiver,
  useWebhooks,
} from './webhookSupport/webhookBed.ts'

const bed = useWebhooks()

const statusesFor = (requestId: Hex) =>
  bed.receiver.received
    .map(messageOf)
    .filter(({ data }) => data.requestId === requestId)
    .map(({ data }) => data.status)

describe('a message', () => {
  test('L-81: tells the status of a request as the interface says, signed over its very bytes', async () => {
    await bed.administration().webhooks.set({
      actor,
      apiKeyId: bed.keyId,
      url: bed.receiver.url,
      headers: { authorization: 'Bearer token', 'user-agent': 'mine' },
    })
    const requestId = await bed.request()
    const deposit = { requestId, role: 'deposit', chainId: 8453, txHash: '0x01', blockNumber: 7n } as const
    await bed.database.query(
      `update orders set quoted = (quoted::jsonb || '{"referrer": "an.app"}')::json
       where request_id = decode($1, 'hex')`,
      [requestId.slice(2)],
    )
    await bed.database.transaction((tx) => recordTransaction(tx, deposit))
    await bed.show(requestId, 'pending')
    bed.deliver()
    await waitUntil('it is delivered', () => bed.areDelivered(requestId, 1))
    const [message] = bed.receiver.received
    if (message === undefined) throw new Error('nothing arrived')
    expect(isSigned(message, bed.secret)).toBe(true)
    expect(isSigned({ ...message, body: `${message.body} ` }, bed.secret)).toBe(false)
    expect(isSigned(message, `${bed.secret}x`)).toBe(false)
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
        inTxHashes: ['0x01'],
        txHashes: [],
        originChainId: 8453,
        destinationChainId: 792703809,
        updatedAt: told.data.updatedAt,
        failReason: 'N/A',
        refundFailReason: 'N/A',
        requestId,
        depositAddress: null,
        referrer: 'an.app',
      },
    })
  })

  test('is queued in the transaction of its status, and a rollback takes both back', async () => {
    const requestId = await bed.request()
    const undone = bed.database.transaction(async (tx) => {
      await setStatus(tx, announceStatus, { requestId, status: 'pending' })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const committed = await bed.request()
    await bed.show(committed, 'pending')
    bed.deliver()
    await waitUntil('the committed one is delivered', () => bed.areDelivered(committed, 1))
    expect(await bed.stored(requestId)).toEqual([])
  })

  test('is not made for requests without a key, without a webhook, or of a revoked key', async () => {
    const { keys, webhooks } = bed.administration()
    const { id: other } = await keys.create({ actor, label: 'without webhook' })
    const { keyId: revoked } = await bed.createWebhook(bed.receiver.url)
    await keys.revoke({ actor, id: revoked })
    for (const apiKeyId of [undefined, other, revoked]) {
      const order = orderNamed(randomUUID(), { apiKeyId })
      await createOrderStore({ database: bed.database }).save(order)
      await bed.show(order.requestId, 'pending')
    }
    const told = await bed.request()
    await bed.show(told, 'pending')
    bed.deliver()
    await waitUntil('the other one is delivered', () => bed.areDelivered(told, 1))
    expect(bed.receiver.received.map(messageOf).map(({ data }) => data.requestId)).toEqual([told])
    expect(await webhooks.show(bed.keyId)).toMatchObject({ waiting: 0, failed: 0 })
  })
})

describe('the statuses of a request', () => {
  test('arrive in their order, the end once, whoever writes at the same time', async () => {
    const requestId = await bed.request()
    await bed.show(requestId, 'pending')
    await bed.show(requestId, 'submitted')
    const ends = await Promise.all(
      (['success', 'refund', 'success', 'refund', 'pending'] as const).map((status) =>
        bed.show(requestId, status),
      ),
    )
    const announced = ends.filter((shown) => shown).length
    bed.deliver()
    await waitUntil('all are delivered', () => bed.areDelivered(requestId, 2 + announced))
    const statuses = statusesFor(requestId)
    expect(statuses.slice(0, 2)).toEqual(['pending', 'submitted'])
    expect(statuses.filter((status) => status === 'success' || status === 'refund')).toHaveLength(1)
    expect(['success', 'refund']).toContain(statuses.at(-1))
  })

  test('L-81: keep their order when one has to be repeated, and others need not wait for it', async () => {
    const [slow, quick] = [await bed.request(), await bed.request()]
    const refusals = new Map<string, number>()
    bed.receiver.answer = (response, received) => {
      const { data } = messageOf(received)
      const count = refusals.get(data.status) ?? 0
      refusals.set(data.status, count + 1)
      answerWith(response, data.requestId === slow && data.status === 'pending' && count < 4 ? 500 : 200)
    }
    await bed.show(slow, 'pending')
    await bed.show(slow, 'success')
    await bed.show(quick, 'submitted')
    bed.deliver()
    await waitUntil(
      'all are delivered',
      async () => (await bed.areDelivered(slow, 2)) && bed.areDelivered(quick, 1),
    )
    expect(statusesFor(slow)).toEqual(['pending', 'pending', 'pending', 'pending', 'pending', 'success'])
    expect((await bed.stored(slow)).map(({ attempts }) => attempts)).toEqual([5, 1])
    const ids = bed.receiver.received.filter((one) => messageOf(one).data.requestId === slow).map(messageOf)
    expect(new Set(ids.map(({ id }) => id)).size).toBe(2)
    expect(bed.receiver.received.every((one) => isSigned(one, bed.secret))).toBe(true)
  })
})

describe('a receiver', () => {
  test('that refuses is tried eleven times, then given up, and told again when it is asked for', async () => {
    bed.receiver.answer = (response) => answerWith(response, 503)
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    const { attempts } = bed.deliver()
    await waitUntil('it is given up', async () => (await bed.stored(requestId))[0]?.state === 'failed')
    expect(bed.receiver.received).toHaveLength(11)
    expect(attempts.filter(({ isGivenUp }) => isGivenUp)).toHaveLength(1)
    const { webhooks } = bed.administration()
    expect(await webhooks.show(bed.keyId)).toMatchObject({ waiting: 0, failed: 1, problem: 'answered_503' })
    bed.receiver.answer = (response) => answerWith(response, 200)
    expect(await webhooks.replay({ actor, apiKeyId: bed.keyId })).toBe(1)
    await waitUntil('it is delivered', () => bed.areDelivered(requestId, 1))
    expect(new Set(bed.receiver.received.map(messageOf).map(({ id }) => id)).size).toBe(1)
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
    prepare(bed.receiver)
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    bed.deliver()
    await waitUntil('it is tried', async () => (await bed.stored(requestId))[0]?.problem === problem)
    expect(bed.receiver.received.every(({ path }) => path === '/hook')).toBe(true)
  })

  test('that answers without end has received', async () => {
    bed.receiver.answer = (response) => {
      response.writeHead(200)
      const more = () => {
        while (response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    }
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    bed.deliver()
    await waitUntil('it is delivered', () => bed.areDelivered(requestId, 1))
  })

  test('that answers and then keeps the connection has received, and loses the connection', async () => {
    const closed: number[] = []
    bed.receiver.answer = (response) => {
      response.writeHead(200)
      response.write('and')
      response.once('close', () => closed.push(1))
    }
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    bed.deliver({ timeoutMs: 3_000 })
    await waitUntil('it is delivered', () => bed.areDelivered(requestId, 1))
    await waitUntil('the connection is closed', async () => closed.length === bed.receiver.received.length)
  })

  test('that hangs is left after its time, holds nobody, and has few requests open at a time', async () => {
    bed.receiver.answer = () => {}
    const other = await openReceiver()
    const { keyId: otherKey } = await bed.createWebhook(other.url)
    const hanging = await Promise.all(Array.from({ length: 20 }, () => bed.request()))
    for (const requestId of hanging) await bed.show(requestId, 'pending')
    const { attempts } = bed.deliver({ timeoutMs: 1_000 })
    await waitUntil('it has begun', async () => bed.receiver.received.length > 0)
    const served = await Promise.all(Array.from({ length: 20 }, () => bed.request(otherKey)))
    for (const requestId of served) await bed.show(requestId, 'pending')
    const told = () => new Set(other.received.map((one) => messageOf(one).data.requestId))
    await waitUntil('the others are told', async () => told().size === served.length)
    await waitUntil('it is left', async () => attempts.some(({ result }) => result.outcome === 'timed_out'))
    expect(bed.receiver.openMax()).toBeLessThanOrEqual(4)
    expect(other.openMax()).toBeLessThanOrEqual(4)
  })

  test('that is told by a process that no longer leads hears it again from the next', async () => {
    const requestId = await bed.request()
    await bed.show(requestId, 'success')
    let isLeading = true
    const failures: unknown[] = []
    const stale = createTestDelivery({
      database: bed.database,
      onFailure: (error) => failures.push(error),
    })
    bed.receiver.answer = (response) => {
      isLeading = false
      answerWith(response, 200)
    }
    const fence = async () => {
      if (!isLeading) throw new Error('another process leads')
    }
    await stale.job.run({ fence, signal: new AbortController().signal })
    await stale.close()
    expect(failures).toEqual([new Error('another process leads')])
    expect((await bed.stored(requestId)).map(({ state }) => state)).toEqual(['waiting'])
    bed.deliver()
    await waitUntil('the next one delivers', () => bed.areDelivered(requestId, 1))
    expect(new Set(bed.receiver.received.map(({ body }) => body)).size).toBe(1)
  })

  test('that is told by a process that is killed hears the same event again', async () => {
    const requestId = await bed.request()
    let isHolding = true
    bed.receiver.answer = (response) => {
      if (!isHolding) answerWith(response, 200)
    }
    await bed.show(requestId, 'success')
    const first = spawnSender()
    await waitUntil('the first process sends', async () => bed.receiver.received.length === 1)
    await first.kill()
    isHolding = false
    spawnSender()
    await waitUntil('the second process delivers', () => bed.areDelivered(requestId, 1))
    const [before, after] = bed.receiver.received.map(messageOf)
    expect(before).toEqual(after)
    expect(bed.receiver.received.map(({ body }) => body)).toEqual([
      bed.receiver.received[0]?.body,
      bed.receiver.received[0]?.body,
    ])
  })
})

function spawnSender() {
  const script = join(import.meta.dirname, 'webhookSupport/webhookProcess.ts')
  const args = [script, bed.connectionString]
  return follow(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }))
}
