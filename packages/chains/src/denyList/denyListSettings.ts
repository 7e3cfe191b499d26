import { resolve } from 'node:path'
import { Secret } from '@causeway/core'
import type { Findings } from '@causeway/core/config'
import { z } from 'zod'

const seconds = (least: number) => z.coerce.number().int().min(least).max(31_536_000)

/** Schemas of the environment variables that configure the deny list, in every service that applies it. */
export const denyListVariables = {
  DENY_LIST_FILE: z.string().optional(),
  DENY_LIST_URL: z
    .url({ protocol: /^https?$/ })
    .transform((value) => new Secret(value))
    .optional(),
  DENY_LIST_REFRESH_SECONDS: seconds(1).default(60),
  DENY_LIST_MAX_AGE_SECONDS: seconds(1).default(86_400),
  DENY_LIST_ENTRIES_MIN: z.coerce.number().int().min(0).max(1_000_000_000).default(1),
}

export type DenyListSettings = {
  /** Absolute. */
  readonly file: string | undefined
  readonly url: Secret | undefined
  readonly refreshSeconds: number
  /** A list that could not be read again for longer counts as stale. */
  readonly maxAgeSeconds: number
  /** Lists with fewer entries are refused. */
  readonly entriesMin: number
}

/** Parsed values of `denyListVariables`. */
type Values = {
  readonly [Name in keyof typeof denyListVariables]?: z.output<(typeof denyListVariables)[Name]>
}

/**
 * Deny-list settings from the variables. The URL is a secret, because it may hold a token of the operator.
 * @param findings takes settings that must stop the start
 */
export function denyListSettings(
  values: Values,
  { configDirectory, isLocal }: { readonly configDirectory: string; readonly isLocal: boolean },
  findings: Findings,
): DenyListSettings {
  const { DENY_LIST_FILE: file, DENY_LIST_URL: url } = values
  if (!isLocal && url?.reveal().startsWith('http:') === true)
    findings.wrong('DENY_LIST_URL', 'must begin with https: whoever carries it could empty it')
  return {
    file: file === undefined ? undefined : resolve(configDirectory, file),
    url,
    // The defaults of `denyListVariables` again, for variables that did not fit their schema.
    refreshSeconds: values.DENY_LIST_REFRESH_SECONDS ?? 60,
    maxAgeSeconds: values.DENY_LIST_MAX_AGE_SECONDS ?? 86_400,
    entriesMin: values.DENY_LIST_ENTRIES_MIN ?? 1,
  }
}
