// Says what a request costs a process that serves it: microseconds on processors, all threads, of an app as services
// build it, whose one route takes a body, waits ten times and asks an endpoint once, as a quote does. What is measured goes to the parent; the log goes to a file.

import { Secret } from '@causeway/core'
import {
  createHttpApp,
  createHttpMetrics,
  createReadiness,
  noApiKeys,
  noteSubject,
  standardErrorPolicy,
  traced,
} from '@causeway/http'
import { createLogger, openTracing, readTracingSettings } from '@causeway/service'

const [, , level, ratio, collector] = process.argv
const logger = createLogger({ service: 'bench', level })
const metrics = createHttpMetrics({ service: 'bench' })
const settings =
  ratio && readTracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: new Secret(collector) }, Number(ratio))
const tracing = await openTracing(settings || undefined, {
  service: 'bench',
  registry: metrics.registry,
  log: logger,
})
const unlimited = { read: { perKeyMax: 0, perIpMax: 0 } }
const app = await createHttpApp({
  logger,
  metrics,
  errors: standardErrorPolicy,
  apiKeys: noApiKeys,
  trustedProxies: [],
  cors: true,
  rateLimits: { windowMs: 1_000, classes: unlimited, defaultClass: 'read', failedKeysPerMinuteMax: 0 },
  readiness: createReadiness({ checks: [] }),
  traces: tracing && { tracing, mayJoin: () => false },
})
const subject = { requestId: `0x${'ab'.repeat(32)}`, orderId: `0x${'cd'.repeat(32)}` }
const pause = () => new Promise((resolve) => setImmediate(resolve))
app.post('/quote', async (request) => {
  noteSubject(request, subject)
  for (let step = 0; step < 10; step += 1) await (step < 3 ? traced(tracing, 'step', {}, pause) : pause())
  tracing?.recordEndedCall(
    'chain endpoint',
    { 'server.address': 'bench' },
    { seconds: 0.001, failure: undefined },
  )
  return subject
})
const ask = () => app.inject({ method: 'POST', url: '/quote', payload: { amount: '1' } })

async function measure(requests) {
  const before = process.cpuUsage()
  for (let count = 0; count < requests; count += 20) await Promise.all(Array.from({ length: 20 }, ask))
  // Waiting spans are sent within a second: their cost belongs to the requests.
  if (ratio) await new Promise((resolve) => setTimeout(resolve, 1_200))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

await measure(3_000)
process.send(await measure(10_000), () => process.exit(0))
