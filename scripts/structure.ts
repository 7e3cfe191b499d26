// Reports the size of each package, the imports between its folders, and the longest files; then the length of the
// pages, and their share of rows that name a test.
import ts from 'typescript'
import type { RepositoryFile } from './checks/finding.ts'
import { type Import, importsInside, reachedFrom } from './checks/folders.ts'
import { readRepositoryFiles } from './checks/repositoryFiles.ts'

type Structure = {
  readonly package: string
  readonly files: number
  readonly lines: number
  /** First-level folders of the largest circle; 1 where there is none. */
  readonly circle: number
  /** Files that one other file imports, and nothing else does. */
  readonly singleImporter: number
  readonly under40Lines: number
  readonly longestFile: string
  readonly longestFunction: string
}

const shipped = /^(packages|apps)\/[^/]+\/src\/.+\.ts$/
const notShipped = /\.test\.ts$|\.generated\.ts$/

/** @returns one row per package and app, in the order of their paths */
function measureStructure(files: readonly RepositoryFile[]): readonly Structure[] {
  const sources = files.filter(({ path }) => shipped.test(path) && !notShipped.test(path))
  const packages = [...new Set(sources.map(({ path }) => packageOf(path)))].sort()
  return packages.map((name) =>
    measurePackage(
      name,
      sources.filter(({ path }) => packageOf(path) === name),
    ),
  )
}

function measurePackage(name: string, files: readonly RepositoryFile[]): Structure {
  const imports = importsInside(files)
  const importers = new Map<string, Set<string>>()
  for (const { from, to } of imports) importers.set(to, (importers.get(to) ?? new Set()).add(from))
  const sizes = files.map(({ path, text }) => ({ name: shortName(path), lines: linesOf(text) }))
  const functions = files.flatMap(functionsOf)
  return {
    package: name,
    files: files.length,
    lines: sizes.reduce((sum, { lines }) => sum + lines, 0),
    circle: largestCircle(name, imports),
    singleImporter: [...importers.values()].filter(({ size }) => size === 1).length,
    under40Lines: sizes.filter(({ lines }) => lines < 40).length,
    longestFile: describeLongest(sizes),
    longestFunction: describeLongest(functions),
  }
}

type Sized = { readonly name: string; readonly lines: number }

function describeLongest(sized: readonly Sized[]): string {
  const [longest] = [...sized].sort((a, b) => b.lines - a.lines)
  return longest === undefined ? '' : `${longest.name} ${longest.lines}`
}

function functionsOf({ path, text }: RepositoryFile): readonly Sized[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const sizedEntries: Sized[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const [start, end] = [node.getStart(), node.getEnd()].map(
        (position) => source.getLineAndCharacterOfPosition(position).line,
      )
      const own = node.name?.getText() ?? '(anonymous)'
      sizedEntries.push({ name: own, lines: (end ?? 0) - (start ?? 0) + 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return sizedEntries
}

/** Size of the largest cycle of imports among a package's first-level folders. */
function largestCircle(name: string, imports: readonly Import[]): number {
  const folderOf = (path: string) => path.slice(name.length + '/src/'.length).split('/')[0] ?? ''
  const targets = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    const [own, other] = [folderOf(from), folderOf(to)]
    if (own === other) continue
    targets.set(own, (targets.get(own) ?? new Set()).add(other))
  }
  const reach = new Map([...targets.keys()].map((folder) => [folder, reachedFrom(folder, targets)]))
  const sizes = [...reach].map(
    ([folder, reached]) => [...reached].filter((other) => reach.get(other)?.has(folder)).length,
  )
  return Math.max(1, ...sizes)
}

function packageOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}

function shortName(path: string): string {
  return path.split('/').slice(-1)[0] ?? path
}

type PageSize = {
  readonly folder: string
  readonly pages: number
  readonly words: number
  readonly ofProofRows: number
}

/** @returns one row per folder of pages, and the sum; the changelog is no page */
function measurePages(files: readonly RepositoryFile[]): readonly PageSize[] {
  const pages = files
    .filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md')
    .map(({ path, text }) => ({
      folder: path.includes('/') ? path.split('/').slice(0, 2).join('/') : '.',
      words: wordsOf(text),
      ofProofRows: wordsOf(text.split('\n').filter(isProofRow).join('\n')),
    }))
  const sizeOf = (folder: string, own: typeof pages) => ({
    folder,
    pages: own.length,
    words: own.reduce((sum, { words }) => sum + words, 0),
    ofProofRows: own.reduce((sum, { ofProofRows }) => sum + ofProofRows, 0),
  })
  const folders = [...new Set(pages.map(({ folder }) => folder))].sort()
  return [
    ...folders.map((name) =>
      sizeOf(
        name,
        pages.filter(({ folder }) => folder === name),
      ),
    ),
    sizeOf('all', pages),
  ]
}

const isProofRow = (line: string) => line.startsWith('|') && line.includes('.test.ts`')

function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}

function linesOf(text: string): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

const columns = [
  'package',
  'files',
  'lines',
  'circle',
  'singleImporter',
  'under40Lines',
  'longestFile',
  'longestFunction',
] as const
const pageColumns = ['folder', 'pages', 'words', 'ofProofRows'] as const

function print<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number>>[],
): void {
  const line = (cells: readonly string[]) => console.log(`| ${cells.join(' | ')} |`)
  line(columns)
  line(columns.map(() => '---'))
  for (const row of rows) line(columns.map((column) => String(row[column])))
}

export function printStructure(): void {
  const files = readRepositoryFiles(process.cwd())
  print(columns, measureStructure(files))
  console.log()
  print(pageColumns, measurePages(files))
}
