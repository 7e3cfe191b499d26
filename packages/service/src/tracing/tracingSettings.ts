import { Secret } from '@causeway/core'
import { z } from 'zod'

const url = z
  .url({ protocol: /^https?$/ })
  // Some collectors have their key in the URL.
  .transform((text) => new Secret(text))

/** Variables of every service that can tell its traces, by their standard names. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .max(4_096)
    .regex(/^[\w-]+=[^,\r\n]+(,[\w-]+=[^,\r\n]+)*$/, 'must be name=value, separated by commas')
    .transform((text) => new Secret(text))
    .optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).optional(),
}

export type TracingSettings = {
  readonly url: Secret
  readonly headers: Secret | undefined
  /** Fraction of locally started traces that are exported: 0 to 1. */
  readonly ratio: number
}

/** As the variables above are read. */
type TracingValues = {
  readonly [Name in keyof typeof tracingVariables]?: z.output<(typeof tracingVariables)[Name]>
}

/** @returns undefined where no collector is named: tracing is off */
export function tracingSettings(values: TracingValues, defaultRatio: number): TracingSettings | undefined {
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT?.reveal()
  const url = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.reveal() ?? (base && tracesUnder(base))
  if (url === undefined) return undefined
  return {
    url: new Secret(url),
    headers: values.OTEL_EXPORTER_OTLP_HEADERS,
    ratio: values.OTEL_TRACES_SAMPLER_ARG ?? defaultRatio,
  }
}

/** @source OpenTelemetry protocol exporter, Endpoint URLs for OTLP/HTTP */
function tracesUnder(base: string): string {
  const whole = new URL(base)
  whole.pathname = `${whole.pathname.replace(/\/+$/, '')}/v1/traces`
  return whole.href
}
