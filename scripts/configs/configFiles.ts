import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfigFile, resolvePlaceholders } from '@causeway/chains'
import {
  type ChainsFile,
  chainsFileSchema,
  type HubFile,
  hubFileSchema,
  type QuoteFile,
  quoteFileSchema,
} from '@causeway/core/config'

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

/**
 * Parses the files as the services do, with a value of the right shape for every variable.
 * @throws ConfigurationError when a file breaks its schema or is of another environment
 */
export function parseConfigSet(environment: string, raw: RawConfigSet): ConfigSet {
  const names = fileNames(environment)
  const variables = Object.fromEntries(placeholdersOf(raw).map((name) => [name, sampleOf(name)]))
  return {
    chains: loadConfigFile(chainsFileSchema, {
      name: names.chains,
      json: raw.chains,
      environment,
      variables,
    }),
    hub: loadConfigFile(hubFileSchema, { name: names.hub, json: raw.hub, environment, variables }),
    quote: loadConfigFile(quoteFileSchema, { name: names.quote, json: raw.quote, environment, variables }),
  }
}

/** Names of all environment variables that a file takes values from. */
export function placeholdersOf(json: unknown): readonly string[] {
  return resolvePlaceholders(json, {}).unset.map(({ variable }) => variable)
}

function sampleOf(variable: string): string {
  if (variable.endsWith('_PUBLIC_KEY')) return `0x02${'ab'.repeat(32)}`
  return variable.endsWith('_ADDRESS') ? `0x${'ab'.repeat(20)}` : 'http://127.0.0.1:1'
}
