import { type ListedFile, listedFiles, type WayName, wayNames, ways, waysPage } from '../ways/listedFiles.ts'
import type { Check, Finding, RepositoryFile } from './finding.ts'
import { importsInside, reachedFrom } from './folders.ts'

/**
 * Each way of the page lists files that exist, that its service loads, and that say what they do. Whether a request
 * runs through them is seen by `test/ways.test.ts`, which asks the services.
 */
export const waysCheck: Check = { name: 'ways', find: findUntrueWays }

function findUntrueWays(files: readonly RepositoryFile[]): readonly Finding[] {
  const page = files.find(({ path }) => path === waysPage)?.text
  if (page === undefined) return [{ file: waysPage, problem: 'is missing' }]
  const paths = new Set(files.map(({ path }) => path))
  const imports = importsOf(files)
  return wayNames.flatMap((way) => {
    const listed = listedFiles(page, way)
    if (listed.length === 0)
      return [{ file: waysPage, problem: `lists no file under "${ways[way].heading}"` }]
    const loaded = reachedFrom(ways[way].main, imports)
    return listed.flatMap((one, index) =>
      problemsOf(one, { way, paths, loaded, earlier: listed.slice(0, index) }).map((problem) => ({
        file: `${waysPage}:${one.line}`,
        problem,
      })),
    )
  })
}

type Known = {
  readonly way: WayName
  readonly paths: ReadonlySet<string>
  readonly loaded: ReadonlySet<string>
  readonly earlier: readonly ListedFile[]
}

function problemsOf({ path, does }: ListedFile, { way, paths, loaded, earlier }: Known): readonly string[] {
  if (!paths.has(path)) return [`lists ${path}, which does not exist`]
  return [
    ...(loaded.has(path) ? [] : [`lists ${path}, which ${ways[way].main} does not load`]),
    ...(does === '' ? [`does not say what ${path} does`] : []),
    ...(earlier.some((other) => other.path === path) ? [`lists ${path} twice`] : []),
  ]
}

const packageImport = /from '@causeway\/([a-z0-9-]+)'/g

/** What each shipped file loads: its neighbours by path, and other packages by their index. */
function importsOf(files: readonly RepositoryFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>()
  const add = (from: string, to: string) => imports.set(from, (imports.get(from) ?? new Set()).add(to))
  for (const { from, to } of importsInside(files)) add(from, to)
  for (const { path, text } of files) {
    if (!/^(?:apps|packages)\/[^/]+\/src\/.+\.ts$/.test(path)) continue
    for (const [, name] of text.matchAll(packageImport)) add(path, `packages/${name}/src/index.ts`)
  }
  return imports
}
