import { posix } from 'node:path'
import ts from 'typescript'
import type { Check, Finding, RepositoryFile } from './finding.ts'

/**
 * Folders of an app, and files beside them, from the lowest to the highest: each may import what stands before it. The market and
 * everything else that is shared are packages, which `dependencies.ts` watches over.
 * @source docs/decisions/0013-folders-are-layers.md
 */
const layers: Readonly<Record<string, readonly string[]>> = {
  'apps/quote-api/src': [
    'jobs',
    'access',
    'chainReadings',
    'pricing',
    'requests',
    'webhooks',
    'money',
    'config',
    'operate',
    'http',
    'compose',
  ],
  'apps/solver/src': ['judge', 'work', 'wallet', 'facts', 'filling', 'compose'],
  'apps/allocator/src': ['payloads', 'keys', 'state', 'hub', 'rounds', 'compose'],
  'apps/oracle/src': [
    'wire',
    'attestations',
    'peers',
    'halt',
    'readers.ts',
    'caps',
    'service',
    'ahead',
    'http',
    'compose',
  ],
}

/**
 * Imports between folders point one way: in an app by its layers, everywhere else by being free of circles.
 * A folder may not refer to what is made of it.
 */
export const foldersCheck: Check = {
  name: 'folders',
  find: (files) => {
    const imports = importsInside(files)
    const folders = new Set(imports.flatMap(({ from, to }) => [...parentsOf(from), ...parentsOf(to)]))
    return [
      ...imports.flatMap(againstLayers),
      ...[...folders]
        .filter((folder) => layers[folder] === undefined)
        .sort()
        .flatMap((folder) => circlesIn(folder, imports)),
    ]
  },
}

/** An import between two files, both as paths of the repository. */
export type Import = { readonly from: string; readonly to: string }

const shippedFile = /^(?:packages|apps)\/[^/]+\/src\/.+(?<!\.test)\.ts$/

/** Imports of shipped files by a relative path, both ends as paths of the repository. */
export function importsInside(files: readonly RepositoryFile[]): readonly Import[] {
  return files
    .filter(({ path }) => shippedFile.test(path))
    .flatMap(({ path, text }) =>
      ts
        .preProcessFile(text, true, true)
        .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
        .map(({ fileName }) => ({ from: path, to: posix.join(posix.dirname(path), fileName) })),
    )
}

/** Every folder around a file, from its package's `src` inwards. */
function parentsOf(path: string): readonly string[] {
  const parts = path.split('/')
  const source = parts.indexOf('src') + 1
  const depths = parts.length - source
  return Array.from({ length: depths }, (_, depth) => parts.slice(0, source + depth).join('/'))
}

function againstLayers({ from, to }: Import): readonly Finding[] {
  const [root = ''] = parentsOf(from)
  const order = layers[root]
  const own = childOf(root, from)
  const other = childOf(root, to)
  if (order === undefined || own === undefined || other === undefined || own === other) return []
  if (!own.endsWith('.ts') && !order.includes(own)) {
    return [{ file: from, problem: `the folder ${own} has no place in the layers of ${root}` }]
  }
  // Other files directly in `src` start the app: they are above every folder.
  const placeOf = (child: string) => (order.includes(child) ? order.indexOf(child) : order.length)
  return placeOf(other) > placeOf(own)
    ? [{ file: from, problem: `${own} stands below ${other} and must not import ${to}` }]
    : []
}

/** The folder or file of `folder` that `path` is in; undefined when it is in none. */
function childOf(folder: string, path: string): string | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined
  return path.slice(folder.length + 1).split('/')[0]
}

/** Packages that are shipped: no two files of theirs import each other either. */
const strictFolder = /^packages\/(?!localnet\/)/

/** Circles among files and folders of one folder. Outside of shipped packages at least one part is a folder. */
function circlesIn(folder: string, imports: readonly Import[]): readonly Finding[] {
  const edges = imports.flatMap(({ from, to }) => {
    const [own, other] = [childOf(folder, from), childOf(folder, to)]
    return own === undefined || other === undefined || own === other ? [] : [{ own, other, from, to }]
  })
  const targets = new Map<string, Set<string>>()
  for (const { own, other } of edges) {
    targets.set(own, (targets.get(own) ?? new Set<string>()).add(other))
  }
  const reach = new Map([...targets.keys()].map((start) => [start, reachedFrom(start, targets)]))
  return edges
    .filter(({ own, other }) => reach.get(other)?.has(own) === true)
    .filter(({ own, other }) => strictFolder.test(folder) || !own.endsWith('.ts') || !other.endsWith('.ts'))
    .map(({ own, other, from, to }) => ({
      file: from,
      problem: `${folder}: ${own} and ${other} import each other, here ${to}`,
    }))
}

/** Everything that can be reached from `start`, itself only where a circle leads back. */
export function reachedFrom(
  start: string,
  targets: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [start]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const target of targets.get(next) ?? []) {
      if (reached.has(target)) continue
      reached.add(target)
      open.push(target)
    }
  }
  return reached
}
