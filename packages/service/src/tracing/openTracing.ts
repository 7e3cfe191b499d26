import type { Signer, SqlDatabase } from '@causeway/core'
import type { Tracing } from '@causeway/http'
import type { FastifyBaseLogger } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import type { SpanOutcome } from './boundedExport.ts'
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
  const { OtlpTracing } = await import('./otlpTracing.ts')
  const spansTold = new Counter({
    name: 'trace_spans_total',
    help: 'Spans: taken by the collector, failed there, or dropped because too many waited',
    labelNames: ['outcome'] as const,
    registers: [registry],
  })
  for (const outcome of outcomes) spansTold.inc({ outcome }, 0)
  return new OtlpTracing(settings, {
    service,
    count: (outcome, spans) => spansTold.inc({ outcome }, spans),
    isFailing(failing) {
      if (failing) log.warn({ event: 'traces_not_taken' }, 'the collector does not take traces')
      else log.info({ event: 'traces_taken' }, 'the collector takes traces again')
    },
  })
}

/** Wraps the database: each statement, and each group of statements with one commit, is a span. */
export function tracedDatabase<Database extends SqlDatabase>(
  database: Database,
  tracing: Tracing | undefined,
): Database {
  if (tracing === undefined) return database
  const parts: SqlDatabase = {
    query: (text, values, options) =>
      tracing.during(
        'database statement',
        verbOf(text),
        () => database.query(text, values, options),
        'client',
      ),
    transaction: (work, options) =>
      tracing.during('database transaction', {}, () => database.transaction(work, options), 'client'),
  }
  return { ...database, ...parts }
}

/** Its first word: parameters stand apart, and whole texts are too long to be of use. */
function verbOf(text: string) {
  const [verb] = /\w+/.exec(text) ?? ['other']
  return { 'db.operation.name': verb.toLowerCase().slice(0, 16) }
}

/** Wraps the signer; the signed data is no part of a span. */
export function tracedSigner<Kept extends Signer>(signer: Kept, tracing: Tracing | undefined): Kept {
  if (tracing === undefined) return signer
  return {
    ...signer,
    sign: (request, options) => tracing.during('sign', {}, () => signer.sign(request, options)),
  }
}
