import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import type { TracingSettings } from './tracingSettings.ts'

/** Outcome of ended spans. `dropped`: beyond the limit of the queue or of one trace. */
export type SpanOutcome = 'exported' | 'failed' | 'dropped'

export type ExportEvents = {
  count(outcome: SpanOutcome, spans: number): void
  /** Called when exports begin and when they cease to fail. */
  isFailing(failing: boolean): void
}

const queueMax = 2_048
const batchMax = 256
const sendEveryMs = 1_000
const exportTimeoutMs = 5_000
/** A slow collector holds at most this many batches. */
const batchesInFlightMax = 2

/**
 * Hands spans to the collector in batches. At most `queueMax` wait, and `batchesInFlightMax` batches are on their
 * way: what is more is dropped and counted, so that a collector that is slow or away costs no memory.
 */
export function createBoundedExport(settings: TracingSettings, events: ExportEvents): SpanProcessor {
  const otlp = new OTLPTraceExporter({
    url: settings.url.reveal(),
    headers: parseHeaders(settings.headers?.reveal()),
    timeoutMillis: exportTimeoutMs,
    concurrencyLimit: batchesInFlightMax,
  })
  let waiting = 0
  let isFailing = false
  const exporter: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length
      otlp.export(spans, (result: ExportResult) => {
        const failed = result.code !== ExportResultCode.SUCCESS
        events.count(failed ? 'failed' : 'exported', spans.length)
        if (failed !== isFailing) events.isFailing(failed)
        isFailing = failed
        done(result)
      })
    },
    shutdown: () => otlp.shutdown(),
    forceFlush: () => otlp.forceFlush(),
  }
  const batches = new BatchSpanProcessor({
    exporter,
    maxQueueSize: queueMax,
    maxExportBatchSize: batchMax,
    scheduledDelayMillis: sendEveryMs,
    exportTimeoutMillis: exportTimeoutMs + 1_000,
  })
  return {
    onStart() {},
    onEnd(span: ReadableSpan) {
      if (waiting >= queueMax) return events.count('dropped', 1)
      waiting += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

/** Values are percent-encoded. @source OpenTelemetry protocol exporter, Specifying headers via environment variables */
function parseHeaders(text: string | undefined): Record<string, string> {
  if (text === undefined) return {}
  const pairs = text.split(',').map((pair) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at), decoded(pair.slice(at + 1))]
  })
  return Object.fromEntries(pairs)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
