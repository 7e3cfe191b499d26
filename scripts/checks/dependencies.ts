import { posix } from 'node:path'
import ts from 'typescript'
import { z } from 'zod'
import type { Check, Finding, RepositoryFile } from './finding.ts'

const scope = '@causeway/'
const packages = [
  ...['core', 'rpc', 'families', 'attestations', 'chains', 'contracts', 'signer', 'market', 'ledger'],
  ...['database', 'http', 'service', 'cli'],
  'localnet',
  // Imported by nothing: browsers load it, and quote-api hands its files out.
  'console',
]

/** Beside `core`. */
const below: Readonly<Record<string, readonly string[]>> = {
  families: ['rpc'],
  attestations: ['families/rules'],
  chains: ['rpc', 'families', 'families/rules'],
  market: ['rpc', 'families', 'families/rules', 'chains'],
  contracts: ['families/rules'],
  ledger: ['families/rules'],
  signer: ['families/rules'],
  service: ['http', 'database'],
}

/** Files that may start local parts: tests, scripts, bench. */
const developmentFile =
  /^(scripts|bench|test|docs\/guides\/examples)\/|\/test\/|\.test\.ts$|^packages\/localnet\/|(^|\/)vitest\.config\.ts$/
/** Published vectors and the like, which tests of several packages compare with. */
const sharedTestData = /^packages\/[^/]+\/test\/(vectors|fixtures|arbitraries)\//
/** Subpaths that `exports` of some packages declare beside their roots. */
const declaredPart =
  /(?<=^localnet)\/(standIns\/\w+|families|wallets)$|(?<=^contracts)\/codes$|(?<=^families)\/rules$|(?<=^core)\/(config|encodings)$/

/** Dependencies that each of our packages may have. @source docs/decisions/0002-layout-and-packages.md */
export const dependenciesCheck: Check = { name: 'dependencies', find: findForbiddenDependencies }

function findForbiddenDependencies(files: readonly RepositoryFile[]): readonly Finding[] {
  const manifests = files.filter(({ path }) => /(^|\/)package\.json$/.test(path)).map(readManifest)
  return [
    ...manifests.flatMap(findInManifest),
    ...findCycles(manifests),
    ...findOtherVersions(manifests),
    ...files.filter(({ path }) => /\.(ts|mts|tsx)$/.test(path)).flatMap(findInImports),
  ]
}

type Workspace = { readonly kind: 'packages' | 'apps'; readonly name: string; readonly folder: string }

function workspaceOf(path: string): Workspace | undefined {
  const match = /^(packages|apps)\/([^/]+)\//.exec(path)
  if (match === null) return undefined
  const kind = match[1] === 'apps' ? 'apps' : 'packages'
  return { kind, name: match[2] ?? '', folder: `${kind}/${match[2]}` }
}

/**
 * `core` imports nothing of ours, packages import core and what stands before them here, localnet and apps import
 * packages. Tests of a package that speaks SQL may start a database: what is shipped takes an `SqlTx` and owns no pool.
 * Tests of the market check signatures as services do: it is given who recovers them.
 */
function mayImport(from: Workspace, target: string, development: boolean, part = ''): boolean {
  if (!packages.includes(target)) return false
  if (from.name === target) return true
  if (target === 'localnet') return development
  if (from.kind === 'apps' || from.name === 'localnet') return true
  const lower = below[from.name] ?? []
  if (lower.includes(target) || (part !== '' && lower.includes(`${target}${part}`))) return true
  if (target === 'database' && from.name !== 'core') return development
  if (from.name === 'market' && target === 'signer') return development
  return target === 'core' && from.name !== 'core'
}

function findInImports({ path, text }: RepositoryFile): readonly Finding[] {
  const from = workspaceOf(path)
  if (from === undefined) return []
  const development = developmentFile.test(path)
  const problems = importsOf(text).flatMap((specifier) => {
    if (specifier.startsWith('.')) {
      const target = posix.normalize(posix.join(posix.dirname(path), specifier))
      const own = target.startsWith(`${from.folder}/`)
      return own || (development && sharedTestData.test(target))
        ? []
        : [`imports ${specifier}, outside its own package`]
    }
    if (specifier.startsWith('/') || specifier.startsWith('file:')) return [`imports by path: ${specifier}`]
    if (!specifier.startsWith(scope)) return []
    const named = specifier.slice(scope.length)
    const target = named.replace(declaredPart, '')
    if (target.includes('/')) return [`imports the inside of a package: ${specifier}`]
    return mayImport(from, target, development, named.slice(target.length))
      ? []
      : [`${from.name} must not import ${specifier}`]
  })
  return problems.map((problem) => ({ file: path, problem }))
}

function importsOf(text: string): readonly string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map((imported) => imported.fileName)
}

const manifestSchema = z.object({
  name: z.string().default(''),
  version: z.string().default(''),
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
})

type Manifest = z.infer<typeof manifestSchema> & { readonly path: string }

function readManifest({ path, text }: RepositoryFile): Manifest {
  return { path, ...manifestSchema.parse(JSON.parse(text)) }
}

/** Every package has the release's version. */
function findOtherVersions(manifests: readonly Manifest[]): readonly Finding[] {
  const release = manifests.find(({ path }) => path === 'package.json')
  return manifests
    .filter(({ path, version }) => release && workspaceOf(path) !== undefined && version !== release.version)
    .map(({ path, version }) => ({
      file: path,
      problem: `has version ${version}, and the release ${release?.version}`,
    }))
}

/** Development dependencies count: an installation links them too, and warns of the cycle. */
function findCycles(manifests: readonly Manifest[]): readonly Finding[] {
  const dependenciesOf = new Map(
    manifests.map((one) => [one.name, Object.keys({ ...one.dependencies, ...one.devDependencies })]),
  )
  return manifests.flatMap(({ path, name: first }) => {
    const seen = new Set<string>()
    const wayBack = (name: string): readonly string[] | undefined => {
      for (const next of dependenciesOf.get(name) ?? []) {
        if (next === first) return [name, first]
        // A cycle is found once, at the first of its names in the alphabet.
        if (next < first || seen.has(next)) continue
        seen.add(next)
        const rest = wayBack(next)
        if (rest !== undefined) return [name, ...rest]
      }
      return undefined
    }
    const cycle = wayBack(first)
    return cycle === undefined ? [] : [{ file: path, problem: `depends on itself: ${cycle.join(' → ')}` }]
  })
}

function findInManifest(manifest: Manifest): readonly Finding[] {
  const { path } = manifest
  const from = workspaceOf(path)
  if (from === undefined) return []
  const check = (group: Readonly<Record<string, string>>, development: boolean) =>
    Object.keys(group)
      .filter((name) => name.startsWith(scope))
      .filter((name) => !mayImport(from, name.slice(scope.length), development, '/rules'))
      .map((name) => ({ file: path, problem: `${from.name} must not depend on ${name}` }))
  return [...check(manifest.dependencies, false), ...check(manifest.devDependencies, true)]
}
