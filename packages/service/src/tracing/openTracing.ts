import type { Signer, SqlDatabase } from '@causeway/core'
import type { Tracing } from '@causeway/http'
import type { FastifyBaseLogger } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import type { SpanOutcome } from './boundedExport.ts'
import type { TracingSettings } from './tracingSettings.ts'

const outcomes = ['exported', 'failed', 'dropped'] as const satisfies readonly SpanOutcome[]

/**
 * Makes the tracing of a service, with a counter of spans by outcome.
 * @param settings undefined: tracing is off, and its libraries are not loaded
 */
export async function openTracing(
  settings: TracingSettings | undefined,
  options: { readonly service: string; readonly registry: Registry; readonly log: FastifyBaseLogger },
): Promise<Tracing | undefined> {
  if (settings === undefined) return undefined
  const { service, registry, log } = options
  const { OtlpTracing } = await import('./otlpTracing.ts')
  const spanCounter = new Counter({
    name: 'trace_spans_total',
    help: 'Spans: taken by the collector, failed there, or dropped because too many waited',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  for (const outcome of outcomes) spanCounter.inc({ outcome }, 0)
  return new OtlpTracing(settings, {
    service,
    count: (outcome, spans) => spanCounter.inc({ outcome }, spans),
    isFailing(failing) {
      if (failing) log.warn({ event: 'traces_not_taken' }, 'the collector does not take traces')
      else log.info({ event: 'traces_taken' }, 'the collector takes traces again')
    },
  })
}

/** Wraps a database so that each statement and each transaction is a span. */
export function traceDatabase<Database extends SqlDatabase>(
  database: Database,
  tracing: Tracing | undefined,
): Database {
  if (tracing === undefined) return database
  const tracedMethods: SqlDatabase = {
    query: (text, values, options) =>
      tracing.runSpan(
        'database statement',
        statementAttributes(text),
        () => database.query(text, values, options),
        'client',
      ),
    transaction: (work, options) =>
      tracing.runSpan('database transaction', {}, () => database.transaction(work, options), 'client'),
  }
  return { ...database, ...tracedMethods }
}

/** The first word of a statement, e.g. `select`; whole statements are too long for a span. */
function statementAttributes(text: string) {
  const [verb] = /\w+/.exec(text) ?? ['other']
  return { 'db.operation.name': verb.toLowerCase().slice(0, 16) }
}

/** Wraps a signer so that each signature is a span; the signed data is no part of it. */
export function traceSigner<SomeSigner extends Signer>(
  signer: SomeSigner,
  tracing: Tracing | undefined,
): SomeSigner {
  if (tracing === undefined) return signer
  return {
    ...signer,
    sign: (request, options) => tracing.runSpan('sign', {}, () => signer.sign(request, options)),
  }
}
