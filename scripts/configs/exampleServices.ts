// The four services as tests over all of their settings see them.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { denyListVariables } from '@causeway/chains'
import { type ExampleVariable, exampleVariables, type Finding } from '@causeway/core/config'
import { onTestFinished } from 'vitest'
import { examineAllocator } from '../../apps/allocator/src/compose/examine.ts'
import { examineOwnOracle } from '../../apps/oracle/src/compose/examine.ts'
import { examineQuoteApi } from '../../apps/quote-api/src/compose/examine.ts'
import { examineSolver } from '../../apps/solver/src/compose/examine.ts'
import { tracingVariables } from '../../packages/service/src/index.ts'
import { root } from './writeJson.ts'

/** A service with the example file of its variables, for tests over all of them. */
export type ExampleService = {
  readonly name: string
  readonly config: string
  /** Variables that packages and commands read beside the service's own schema. */
  readonly others: readonly string[]
  /** Configuration files that it reads, and which of their placeholders mean something to it. */
  readonly files: RegExp
  readonly placeholders: RegExp
  readonly examine: typeof examineQuoteApi
}

const signing = (prefix = '') =>
  [
    'SIGNING_MODULE',
    'ECDSA_PRIVATE_KEY',
    'ECDSA_PRIVATE_KEY_FILE',
    'AWS_KMS_SIGNER_KEY_ID',
    'AWS_KMS_SIGNER_KEY_REGION',
  ].map((name) => `${prefix}${name}`)
const ed25519 = (prefix = '') => [`${prefix}ED25519_PRIVATE_KEY`, `${prefix}ED25519_PRIVATE_KEY_FILE`]

const bitcoin = ['BITCOIN_PRIVATE_KEY', 'BITCOIN_PRIVATE_KEY_FILE']
const tron = ['TRON_PRIVATE_KEY', 'TRON_PRIVATE_KEY_FILE']
const lighter = ['LIGHTER_PRIVATE_KEY', 'LIGHTER_API_KEY'].flatMap((name) => [name, `${name}_FILE`])
const hyperliquid = ['HYPERLIQUID_PRIVATE_KEY', 'HYPERLIQUID_PRIVATE_KEY_FILE']

const denyList = Object.keys(denyListVariables)
const tracing = Object.keys(tracingVariables)

export const services: readonly ExampleService[] = [
  {
    name: 'quote-api',
    config: 'apps/quote-api/src/config/config.ts',
    examine: examineQuoteApi,
    others: [
      ...signing(),
      ...signing('EVIDENCE_'),
      ...signing('HUB_'),
      ...denyList,
      ...tracing,
      'SECRETS_DIR',
      'DEPLOYER_PRIVATE_KEY',
      'DEPLOYER_PRIVATE_KEY_FILE',
    ],
    files: /^(chains\.(?!hub)|quote\.)/,
    placeholders: /_RPC_URL$|FILL_WALLET_(ADDRESS|PUBLIC_KEY)$|_BASE_URL$|_PUBLIC_ENDPOINT$/,
  },
  {
    name: 'oracle',
    config: 'apps/oracle/src/compose/config.ts',
    examine: examineOwnOracle,
    others: [...signing(), ...tracing, 'SECRETS_DIR'],
    files: /^chains\./,
    placeholders: /./,
  },
  {
    name: 'solver',
    config: 'apps/solver/src/compose/config.ts',
    examine: examineSolver,
    others: [
      ...signing(),
      ...ed25519(),
      ...bitcoin,
      ...tron,
      ...lighter,
      ...hyperliquid,
      ...signing('HUB_'),
      ...denyList,
      ...tracing,
      'SECRETS_DIR',
    ],
    files: /^(chains\.(?!hub)|quote\.|solver\.)/,
    placeholders: /_RPC_URL$|_BASE_URL$|_FIRST_OUTPUT$/,
  },
  {
    name: 'allocator',
    config: 'apps/allocator/src/compose/config.ts',
    examine: examineAllocator,
    others: [...signing('ALLOCATOR_'), ...ed25519('ALLOCATOR_'), 'SECRETS_DIR'],
    files: /^(chains\.hub|allocator\.)/,
    placeholders: /./,
  },
]

export const read = (path: string) => readFileSync(join(root, path), 'utf8')
export const exampleOf = ({ name }: Pick<ExampleService, 'name'>) =>
  exampleVariables(read(`configs/${name}.example.env`))

const filled: Readonly<Record<string, string>> = {
  ENVIRONMENT: 'mainnets.prod',
  DATABASE_URL: 'postgres://causeway:secret@127.0.0.1:9/causeway',
  ECDSA_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
  ALLOCATOR_ECDSA_PRIVATE_KEY: `0x${'5b'.repeat(32)}`,
  API_KEY_PEPPERS: `v1:${'9e'.repeat(32)}`,
  FILL_WALLET_ADDRESS: `0x${'5f'.repeat(20)}`,
  ORDER_SIGNERS: `0x${'5e'.repeat(20)}`,
  BASE_SIGNING_CAPS: `0x${'0'.repeat(40)}=1000000000000000000`,
  STATE_DIR: '/var/lib/causeway',
}
const byPlaceholder: Readonly<Record<string, string>> = {
  '<secret>': '0123456789abcdef',
  '<url>': 'https://api.example',
  '<endpoint>': 'https://rpc.example/key',
}

/** As an operator fills it in: what stands in angle brackets, and nothing else. */
export function fillIn(variables: readonly ExampleVariable[]): Record<string, string> {
  const needed = variables.filter(({ isRequired }) => isRequired)
  return Object.fromEntries(
    needed.map(({ name, value }) => [name, filled[name] ?? byPlaceholder[value] ?? `nothing for ${name}`]),
  )
}

export const examination = { repositoryRoot: root, nowMs: () => Date.now(), scope: 'settings' } as const
export const stopping = (findings: readonly Finding[]) =>
  findings.filter(({ severity }) => severity === 'stops')

/** The files of an own hub: those of the local one, at addresses that it has not. */
export function ownHubFiles(): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-own-hub-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['chains', 'chains.hub', 'allocator']) {
    const moved = read(`configs/${name}.local.json`)
      .replaceAll('"local"', '"own.prod"')
      .replaceAll(/"0x[0-9a-f]{40}"/g, (address) =>
        address.includes('0'.repeat(20))
          ? address
          : `"0x${createHash('sha256').update(address).digest('hex').slice(0, 40)}"`,
      )
    const json = JSON.parse(moved)
    if (name === 'allocator') for (const one of json.depositories) one.caps ??= {}
    writeFileSync(join(folder, `${name}.own.prod.json`), JSON.stringify(json))
  }
  return folder
}

/** Settings with which a service starts outside `local`: its example, filled in. */
export function startingVariables(service: ExampleService): Record<string, string> {
  const elsewhere: Readonly<Record<string, () => Record<string, string>>> = {
    allocator: () => ({ CONFIG_DIR: ownHubFiles(), ENVIRONMENT: 'own.prod' }),
    // The chain of its solver file.
    solver: () => ({ ENVIRONMENT: 'testnets.prod', BASE_SEPOLIA_RPC_URL: 'https://rpc.example/key' }),
  }
  return { ...fillIn(exampleOf(service)), ...elsewhere[service.name]?.() }
}
