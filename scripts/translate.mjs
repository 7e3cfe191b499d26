// Brings `dist` of every package up to its sources, file by file and without checking types, so that seven
// processes of one start do not translate the same modules seven times. `tsc -b` writes the same files.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const repositoryRoot = dirname(dirname(fileURLToPath(import.meta.url)))

/** @returns the number of files written: those that are missing or older than their source */
export async function translateSources(root = repositoryRoot) {
  const stale = [...packageFolders(root).flatMap(staleFiles), ...staleScripts(join(root, 'scripts'))]
  const toTranslate = stale.filter(({ source }) => source.endsWith('.ts'))
  for (const { source, target } of stale)
    if (!source.endsWith('.ts')) replace(target, (to) => copyFileSync(source, to))
  if (toTranslate.length > 0) {
    // Half a second to load, which a start without changes does not pay.
    const { default: ts } = await import('typescript')
    const compilerOptions = readCompilerOptions(ts, root)
    for (const { source, target } of toTranslate) {
      const options = { fileName: source, compilerOptions }
      const { outputText, sourceMapText } = ts.transpileModule(await readFile(source, 'utf8'), options)
      replace(`${target}.map`, (to) => writeFileSync(to, withSource(sourceMapText, source, target)))
      replace(target, (to) => writeFileSync(to, outputText))
    }
  }
  return stale.length
}

/** The JavaScript of a source file of a package, or of `npm start`. @param source path from the repository's root */
export function translatedFile(source) {
  return source
    .replace(/^scripts\//, 'scripts/dist/')
    .replace('/src/', '/dist/')
    .replace(/\.ts$/, '.js')
}

/** What `npm start` itself is made of. */
function staleScripts(folder) {
  const own = join(folder, 'start')
  if (!existsSync(own)) return []
  const names = ['start.ts', ...readdirSync(own).map((name) => join('start', name))]
  return names
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => ({
      source: join(folder, name),
      target: join(folder, 'dist', name.replace(/\.ts$/, '.js')),
    }))
    .filter(({ source, target }) => modifiedMs(target) < modifiedMs(source))
}

function packageFolders(root) {
  return ['packages', 'apps'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => join(root, folder, name)),
  )
}

function staleFiles(folder) {
  const sources = join(folder, 'src')
  return readdirSync(sources, { recursive: true })
    .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => ({
      source: join(sources, name),
      target: join(folder, 'dist', name.replace(/\.ts$/, '.js')),
    }))
    .filter(({ source, target }) => modifiedMs(target) < modifiedMs(source))
}

function modifiedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY
}

function readCompilerOptions(ts, root) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  // `NodeNext` asks the nearest package.json, which a file translated alone does not know.
  return { ...options, module: ts.ModuleKind.ESNext, sourceMap: true }
}

function withSource(mapText, source, target) {
  return JSON.stringify({ ...JSON.parse(mapText), sources: [relative(dirname(target), source)] })
}

/** Another start may read the file now, or write it too. */
function replace(file, write) {
  mkdirSync(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}`
  write(draft)
  renameSync(draft, file)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  console.log(`${await translateSources(process.argv[2])} files translated`)
}
