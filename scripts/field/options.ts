import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigurationError, type Hex } from '@causeway/core'
import { readPrivateKeySetting } from '@causeway/signer'
import { parseUnits } from 'viem'
import { type FamilyEndpoint, parseFamilyEndpoints } from './readings.ts'

type Variables = Readonly<Record<string, string | undefined>>

export type FieldOptions = {
  readonly environment: string
  /** Absolute, as the next. */
  readonly configDirectory: string
  readonly directory: string
  readonly variables: Variables
  /** Of the account that pays for all of it. */
  readonly funderKey: Hex
  readonly sumMicroUsd: bigint
  readonly isDryRun: boolean
  readonly families: readonly FamilyEndpoint[]
  readonly publicOracle: { readonly url: string; readonly apiKey: string | undefined } | undefined
}

const usage = 'npm run field -- testnets [--max-usd 20] [--dry-run] [--out .field]'
/** Whose money is worth something, and whose chains are nobody else's. */
const refusedEnvironments = ['mainnets.prod', 'local']

/** @throws ConfigurationError for words that say nothing, and without a key */
export function parseFieldOptions(
  words: readonly string[],
  variables: Variables,
  root: string,
): FieldOptions {
  const { environment, maxUsd, isDryRun, out } = parseWords(words)
  if (refusedEnvironments.includes(environment))
    throw new ConfigurationError(`The field is no place for ${environment}: ${usage}`)
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(maxUsd))
    throw new ConfigurationError(`--max-usd is a number of USD, not ${maxUsd}.`)
  const key = readPrivateKeySetting({
    ...{ environment: variables, name: 'FIELD_PRIVATE_KEY' },
    readFile: (path) => readFileSync(path, 'utf8'),
  })
  if (key === undefined)
    throw new ConfigurationError('Set FIELD_PRIVATE_KEY_FILE: the key of the account that pays.')
  const { PUBLIC_ORACLE_URL: url, PUBLIC_ORACLE_API_KEY: apiKey } = variables
  if (url && !URL.canParse(url)) throw new ConfigurationError('PUBLIC_ORACLE_URL is no URL.')
  return {
    ...{ environment, variables, isDryRun, sumMicroUsd: parseUnits(maxUsd, 6) },
    configDirectory: resolve(root, variables['CONFIG_DIR'] || 'configs'),
    directory: resolve(root, out),
    // CAST: a checked key is 0x and 64 hex digits.
    funderKey: key.reveal() as Hex,
    families: parseFamilyEndpoints(variables['FIELD_READ_URLS']),
    publicOracle: url ? { url, apiKey: apiKey || undefined } : undefined,
  }
}

function parseWords(words: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        'max-usd': { type: 'string', default: '20' },
        'dry-run': { type: 'boolean', default: false },
        out: { type: 'string', default: '.field' },
      },
    })
    const [named = '', ...more] = positionals
    if (named === '' || more.length > 0) throw new Error('one environment is needed')
    return {
      environment: named === 'testnets' ? 'testnets.prod' : named,
      ...{ maxUsd: values['max-usd'], isDryRun: values['dry-run'], out: values.out },
    }
  } catch (error) {
    throw new ConfigurationError(`${error instanceof Error ? error.message : error}: ${usage}`)
  }
}
