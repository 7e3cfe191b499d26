import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { RequestTrace, SpanAttributes, Tracing } from '@causeway/http'
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { createBoundedExport, type ExportEvents } from './boundedExport.ts'
import type { TracingSettings } from './tracingSettings.ts'

/** This process's part of one trace: a request, or a run of a job. */
type LocalTrace = {
  /** Spans that may still be added; the limit stops one request with a thousand calls from filling the queue. */
  spansLeft: number
  /** True after the answer; later activity is not recorded. */
  isOver: boolean
}

type ActiveSpan = { readonly span: Span; readonly context: Context; readonly local: LocalTrace }

/**
 * The current span, found through async context; `unsampled` where this trace is not recorded. Outside of
 * every trace there is none: then nothing is recorded, and called services decide themselves whether they
 * begin one.
 */
type Active = ActiveSpan | 'unsampled'

const spansPerTraceMax = 128
/** Length of a `traceparent` of version 00, the only one that is known. */
const traceparentLengthMax = 55
const closeMaxMs = 2_000
const sampledFlag = 1

/**
 * Tracing by OpenTelemetry's SDK. `openTracing` loads this module only where a collector is configured: it imports some
 * hundred files, and `AsyncLocalStorage` slows down every promise of the process.
 */
export class OtlpTracing implements Tracing {
  readonly #settings: TracingSettings
  readonly #options: ExportEvents & { readonly service: string }
  readonly #provider: TracerProvider
  readonly #tracer: Tracer
  readonly #store = new AsyncLocalStorage<Active>()

  constructor(settings: TracingSettings, options: ExportEvents & { readonly service: string }) {
    this.#settings = settings
    this.#options = options
    this.#provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': options.service }),
      // `#parentOf` has already decided whether a trace is sampled.
      sampler: new AlwaysOnSampler(),
      spanLimits: {
        attributeCountLimit: 16,
        attributeValueLengthLimit: 160,
        eventCountLimit: 0,
        linkCountLimit: 0,
      },
      spanProcessors: [createBoundedExport(settings, options)],
    })
    this.#tracer = this.#provider.getTracer('causeway')
  }

  startRequest(name: string, traceparent: string | undefined, startedAtMs: number): RequestTrace {
    const { context: parent, isSampled } = this.#parentOf(traceparent)
    if (!isSampled) return { traceId: undefined, run: (next) => this.#store.run('unsampled', next) }
    const active = this.#beginTrace(name, SpanKind.SERVER, {}, startedAtMs, parent)
    const { span, local } = active
    return {
      traceId: span.spanContext().traceId,
      run: (next) => this.#store.run(active, next),
      end(attributes, isFailed) {
        if (local.isOver) return
        local.isOver = true
        span.setAttributes(attributes)
        if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end(nowMs())
      },
    }
  }

  runTrace<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T> {
    const { context: parent, isSampled } = this.#parentOf(undefined)
    if (!isSampled) return this.#store.run('unsampled', work)
    const active = this.#beginTrace(name, SpanKind.INTERNAL, attributes, performance.now(), parent)
    return this.#store.run(active, () =>
      finish(active.span, work).finally(() => {
        active.local.isOver = true
      }),
    )
  }

  runSpan<T>(
    name: string,
    attributes: SpanAttributes,
    work: () => Promise<T>,
    kind: 'internal' | 'client' = 'internal',
  ): Promise<T> {
    const spanKind = kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL
    const child = this.#beginChild(name, spanKind, attributes, performance.now())
    return child === undefined ? work() : this.#store.run(child, () => finish(child.span, work))
  }

  recordEndedCall(
    name: string,
    attributes: SpanAttributes,
    { seconds, failure }: { seconds: number; failure: string | undefined },
  ): void {
    const startedAtMs = performance.now() - seconds * 1_000
    const child = this.#beginChild(name, SpanKind.CLIENT, attributes, startedAtMs)
    if (child === undefined) return
    if (failure !== undefined)
      child.span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR })
    child.span.end(nowMs())
  }

  headers(): Readonly<Record<string, string>> {
    const active = this.#store.getStore()
    if (active === undefined) return {}
    if (active === 'unsampled') return { traceparent: unsampledParent() }
    const { traceId, spanId } = active.span.spanContext()
    return { traceparent: `00-${traceId}-${spanId}-01` }
  }

  traceId(): string | undefined {
    const active = this.#store.getStore()
    return active === undefined || active === 'unsampled' ? undefined : active.span.spanContext().traceId
  }

  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, closeMaxMs)
    })
    await Promise.race([this.#provider.shutdown().catch(() => {}), late])
    clearTimeout(timer)
  }

  #begin(
    name: string,
    kind: SpanKind,
    attributes: SpanAttributes,
    startedAtMs: number,
    parent: Context,
  ): Span {
    const startTime = performance.timeOrigin + startedAtMs
    return this.#tracer.startSpan(name, { kind, attributes, startTime }, parent)
  }

  /** Begins this process's part of a trace with its first span. */
  #beginTrace(
    name: string,
    kind: SpanKind,
    attributes: SpanAttributes,
    startedAtMs: number,
    parent: Context,
  ): ActiveSpan {
    const span = this.#begin(name, kind, attributes, startedAtMs, parent)
    const local: LocalTrace = { spansLeft: spansPerTraceMax, isOver: false }
    return { span, context: trace.setSpan(parent, span), local }
  }

  /** Begins a child of the current span; undefined without a current span, or above the limit of spans per trace. */
  #beginChild(name: string, kind: SpanKind, attributes: SpanAttributes, startedAtMs: number) {
    const active = this.#store.getStore()
    if (active === undefined || active === 'unsampled' || active.local.isOver) return undefined
    if (active.local.spansLeft === 0) {
      this.#options.count('dropped', 1)
      return undefined
    }
    active.local.spansLeft -= 1
    const span = this.#begin(name, kind, attributes, startedAtMs, active.context)
    return { span, context: trace.setSpan(active.context, span), local: active.local }
  }

  /** Finds the parent of a new span. The caller decided whether its trace is recorded; for a new trace chance decides. */
  #parentOf(traceparent: string | undefined): { context: Context; isSampled: boolean } {
    const parent =
      traceparent === undefined || traceparent.length > traceparentLengthMax
        ? null
        : parseTraceParent(traceparent)
    if (parent === null) return { context: ROOT_CONTEXT, isSampled: Math.random() < this.#settings.ratio }
    const isSampled = (parent.traceFlags & sampledFlag) === sampledFlag
    return { context: trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }), isSampled }
  }
}

/** Runs work and ends its span, as failed if the work throws. */
async function finish<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    span.setAttribute('error.type', failureOf(error)).setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end(nowMs())
  }
}

/** A `traceparent` that is not sampled: it tells the called service not to begin a trace of its own. */
function unsampledParent(): string {
  const ids = randomBytes(24).toString('hex')
  return `00-${ids.slice(0, 32)}-${ids.slice(32)}-00`
}

const nowMs = () => performance.timeOrigin + performance.now()

/** The code of an error, or the name of its class. Its message is not used, because it may quote secrets. */
function failureOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const code = 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : error.name
}
