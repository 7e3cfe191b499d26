// Goal: whoever fills in an example file has a service that starts, knows every variable, and reads what is true on the
// page. Attacks: a variable that the code reads and no file shows, one that nothing reads, a default that differs, a
// placeholder that nobody says where to get, a file that is filled in and refused all the same.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { examineAllocator } from '../../apps/allocator/src/compose/examine.ts'
import { examineOwnOracle } from '../../apps/oracle/src/compose/examine.ts'
import { examineQuoteApi } from '../../apps/quote-api/src/compose/examine.ts'
import { examineSolver } from '../../apps/solver/src/compose/examine.ts'
import { denyListVariables } from '../../packages/chains/src/index.ts'
import {
  type ExampleVariable,
  exampleVariables,
  type Finding,
  findingCodes,
} from '../../packages/core/src/index.ts'
import { loadSecrets, tracingVariables } from '../../packages/http/src/index.ts'
import { tableRows } from '../checks/markdownTable.ts'
import { variablesReadBy } from '../checks/variables.ts'
import { placeholdersOf } from './configFiles.ts'
import { root } from './writeJson.ts'

type Service = {
  readonly name: string
  readonly config: string
  /** What packages and commands read beside the service's own schema. */
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

const services: readonly Service[] = [
  {
    ...{ name: 'quote-api', config: 'apps/quote-api/src/config/config.ts', examine: examineQuoteApi },
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
    placeholders: /_RPC_URL$|FILL_WALLET_ADDRESS$|_BASE_URL$/,
  },
  {
    ...{ name: 'oracle', config: 'apps/oracle/src/compose/config.ts', examine: examineOwnOracle },
    others: [...signing(), ...tracing, 'SECRETS_DIR'],
    files: /^chains\./,
    placeholders: /./,
  },
  {
    ...{ name: 'solver', config: 'apps/solver/src/compose/config.ts', examine: examineSolver },
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
    placeholders: /_RPC_URL$|_BASE_URL$/,
  },
  {
    ...{ name: 'allocator', config: 'apps/allocator/src/compose/config.ts', examine: examineAllocator },
    others: [...signing('ALLOCATOR_'), ...ed25519('ALLOCATOR_'), 'SECRETS_DIR'],
    files: /^(chains\.hub|allocator\.)/,
    placeholders: /./,
  },
]

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const exampleOf = ({ name }: Pick<Service, 'name'>) => exampleVariables(read(`configs/${name}.example.env`))

test.each(services)('O-31: npm run $name starts it', ({ name }) => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')))
  expect(scripts[name]).toBe(`node scripts/run.mjs --translated apps/${name}/src/main.ts`)
})

/** Variables of chains differ by the chain's key alone; FILL_WALLET_ADDRESS is one of its own. */
const kindOf = (name: string) =>
  name.replace(/^.+?_((?:RPC_URL|SIGNING_CAPS|FILL_WALLET_ADDRESS)$)/, '<CHAIN>_$1')
const kinds = (names: readonly string[]) => [...new Set(names.map(kindOf))].sort()

function namedByFiles({ files, placeholders }: Service): readonly string[] {
  return readdirSync(join(root, 'configs'))
    .filter((name) => files.test(name) && name.endsWith('.json'))
    .flatMap((name) => placeholdersOf(JSON.parse(read(`configs/${name}`))))
    .filter((name) => placeholders.test(name))
}

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
function fillIn(variables: readonly ExampleVariable[]): Record<string, string> {
  const needed = variables.filter(({ isRequired }) => isRequired)
  return Object.fromEntries(
    needed.map(({ name, value }) => [name, filled[name] ?? byPlaceholder[value] ?? `nothing for ${name}`]),
  )
}

const examination = { repositoryRoot: root, nowMs: () => Date.now(), scope: 'settings' } as const
const stopping = (findings: readonly Finding[]) => findings.filter(({ severity }) => severity === 'stops')

/** The files of an own hub: those of the local one, at addresses that it has not. */
function ownHubFiles(): string {
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

describe.each(services)('configs/$name.example.env', (service) => {
  const example = exampleOf(service)

  test('lists every variable that the service reads, and no other', () => {
    const reads = [...variablesReadBy(read(service.config)), ...service.others, ...namedByFiles(service)]
    expect(kinds(example.map(({ name }) => name))).toEqual(kinds(reads))
    expect(new Set(example.map(({ name }) => name)).size).toBe(example.length)
  })

  test('says of each in one line what it is or where to get it', () => {
    for (const { name, comment } of example) expect(`${name}: ${comment}`).toMatch(/: .{12,}\.$/)
  })

  test('is refused for its placeholders, each by name, and never for what it leaves out', async () => {
    const raw = Object.fromEntries(
      example.filter(({ isRequired }) => isRequired).map(({ name }) => [name, '']),
    )
    const files = service.name === 'allocator' ? { CONFIG_DIR: ownHubFiles() } : {}
    const environment = service.name === 'allocator' ? 'own.prod' : 'mainnets.prod'
    const found = await service.examine({ ...raw, ...files, ENVIRONMENT: environment }, examination)
    const settings = stopping(found).map(({ setting }) => setting)
    // Caps are needed once a chain can be read.
    const named = Object.keys(raw).filter(
      (name) => name !== 'ENVIRONMENT' && name !== 'BASE_SIGNING_CAPS' && !name.endsWith('_RPC_URL'),
    )
    expect(settings).toEqual(expect.arrayContaining(named))
  })

  test('starts once its placeholders are filled in', async () => {
    const elsewhere: Readonly<Record<string, () => Record<string, string>>> = {
      allocator: () => ({ CONFIG_DIR: ownHubFiles(), ENVIRONMENT: 'own.prod' }),
      // The chain of its solver file.
      solver: () => ({ ENVIRONMENT: 'testnets.prod', BASE_SEPOLIA_RPC_URL: 'https://rpc.example/key' }),
    }
    const variables = { ...fillIn(example), ...elsewhere[service.name]?.() }
    expect(stopping(await service.examine(variables, examination))).toEqual([])
  })
})

/** Commands of a page's section, by block. */
function commandsOf(page: string, heading: string): string {
  const [, section = ''] = read(page).split(`## ${heading}\n`)
  const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/^( *)```sh\n(.*?)```/gms)]
  // A block of a list is indented as a whole.
  return blocks
    .map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
    .join('\n')
}

