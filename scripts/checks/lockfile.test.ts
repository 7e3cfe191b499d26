// Goal: a change of the lockfile brings no code that the registry does not hold under that name. Method: lockfiles as an
// attacker would send them, each changed in one place from one that is well.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockfileCheck } from './lockfile.ts'

const hash = (letter: string) => `sha512-${letter.repeat(86)}==`

const lockfile = `lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      zod:
        specifier: 'catalog:'
        version: 4.6.7
      older:
        specifier: 'catalog:'
        version: '@a/b@2.4.6(zod@4.6.7)'
      '@causeway/core':
        specifier: workspace:*
        version: link:packages/core
  packages/core: {}
packages:
  zod@4.6.7:
    resolution: {integrity: ${hash('a')}}
  '@a/b@2.4.6':
    resolution: {integrity: ${hash('b')}}
    engines: {node: '>=20'}
snapshots:
  zod@4.6.7: {}
  '@a/b@2.4.6(zod@4.6.7)':
    dependencies:
      zod: 4.6.7
`
const workspace = `minimumReleaseAge: 4320
blockExoticSubdeps: true
catalog:
  zod: 4.6.7
  older: npm:@a/b@2.4.6
`

const problems = (files: Readonly<Record<string, string>>) =>
  lockfileCheck
    .find(
      Object.entries({ 'pnpm-lock.yaml': lockfile, 'pnpm-workspace.yaml': workspace, ...files }).map(
        ([path, text]) => ({ path, text }),
      ),
    )
    .map(({ file, problem }) => `${file}: ${problem}`)

/** @throws Error where nothing would be changed, since such a case could not fail */
function changed(text: string, part: string, other: string): string {
  if (!text.includes(part)) throw new Error(`no ${part}`)
  return text.replace(part, other)
}

test('O-118: takes packages of the registry, folders of the workspace, and other names that the catalog gives', () => {
  expect(problems({})).toEqual([])
})

/** Apart, so that the check of addresses in this repository does not match this file. */
const archive = 'tarball'
const zod = `resolution: {integrity: ${hash('a')}}`

test.each([
  [
    'an archive from elsewhere, with a hash of its own',
    zod,
    `resolution: {integrity: ${hash('c')}, ${archive}: https://packages.example/zod-4.6.7.tgz}`,
    'zod@4.6.7 comes from a tarball',
  ],
  [
    'an archive without a hash',
    zod,
    `resolution: {${archive}: https://packages.example/zod-4.6.7.tgz}`,
    'zod@4.6.7 has no SHA-512',
  ],
  [
    'a commit of a repository',
    zod,
    'resolution: {type: git, repo: https://github.com/x/zod, commit: 0f}',
    'zod@4.6.7 comes from a repo',
  ],
  ['a folder', zod, 'resolution: {type: directory, directory: ../zod}', 'zod@4.6.7 comes from a directory'],
  ['a weak hash', zod, 'resolution: {integrity: sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=}', 'has no SHA-512'],
  ['no hash', zod, 'resolution: {}', 'zod@4.6.7 has no SHA-512'],
  [
    'two hashes, of which one is believed',
    zod,
    `resolution: {integrity: ${hash('a')} ${hash('c')}}`,
    'zod@4.6.7 has no SHA-512',
  ],
  [
    'an address in place of a version',
    '  zod@4.6.7:\n    res',
    '  zod@https://codeload.github.com/x/zod/tar.gz/0f:\n    res',
    'is no version of a package in the registry',
  ],
  [
    'another package for a dependency',
    '      zod: 4.6.7',
    '      zod: zodd@4.6.7',
    'takes zodd@4.6.7 for zod',
  ],
  ['an address for a dependency', '      zod: 4.6.7', '      zod: https://x.example/z', 'for zod'],
  [
    'another package under a name that the catalog gives',
    "'@a/b@2.4.6(zod@4.6.7)'\n      '@causeway",
    "zod@4.6.7\n      '@causeway",
    '. takes zod@4.6.7 for older',
  ],
  ['a folder outside the workspace', 'link:packages/core', 'link:../core', '. takes link:../core'],
  ['what is installed and not listed', `  zod@4.6.7:\n    ${zod}\n`, '', 'zod@4.6.7 is among no packages'],
])('O-118: refuses %s', (_name, part, other, problem) => {
  expect(problems({ 'pnpm-lock.yaml': changed(lockfile, part, other) }).join('\n')).toContain(problem)
})

test('O-118: refuses a lockfile that names a package twice', () => {
  const twice = changed(lockfile, 'snapshots:', `  zod@4.6.7:\n    resolution: {tarball: x}\nsnapshots:`)
  expect(() => problems({ 'pnpm-lock.yaml': twice })).toThrow(/unique/)
})

test.each([
  ['no age of releases', 'minimumReleaseAge: 4320\n', '', 'minimumReleaseAge is 0'],
  ['an age of minutes', '4320', '60', 'minimumReleaseAge is 60'],
  [
    'an exception for whatever comes',
    'catalog:',
    'minimumReleaseAgeExclude:\n  - "@a/*"\ncatalog:',
    'has "@a/*"; name one version',
  ],
  [
    'an exception for all versions',
    'catalog:',
    'minimumReleaseAgeExclude:\n  - zod\ncatalog:',
    'has "zod"; name one version',
  ],
  ['addresses below dependencies', 'blockExoticSubdeps: true\n', '', 'blockExoticSubdeps is not true'],
  [
    'another registry',
    'catalog:',
    'registries:\n  default: https://packages.example\ncatalog:',
    'registries takes packages from elsewhere',
  ],
  ['code that changes what is resolved', 'catalog:', 'pnpmfile: x.cjs\ncatalog:', 'pnpmfile takes'],
])('O-118: refuses %s in the settings', (_name, part, other, problem) => {
  expect(problems({ 'pnpm-workspace.yaml': changed(workspace, part, other) }).join('\n')).toContain(problem)
})

test('O-118: takes a fix of one version that is younger', () => {
  const excepted = changed(workspace, 'catalog:', 'minimumReleaseAgeExclude:\n  - zod@4.6.7\ncatalog:')
  expect(problems({ 'pnpm-workspace.yaml': excepted })).toEqual([])
})

test.each(['.npmrc', 'apps/oracle/.npmrc', '.pnpmfile.cjs'])('O-118: refuses %s', (path) => {
  expect(problems({ [path]: '@a:registry=https://packages.example' })).toHaveLength(1)
})

test('O-118: the lockfile of this repository is one', () => {
  const root = join(import.meta.dirname, '..', '..')
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((path) => [path, read(path)] as const)
  expect(problems(Object.fromEntries(files))).toEqual([])
})
