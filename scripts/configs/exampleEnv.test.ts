// Goal: whoever fills in an example file has a service that starts, knows every variable, and reads what is true on the
// page. Attacks: a variable that the code reads and no file shows, one that nothing reads, a default that differs, a
// placeholder that nobody says where to get, a file that is filled in and refused all the same.
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exampleVariables, findingCodes } from '@causeway/core/config'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { loadSecrets } from '../../packages/service/src/index.ts'
import { listedVariables, ownVariables, variablesOfFiles } from '../checks/listedVariables.ts'
import { variablesReadBy } from '../checks/variables.ts'
import { placeholdersOf } from './configFiles.ts'
import {
  type ExampleService,
  examination,
  exampleOf,
  fillIn,
  ownHubFiles,
  read,
  services,
  startingVariables,
  stopping,
} from './exampleServices.ts'
import { root } from './writeJson.ts'

test.each(services)('O-31: npm run causeway -- $name starts it', ({ name }) => {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(read('package.json')))
  expect(scripts['causeway']).toBe('node scripts/run.mjs apps/quote-api/src/cli.ts')
  const [, known = ''] = /^const services = (\[.*\])$/m.exec(read('scripts/run.mjs')) ?? []
  expect(known).toContain(`'${name}'`)
  const words = [`apps/${name}/src/main.ts`, '--help']
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, expect.stringContaining('without a word it runs')])
})

/** Variables of chains differ by the chain's key alone; FILL_WALLET_ADDRESS is one of its own. */
const kindOf = (name: string) =>
  name.replace(/^.+?_((?:RPC_URL|SIGNING_CAPS|FILL_WALLET_ADDRESS)$)/, '<CHAIN>_$1')
const kinds = (names: readonly string[]) => [...new Set(names.map(kindOf))].sort()

function namedByFiles({ files, placeholders }: ExampleService): readonly string[] {
  return readdirSync(join(root, 'configs'))
    .filter((name) => files.test(name) && name.endsWith('.json'))
    .flatMap((name) => placeholdersOf(JSON.parse(read(`configs/${name}`))))
    .filter((name) => placeholders.test(name))
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
    expect(stopping(await service.examine(startingVariables(service), examination))).toEqual([])
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
  /** Folder of the settings and secrets that its commands write. */
  readonly folder: string
  /** Commands that need an engine, a cluster or root. */
  readonly elsewhere: RegExp
}

const pages: readonly Page[] = [
  {
    path: 'docs/operating/containers.md',
    heading: 'Run with compose',
    folder: 'docker',
    elsewhere: /^ *(docker compose|chown) /,
  },
  {
    path: 'docs/operating/kubernetes.md',
    heading: 'Settings',
    folder: 'deploy/kubernetes',
    elsewhere: /^kubectl /,
  },
]

/** Files below a folder, with what they hold. */
function filesBelow(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]))
}

test.each(pages)(
  'O-98: the commands of $path make files with which every service starts, once',
  async (page) => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-containers-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    cpSync(join(root, 'configs'), join(folder, 'configs'), { recursive: true })
    mkdirSync(join(folder, 'docker'))
    const script = commandsOf(page.path, page.heading)
      .split('\n')
      .filter((line) => !page.elsewhere.test(line))
      .join('\n')
    expect(script.split('\n').length).toBeGreaterThan(20)
    const follow = () => execFileSync('sh', ['-eu', '-c', script], { cwd: folder })
    follow()
    const written = join(folder, page.folder)
    for (const { name } of services.filter((service) => service.name !== 'allocator'))
      appendFileSync(join(written, `${name}.env`), '# What the operator wrote himself.\n')
    const before = filesBelow(folder)
    follow()
    expect(filesBelow(folder)).toEqual(before)
    for (const service of services.filter(({ name }) => name !== 'allocator')) {
      const left = exampleVariables(readFileSync(join(written, `${service.name}.env`), 'utf8'))
      const directory = mkdtempSync(join(folder, 'secrets-'))
      cpSync(join(written, 'secrets', service.name), join(directory, service.name))
      // The page leaves some to the operator; the compose file and the manifests set others.
      const own = {
        ...fillIn(left),
        ...(service.name === 'solver' && { QUOTE_API_URL: 'http://quote-api:3000' }),
      }
      const testnets = { ENVIRONMENT: 'testnets.prod', BASE_SEPOLIA_RPC_URL: 'https://rpc.example/key' }
      const hub = { RELAY_TESTNET_RPC_URL: 'https://rpc.example/key' }
      const variables = await loadSecrets({ environment: { ...own, ...testnets, ...hub }, directory })
      expect([service.name, ...stopping(await service.examine(variables, examination))]).toEqual([
        service.name,
      ])
      expect(Object.keys(own).filter((name) => /KEY|PEPPERS|DATABASE_URL/.test(name))).toEqual([])
    }
  },
)

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
  const items = [...read('docs/operating/doctor.md').matchAll(/^- ((?:`[a-z-]+`(?:, )?)+)/gm)]
  const listed = items.flatMap(([, codes = '']) =>
    [...codes.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code),
  )
  expect(listed.sort()).toEqual([...findingCodes].sort())
})

test('the page lists the variables of all example files, with their defaults', () => {
  const page = read('docs/operating/configuration.md')
  const own = listedVariables(page, ownVariables).filter(
    // Ports of `npm start`, which no service reads.
    ({ names }) => !names.some((name) => /^CAUSEWAY_.*PORT$/.test(name)),
  )
  const others = [variablesOfFiles, /^Keys of the allocator/].flatMap((one) => listedVariables(page, one))
  const listed = [...own, ...others].flatMap(({ names }) => names)
  const all = services.flatMap(exampleOf)
  expect(kinds(listed)).toEqual(kinds(all.map(({ name }) => name)))
  const differing = own.flatMap(({ names, byDefault }) => {
    const [, value] = /^`([^`<]+)`$/.exec(byDefault) ?? []
    if (value === undefined || /^[A-Z_]+$/.test(value)) return []
    return names.filter((name) =>
      // One name may have one default per service.
      all.every((one) => one.name !== name || one.value !== value),
    )
  })
  expect(differing).toEqual([])
})
