// A service that stops as told by its arguments; started by shutdown.test.ts.
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { createReadiness } from '@causeway/http'
import { createLogger, installShutdown } from '@causeway/service'
import { createTestApp } from '../../http/test/fixtures/httpTestApp.ts'

const options = JSON.parse(process.argv[2] ?? '{}')
const logger = createLogger({ service: 'stopping', level: 'info' })
const readiness = createReadiness({ checks: [] })
const app = await createTestApp({ logger, readiness, limits: { requestTimeoutMs: 5_000, ...options.limits } })
app.post('/slow', async () => {
  await new Promise((resolve) => setTimeout(resolve, 700))
  return { done: true }
})
app.get('/stream', (_request, reply) => {
  const body = new PassThrough()
  body.write('begun ')
  setTimeout(() => body.end('ended'), 900)
  reply.send(body)
})
app.get('/reject', async () => {
  void Promise.reject(new Error('nobody waits for this'))
  return {}
})
app.get('/reject-nothing', async () => {
  void Promise.reject(undefined)
  return {}
})
app.get('/throw', async () => {
  setImmediate(() => {
    throw new Error('thrown where nobody catches')
  })
  return {}
})
installShutdown({
  logger,
  readiness,
  drainMs: options.drainMs ?? 300,
  hardExitMs: 5_000,
  closers: [
    { name: 'public listener', close: () => app.close() },
    ...(options.failing === true
      ? [{ name: 'failing', close: () => Promise.reject(new Error('cannot close')) }]
      : []),
    ...(options.hanging === true ? [{ name: 'hanging', close: () => new Promise(() => {}) }] : []),
    { name: 'database', close: async () => logger.info('database closed') },
  ],
  ...(options.hardExitMs !== undefined && { hardExitMs: options.hardExitMs }),
})
await app.listen({ host: '127.0.0.1', port: 0 })
// CAST: a TCP listener has a TCP address.
logger.info({ port: (app.server.address() as AddressInfo).port }, 'listening')
