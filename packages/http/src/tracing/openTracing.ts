import type { FastifyBaseLogger } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import type { SpanOutcome } from './boundedExport.ts'
import type { Tracing } from './tracing.ts'
import type { TracingSettings } from './tracingSettings.ts'

const outcomes = ['exported', 'failed', 'dropped'] as const satisfies readonly SpanOutcome[]

/**
 * Loads what tracing needs, and counts what becomes of spans.
 * @param settings undefined: tracing is off, and nothing is loaded
 */
export async function openTracing(
  settings: TracingSettings | undefined,
  options: { readonly service: string; readonly registry: Registry; readonly log: FastifyBaseLogger },
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined
  const { service, registry, log } = options
  const { createOtlpTracing } = await import('./otlpTracing.ts')
  const spansTold = new Counter({
    name: 'trace_spans_total',
    help: 'Spans: taken by the collector, failed there, or dropped because too many waited',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  for (const outcome of outcomes) spansTold.inc({ outcome }, 0)
  return createOtlpTracing(settings, {
    service,
    count: (outcome, spans) => spansTold.inc({ outcome }, spans),
    isFailing(failing) {
      if (failing) log.warn({ event: 'traces_not_taken' }, 'the collector does not take traces')
      else log.info({ event: 'traces_taken' }, 'the collector takes traces again')
    },
  })
}
