import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ChainsFile,
  chainsFileSchema,
  type HubFile,
  hubFileSchema,
  type QuoteFile,
  quoteFileSchema,
} from '@causeway/core'

/** The environments that have configuration files. */
export const environments = ['mainnets.prod', 'testnets.prod', 'local'] as const

export const fileNames = (environment: string) => ({
  chains: `chains.${environment}.json`,
  hub: `chains.hub.${environment}.json`,
  quote: `quote.${environment}.json`,
})

/** The three files of one environment, parsed. */
export type ConfigSet = {
  readonly chains: ChainsFile
  readonly hub: HubFile
  readonly quote: QuoteFile
}

/** The three files of one environment as they are written, placeholders included. */
export type RawConfigSet = { readonly chains: unknown; readonly hub: unknown; readonly quote: unknown }

export function readRawConfigSet(folder: string, environment: string): RawConfigSet {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const names = fileNames(environment)
  return { chains: read(names.chains), hub: read(names.hub), quote: read(names.quote) }
}

/** @throws ZodError when a file breaks its schema */
export function parseConfigSet(raw: RawConfigSet): ConfigSet {
  return {
    chains: chainsFileSchema.parse(fillPlaceholders(raw.chains)),
    hub: hubFileSchema.parse(fillPlaceholders(raw.hub)),
    quote: quoteFileSchema.parse(fillPlaceholders(raw.quote)),
  }
}

/** Names of all environment variables that a file takes values from. */
export function placeholdersOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('$') ? [value.slice(1)] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(placeholdersOf)
}

/** Puts a value of the right shape where an operator would, so that the rest of a file can be checked. */
function fillPlaceholders(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith('$'))
    return value.endsWith('_ADDRESS') ? `0x${'ab'.repeat(20)}` : 'http://127.0.0.1:1'
  if (Array.isArray(value)) return value.map(fillPlaceholders)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillPlaceholders(member)]))
}
