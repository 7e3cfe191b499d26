// A collector of traces, as far as tests need one: a real HTTP server that takes what the OTLP exporter posts to
// /v1/traces as JSON and keeps its spans. It stands in for the collector of OpenTelemetry, which is a binary of
// another project; it checks the shape of what it is sent, and can be late, silent or broken on purpose.
import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'

const attribute = z.object({
  key: z.string(),
  value: z.object({ stringValue: z.string().optional(), intValue: z.coerce.number().optional() }).loose(),
})
const span = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string(),
  kind: z.int(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes: z.array(attribute),
  status: z.object({ code: z.int() }).loose(),
})
const request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }).loose(),
      scopeSpans: z.array(z.object({ spans: z.array(span) }).loose()),
    }),
  ),
})

export type CollectedSpan = Omit<z.output<typeof span>, 'attributes' | 'status'> & {
  readonly service: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly isFailed: boolean
}

/** `hang` takes the request and never answers; `trickle` answers a byte now and then. */
export type CollectorMood = 'takes' | 'refuses' | 'unavailable' | 'hangs' | 'trickles'

export type TraceCollector = {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: CollectedSpan[]
  /** All bodies, as they came. */
  readonly texts: string[]
  readonly requestHeaders: IncomingMessage['headers'][]
  become(mood: CollectorMood): void
  /** Waits until something is there. */
  until<Found>(
    find: (spans: readonly CollectedSpan[]) => Found | undefined,
    withinMs?: number,
  ): Promise<Found>
  stop(): Promise<void>
}

const errorStatusCode = 2

export async function startTraceCollector(): Promise<TraceCollector> {
  let mood: CollectorMood = 'takes'
  const spans: CollectedSpan[] = []
  const texts: string[] = []
  const requestHeaders: IncomingMessage['headers'][] = []
  const timers = new Set<NodeJS.Timeout>()
  const server = createServer(async (incoming, answer) => {
    let text = ''
    for await (const chunk of incoming) text += String(chunk)
    texts.push(text)
    requestHeaders.push(incoming.headers)
    if (mood === 'hangs') return
    if (mood === 'trickles') {
      answer.writeHead(200)
      timers.add(setInterval(() => answer.write('x'), 100))
      return
    }
    if (mood !== 'takes' || incoming.url !== '/v1/traces') {
      answer.writeHead(mood === 'unavailable' ? 503 : 500).end()
      return
    }
    spans.push(...readSpans(text))
    answer.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the collector has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    texts,
    requestHeaders,
    become(next) {
      mood = next
    },
    async until(find, withinMs = 10_000) {
      const deadline = performance.now() + withinMs
      for (;;) {
        const found = find(spans)
        if (found !== undefined) return found
        if (performance.now() > deadline) {
          const names = [...new Set(spans.map(({ service, name }) => `${service}: ${name}`))]
          throw new Error(`no such span came; there are ${names.join(', ')}`)
        }
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function readSpans(text: string): CollectedSpan[] {
  return request.parse(JSON.parse(text)).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ attributes, status, ...rest }) => ({
        ...rest,
        service,
        attributes: valuesOf(attributes),
        isFailed: status.code === errorStatusCode,
      })),
    )
  })
}

function valuesOf(attributes: readonly z.output<typeof attribute>[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? JSON.stringify(value)]),
  )
}