type Page = {
  readonly path: string
  readonly heading: string
  /** Where its commands put settings and secrets. */
  readonly folder: string
  /** What needs an engine, a cluster or root. */
  readonly elsewhere: RegExp
}

const pages: readonly Page[] = [
  {
    ...{ path: 'docs/operating/containers.md', heading: 'Run with compose', folder: 'docker' },
    elsewhere: /^(docker compose|chown) /,
  },
  {
    ...{ path: 'docs/operating/kubernetes.md', heading: 'Settings', folder: 'deploy/kubernetes' },
    elsewhere: /^kubectl /,
  },
]

test.each(pages)('the commands of $path make files with which every service starts', async (page) => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-containers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(join(root, 'configs'), join(folder, 'configs'), { recursive: true })
  mkdirSync(join(folder, 'docker'))
  const script = commandsOf(page.path, page.heading)
    .split('\n')
    .filter((line) => !page.elsewhere.test(line))
    .join('\n')
  expect(script.split('\n').length).toBeGreaterThan(20)
  execFileSync('sh', ['-eu', '-c', script], { cwd: folder })
  const written = join(folder, page.folder)
  for (const service of services.filter(({ name }) => name !== 'allocator')) {
    const left = exampleVariables(readFileSync(join(written, `${service.name}.env`), 'utf8'))
    const directory = mkdtempSync(join(folder, 'secrets-'))
    cpSync(join(written, 'secrets', service.name), join(directory, service.name))
    // What the page leaves to the operator, and what the compose file and the manifests set.
    const own = {
      ...fillIn(left),
      ...(service.name === 'solver' && { QUOTE_API_URL: 'http://quote-api:3000' }),
    }
    const testnets = { ENVIRONMENT: 'testnets.prod', BASE_SEPOLIA_RPC_URL: 'https://rpc.example/key' }
    const hub = { RELAY_TESTNET_RPC_URL: 'https://rpc.example/key' }
    const variables = await loadSecrets({ environment: { ...own, ...testnets, ...hub }, directory })
    expect([service.name, ...stopping(await service.examine(variables, examination))]).toEqual([service.name])
    expect(Object.keys(own).filter((name) => /KEY|PEPPERS|DATABASE_URL/.test(name))).toEqual([])
  }
})

test('the overlay that the page of Kubernetes writes gives every workload its settings and images', () => {
  const block = commandsOf('docs/operating/kubernetes.md', 'Settings')
  const [, overlay = ''] = /<<'END'\n([\s\S]*?)\nEND\n/.exec(block) ?? []
  const named = z
    .object({
      configMapGenerator: z.array(z.object({ name: z.string(), envs: z.array(z.string()) })),
      images: z.array(z.object({ name: z.string(), digest: z.string() })),
    })
    .parse(parse(overlay))
  const base = readFileSync(join(root, 'docker/kubernetes/kustomization.yaml'), 'utf8')
  const { images } = z.object({ images: z.array(z.object({ name: z.string() })) }).parse(parse(base))
  expect(named.images.map(({ name }) => name)).toEqual(images.map(({ name }) => name))
  for (const { name, envs } of named.configMapGenerator) expect(envs).toEqual([`${name}.env`])
  expect(named.configMapGenerator.map(({ name }) => `causeway/${name}`)).toEqual(
    images.map(({ name }) => name),
  )
})

test('the page of the doctor lists every code of a finding, and no other', () => {
  const rows = tableRows(read('docs/operating/doctor.md'), ['Code', 'What it says'])
  const listed = rows.flatMap(({ cells: [codes = ''] }) =>
    [...codes.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code),
  )
  expect(listed.sort()).toEqual([...findingCodes].sort())
})

test('the page lists the variables of all example files, with their defaults', () => {
  const page = read('docs/operating/configuration.md')
  const namesOf = (cell = '') =>
    [...cell.matchAll(/`((?:<CHAIN>_)?[A-Z][A-Z0-9_]*)`/g)].map(([, name = '']) => name)
  const own = tableRows(page, ['Variable', 'Default', 'Meaning']).filter(
    // Ports of `npm start`, which no service reads.
    ({ cells: [names = ''] }) => !/^`CAUSEWAY_.*PORT`$/.test(names),
  )
  const listed = [
    ...own.flatMap(({ cells }) => namesOf(cells[0])),
    ...tableRows(page, ['Variable', 'Used for']).flatMap(({ cells }) => namesOf(cells[0])),
    ...tableRows(page, ['Variable of a key', 'Meaning']).flatMap(({ cells }) => namesOf(cells[0])),
  ]
  const all = services.flatMap(exampleOf)
  expect(kinds(listed)).toEqual(kinds(all.map(({ name }) => name)))
  const differing = own.flatMap(({ cells: [names, written = ''] }) => {
    const [, value] = /^`([^`<]+)`$/.exec(written) ?? []
    if (value === undefined || /^[A-Z_]+$/.test(value)) return []
    return namesOf(names).filter((name) =>
      // One name may have one default per service.
      all.every((one) => one.name !== name || one.value !== value),
    )
  })
  expect(differing).toEqual([])
})
