// A service that stops as told by its arguments; started by shutdown.test.ts.
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { createReadiness } from '@causeway/http'
import { createLifetime, createLogger, installShutdown } from '@causeway/service'
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
const { onClose, close } = createLifetime(logger)
onClose('listeners', 'public listener', () => app.close())
onClose('state', 'database', () => logger.info('database closed'))
if (options.hanging === true) onClose('connections', 'hanging', () => new Promise(() => {}))
if (options.failing === true)
  onClose('connections', 'failing', () => Promise.reject(new Error('cannot close')))
installShutdown({
  logger,
  readiness,
  drainMs: options.drainMs ?? 300,
  hardExitMs: 5_000,
  close,
  ...(options.hardExitMs !== undefined && { hardExitMs: options.hardExitMs }),
})
await app.listen({ host: '127.0.0.1', port: 0 })
// CAST: a TCP listener has a TCP address.
logger.info({ port: (app.server.address() as AddressInfo).port }, 'listening')
