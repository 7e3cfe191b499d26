import { Secret } from '@causeway/core'
import { z } from 'zod'

const url = z
  .url({ protocol: /^https?$/ })
  // A secret, because the URL of some collectors contains a key.
  .transform((text) => new Secret(text))

/** OpenTelemetry's standard variables, as schemas for the configuration of every service that can export traces. */
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
  /** Fraction of traces begun by this service that are recorded: 0 to 1. */
  readonly ratio: number
}

type TracingValues = {
  readonly [Name in keyof typeof tracingVariables]?: z.output<(typeof tracingVariables)[Name]>
}

/** @returns undefined where no collector is configured: tracing is off */
export function readTracingSettings(
  values: TracingValues,
  defaultRatio: number,
): TracingSettings | undefined {
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
  const tracesUrl = new URL(base)
  tracesUrl.pathname = `${tracesUrl.pathname.replace(/\/+$/, '')}/v1/traces`
  return tracesUrl.href
}
