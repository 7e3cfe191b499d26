import { posix } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Check, Finding, RepositoryFile } from './finding.ts'

const lockfile = 'pnpm-lock.yaml'
const workspace = 'pnpm-workspace.yaml'
/** In minutes, as pnpm counts it. */
const leastReleaseAge = 3 * 24 * 60

const version = /\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?/.source
const registryPackage = new RegExp(`^(@[\\w.~-]+/)?[\\w.~-]+@${version}$`)
/** One version that everybody sees, and no pattern. */
const exactPackage = new RegExp(`^(@[\\w.~-]+/)?[\\w.~-]+@${version}( \\|\\| ${version})*$`)
const sha512 = /^sha512-[A-Za-z0-9+/]{86}==$/

const references = z.record(z.string(), z.string()).default({})
const pins = z.record(z.string(), z.object({ version: z.string() })).default({})
const lockfileSchema = z.object({
  importers: z.record(
    z.string(),
    z.object({ dependencies: pins, devDependencies: pins, optionalDependencies: pins }),
  ),
  packages: z.record(z.string(), z.object({ resolution: z.record(z.string(), z.unknown()) })),
  snapshots: z.record(z.string(), z.object({ dependencies: references, optionalDependencies: references })),
})
const workspaceSchema = z.looseObject({
  catalog: references,
  minimumReleaseAge: z.number().default(0),
  minimumReleaseAgeExclude: z.array(z.string()).default([]),
})
/** Settings by which packages come from elsewhere, or by code of another place. */
const redirections = [
  'registry',
  'registries',
  'namedRegistries',
  'pnpmfile',
  'globalPnpmfile',
  'configDependencies',
]

/**
 * Whoever may change the lockfile could have another package installed than the one that its name says: a frozen
 * install believes it. So each package comes from the registry by its hash, under its own name, and what makes pnpm
 * resolve anew waits until a release has an age.
 */
export const lockfileCheck: Check = { name: 'lockfile', find: findForeignPackages }

function findForeignPackages(files: readonly RepositoryFile[]): readonly Finding[] {
  const textOf = (path: string) => files.find((file) => file.path === path)?.text
  const settings = workspaceSchema.parse(parse(textOf(workspace) ?? '{}'))
  const locked = textOf(lockfile)
  return [
    ...(locked === undefined ? [] : problemsOf(locked, settings.catalog).map(ofFile(lockfile))),
    ...(textOf(workspace) === undefined ? [] : problemsOfSettings(settings).map(ofFile(workspace))),
    ...files.filter(({ path }) => /(^|\/)(\.npmrc|\.pnpmfile\.c?js)$/.test(path)).map(redirecting),
  ]
}

const ofFile = (file: string) => (problem: string) => ({ file, problem })
const redirecting = ({ path }: RepositoryFile) => ({
  file: path,
  problem: 'may take packages from elsewhere; settings of pnpm stand in pnpm-workspace.yaml',
})

function problemsOf(text: string, catalog: Readonly<Record<string, string>>): readonly string[] {
  const lock = lockfileSchema.parse(parse(text))
  const isPinned = (key: string) => Object.hasOwn(lock.snapshots, key)
  const foreign = Object.entries(lock.packages).flatMap(([id, { resolution }]) => {
    const { integrity, ...others } = resolution
    const problems = Object.keys(others).map((name) => `${id} comes from a ${name}, not from the registry`)
    if (!registryPackage.test(id)) problems.push(`${id} is no version of a package in the registry`)
    if (typeof integrity !== 'string' || !sha512.test(integrity)) problems.push(`${id} has no SHA-512`)
    return problems
  })
  const renamed = Object.entries(lock.snapshots).flatMap(([key, { dependencies, optionalDependencies }]) =>
    Object.entries({ ...dependencies, ...optionalDependencies })
      .filter(([name, at]) => !isPinned(`${name}@${at}`))
      .map(([name, at]) => `${key} takes ${at} for ${name}`),
  )
  const imported = Object.entries(lock.importers).flatMap(([folder, groups]) =>
    Object.values(groups).flatMap((group) =>
      Object.entries(group)
        .filter(([name, { version: at }]) => {
          if (isPinned(`${name}@${at}`)) return false
          if (at.startsWith('link:'))
            return !Object.hasOwn(lock.importers, posix.join(folder, at.slice('link:'.length)))
          return !isPinned(at) || catalog[name] !== `npm:${withoutPeers(at)}`
        })
        .map(([name, { version: at }]) => `${folder} takes ${at} for ${name}`),
    ),
  )
  const unnamed = Object.keys(lock.snapshots)
    .filter((key) => !Object.hasOwn(lock.packages, withoutPeers(key)))
    .map((key) => `${key} is among no packages, so nothing says its hash`)
  return [...foreign, ...renamed, ...imported, ...unnamed]
}

/** One package is listed once, whatever its peers are: `ws@8.23.0(bufferutil@4.1.0)`. */
const withoutPeers = (key: string): string => key.replace(/\(.*$/, '')

function problemsOfSettings(settings: z.infer<typeof workspaceSchema>): readonly string[] {
  const { minimumReleaseAge, minimumReleaseAgeExclude } = settings
  return [
    ...(minimumReleaseAge >= leastReleaseAge
      ? []
      : [`minimumReleaseAge is ${minimumReleaseAge}; a release is ${leastReleaseAge} minutes old at least`]),
    ...minimumReleaseAgeExclude
      .filter((entry) => !exactPackage.test(entry))
      .map((entry) => `minimumReleaseAgeExclude has "${entry}"; name one version`),
    ...(settings['blockExoticSubdeps'] === true ? [] : ['blockExoticSubdeps is not true']),
    ...redirections
      .filter((name) => settings[name] !== undefined)
      .map((name) => `${name} takes packages from elsewhere`),
  ]
}
