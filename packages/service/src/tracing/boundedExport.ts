import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace'
import type { TracingSettings } from './tracingSettings.ts'

/** Outcome of spans. `failed`: the collector did not take them. `dropped`: above the limit of the queue or of a trace. */
export type SpanOutcome = 'exported' | 'failed' | 'dropped'

export type ExportEvents = {
  count(outcome: SpanOutcome, spans: number): void
  /** Called with true when exports begin to fail, and with false when they succeed again. */
  isFailing(failing: boolean): void
}

const queueMax = 2_048
const batchMax = 256
const sendEveryMs = 1_000
const exportTimeoutMs = 5_000
/** Batches that are being sent at the same time. */
const batchesInFlightMax = 2

/**
 * Exports spans to the collector in batches. At most `queueMax` spans wait and `batchesInFlightMax` batches are being
 * sent. Further spans are dropped and counted, so that a slow or absent collector costs no memory.
 */
export function createBoundedExport(settings: TracingSettings, events: ExportEvents): SpanProcessor {
  const otlp = new OTLPTraceExporter({
    url: settings.url.reveal(),
    headers: parseHeaders(settings.headers?.reveal()),
    timeoutMillis: exportTimeoutMs,
    concurrencyLimit: batchesInFlightMax,
  })
  let waitingCount = 0
  let isFailing = false
  const exporter: SpanExporter = {
    export(spans, done) {
      waitingCount -= spans.length
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
    // Longer than the exporter's own limit, so that the exporter ends each attempt and reports it.
    exportTimeoutMillis: exportTimeoutMs + 1_000,
  })
  return {
    onStart() {},
    onEnd(span: ReadableSpan) {
      // Counted here because the processor drops spans above its limit without saying so.
      if (waitingCount >= queueMax) return events.count('dropped', 1)
      waitingCount += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
}

/** Parses `name=value,name=value` with percent-encoded values. @source OpenTelemetry protocol exporter, Specifying headers via environment variables */
function parseHeaders(text: string | undefined): Record<string, string> {
  if (text === undefined) return {}
  const pairs = text.split(',').map((pair) => {
    const equalsIndex = pair.indexOf('=')
    return [pair.slice(0, equalsIndex), decodeOrKeep(pair.slice(equalsIndex + 1))]
  })
  return Object.fromEntries(pairs)
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
