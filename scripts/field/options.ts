import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type End, oneCommand, takeCommandLine } from '@causeway/cli'
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
  /** Key of the account that pays for the whole run. */
  readonly funderKey: Hex
  readonly sumMicroUsd: bigint
  readonly isDryRun: boolean
  readonly families: readonly FamilyEndpoint[]
  readonly publicOracle: { readonly url: string; readonly apiKey: string | undefined } | undefined
}

const about = 'The services on real test networks for an hour; docs/operating/field.md has the variables.'
const program = oneCommand('npm run field --', about, {
  operands: ['environment'],
  flags: {
    'max-usd': { value: '<sum>', about: 'The most that it may spend; default 20' },
    'dry-run': { about: 'Spend nothing: only tell what it would' },
    out: { value: '<folder>', about: 'For the report and the records; default .field' },
  },
})
/** Whose money is worth something, and whose chains are nobody else's. */
const refusedEnvironments = ['mainnets.prod', 'local']

/** @throws ConfigurationError for values that say nothing, and without a key */
export function parseFieldOptions(
  words: readonly string[],
  variables: Variables,
  root: string,
  end?: End,
): FieldOptions {
  const { args } = takeCommandLine(words, program, end)
  const environmentName = args.operand('environment')
  const environment = environmentName === 'testnets' ? 'testnets.prod' : environmentName
  const maxUsd = args.text('max-usd') ?? '20'
  if (refusedEnvironments.includes(environment))
    throw new ConfigurationError(`The field is no place for ${environment}: npm run field -- testnets`)
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(maxUsd))
    throw new ConfigurationError(`--max-usd is a number of USD, not ${maxUsd}.`)
  const key = readPrivateKeySetting({
    environment: variables,
    name: 'FIELD_PRIVATE_KEY',
    readFile: (path) => readFileSync(path, 'utf8'),
  })
  if (key === undefined)
    throw new ConfigurationError('Set FIELD_PRIVATE_KEY_FILE: the key of the account that pays.')
  const { PUBLIC_ORACLE_URL: url, PUBLIC_ORACLE_API_KEY: apiKey } = variables
  if (url && !URL.canParse(url)) throw new ConfigurationError('PUBLIC_ORACLE_URL is no URL.')
  return {
    environment,
    variables,
    isDryRun: args.isOn('dry-run'),
    sumMicroUsd: parseUnits(maxUsd, 6),
    configDirectory: resolve(root, variables['CONFIG_DIR'] || 'configs'),
    directory: resolve(root, args.text('out') ?? '.field'),
    // CAST: a checked key is 0x and 64 hex digits.
    funderKey: key.reveal() as Hex,
    families: parseFamilyEndpoints(variables['FIELD_READ_URLS']),
    publicOracle: url ? { url, apiKey: apiKey || undefined } : undefined,
  }
}
