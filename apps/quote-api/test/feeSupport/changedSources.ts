import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { createViteServer } from 'vitest/node'

const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..')

/** Sources as somebody would leave them: what to replace, by path from the root of the repository. */
export type Change = Readonly<Record<string, readonly (readonly [text: string, by: string])[]>>

/** The texts of a change. @throws Error where a source does not hold what is to be replaced, once */
function textsOf(change: Change): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(change).map(([path, replacements]) => {
      const file = join(root, path)
      const text = replacements.reduce(
        (before, [old, by]) => {
          if (before.split(old).length !== 2) throw new Error(`${path} does not hold "${old}" once`)
          return before.replace(old, () => by)
        },
        readFileSync(file, 'utf8'),
      )
      return [file, text]
    }),
  )
}

const parsed = new Map<string, ts.SourceFile | undefined>()
/** By the files that were asked for: what did not change since, and hangs on no change, is not checked again. */
const checked = new Map<string, ts.SemanticDiagnosticsBuilderProgram>()

/** Compiler errors in `files` after a change, as `path: message`. Settings are the repository's. */
export function problemsIn(files: readonly string[], change: Change): readonly string[] {
  const { options } = ts.convertCompilerOptionsFromJson(
    ts.readConfigFile(join(root, 'tsconfig.base.json'), (path) => readFileSync(path, 'utf8')).config
      .compilerOptions,
    root,
  )
  const texts = textsOf(change)
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (path, language) => {
    const text = texts.get(path)
    if (text !== undefined) return versioned(ts.createSourceFile(path, text, language))
    if (!parsed.has(path)) parsed.set(path, versioned(getSourceFile(path, language)))
    return parsed.get(path)
  }
  const names = files.map((path) => join(root, path))
  const key = files.join()
  const program = ts.createSemanticDiagnosticsBuilderProgram(
    names,
    { ...options, noEmit: true },
    host,
    checked.get(key),
  )
  checked.set(key, program)
  return names.flatMap((name) => {
    const source = program.getSourceFile(name)
    return program
      .getSemanticDiagnostics(source)
      .map(
        ({ messageText }) => `${relative(root, name)}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
      )
  })
}

/** The compiler tells changed files by a version. */
function versioned<Source extends ts.SourceFile | undefined>(source: Source): Source {
  if (source !== undefined)
    Object.assign(source, { version: createHash('sha256').update(source.text).digest('hex') })
  return source
}

/** Runs the sources with a change in them, beside those that run the tests. */
export async function loadChanged(change: Change) {
  const texts = textsOf(change)
  const server = await createViteServer({
    configFile: false,
    root,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, hmr: false, watch: null },
    optimizeDeps: { noDiscovery: true },
    plugins: [{ name: 'changed-sources', enforce: 'pre', load: (id) => texts.get(id) }],
  })
  return {
    // CAST: the module of that path, as its callers know it; a change adds to values and takes nothing away.
    load: async <Module>(path: string) => (await server.ssrLoadModule(join(root, path))) as Module,
    close: () => server.close(),
  }
}
