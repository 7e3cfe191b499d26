// Goal: whatever service it is, its frame is there before its first part, and is whole whatever becomes of the parts.
// Attackers: a start that fails half-way, and a port that is taken. Method: real listeners on loopback.

import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createHttpApp, noApiKeys, standardErrorPolicy } from '@causeway/http'
import { afterEach, expect, test } from 'vitest'
import { composeService, type OpenService, openListeners } from './openService.ts'

const options = { name: 'framed', logLevel: 'silent' } as const
const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const service of opened.splice(0)) await service.close()
})

async function open(): Promise<OpenService> {
  const service = await composeService(options, async (one) => one)
  opened.push(service)
  return service
}

const loopback = { host: '127.0.0.1', port: 0 }
const opsOf = ({ opsListener }: OpenService) => ({ app: opsListener, at: loopback, setting: 'OPS_PORT' })

test('O-130: a service without a part has metrics, readiness and an operations listener', async () => {
  const service = await open()
  const { opsUrl } = await openListeners(service, { opsUrl: opsOf(service) })
  const ready = await fetch(`${opsUrl}/ready`)
  expect([ready.status, await ready.json()]).toEqual([200, { ready: true, draining: false, checks: {} }])
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text()
  for (const name of ['process_resident_memory_bytes', 'log_lines_dropped_total', 'http_requests_shed_total'])
    expect(metrics).toMatch(new RegExp(`^${name}[^\\n]*service="framed"`, 'm'))
})

test('O-132: a part is checked from where it is made, and what tells of it answers until all else is closed', async () => {
  const service = await open()
  const { opsUrl } = await openListeners(service, { opsUrl: opsOf(service) })
  service.check({ name: 'database', check: async () => Promise.reject(new Error('away')) })
  let seen: unknown
  service.onClose('state', 'database', async () => {
    seen = await (await fetch(`${opsUrl}/ready`)).json()
  })
  await service.close()
  expect(seen).toMatchObject({ ready: false, checks: { database: 'failed' } })
  await expect(fetch(`${opsUrl}/ready`)).rejects.toThrow()
})

test('O-132: a start that fails closes what it had opened, in order, and says why it failed', async () => {
  const closed: string[] = []
  const failing = composeService(options, async ({ onClose }) => {
    onClose('connections', 'signer', () => closed.push('signer'))
    onClose('state', 'database', () => closed.push('database'))
    onClose('jobs', 'market', () => closed.push('market'))
    throw new Error('the hub contradicts the configuration')
  })
  await expect(failing).rejects.toThrow('the hub contradicts the configuration')
  expect(closed).toEqual(['market', 'signer', 'database'])
})

test('O-132: where one port cannot be had, no listener stays open and everything is closed', async () => {
  const service = await open()
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  // CAST: a TCP listener has a TCP address.
  const { port } = taken.address() as AddressInfo
  const closed: string[] = []
  service.onClose('state', 'database', () => closed.push('database'))
  const app = await createHttpApp({
    logger: service.logger,
    metrics: service.metrics,
    readiness: service.readiness,
    errors: standardErrorPolicy,
    apiKeys: noApiKeys,
    trustedProxies: [],
    cors: false,
    rateLimits: {
      windowMs: 1_000,
      classes: { read: { perKeyMax: 0, perIpMax: 0 } },
      defaultClass: 'read',
      failedKeysPerMinuteMax: 0,
    },
  })
  service.onClose('listeners', 'public listener', () => app.close())
  const listening = openListeners(service, {
    opsUrl: opsOf(service),
    publicUrl: { app, at: { host: '127.0.0.1', port }, setting: 'HTTP_PORT' },
  })
  await expect(listening).rejects.toThrow(`HTTP_PORT: port ${port} cannot be opened (EADDRINUSE).`)
  expect(closed).toEqual(['database'])
  taken.close()
})
