import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { PublishedTypes } from './publishedTypes.ts'

/** An answer as it came over HTTP. */
export type SeenAnswer = { readonly type: keyof PublishedTypes; readonly text: string }

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowImportingTsExtensions: true,
  types: [],
}

/**
 * Compiler errors when each answer, as it is, is assigned to its published type: a member of an unknown name, another
 * kind of value, one that is missing. One list for each answer.
 * @throws Error when the published types themselves do not compile
 */
export function judgeTypes(answers: readonly SeenAnswer[]): readonly (readonly string[])[] {
  const file = fileURLToPath(new URL('./seenAnswers.ts', import.meta.url))
  const lines = answers.map(({ type, text }, index) => {
    const value = JSON.stringify(JSON.parse(text))
    return `export const a${index}: PublishedTypes['${type}'] = ${value}`
  })
  const source = ["import type { PublishedTypes } from './publishedTypes.ts'", ...lines].join('\n')
  const problems = lines.map((): string[] => [])
  for (const { messageText, file: place, start } of diagnosticsOf(file, source)) {
    const words = ts.flattenDiagnosticMessageText(messageText, ' ')
    const line = place?.fileName === file ? place.getLineAndCharacterOfPosition(start ?? 0).line : 0
    const own = problems[line - 1]
    if (own === undefined) throw new Error(`${place?.fileName}: ${words}`)
    own.push(words)
  }
  return problems
}

const parsed = new Map<string, ts.SourceFile | undefined>()

/** Diagnostics of a file that is not on disk; those on disk are parsed once. */
function diagnosticsOf(file: string, source: string): readonly ts.Diagnostic[] {
  const host = ts.createCompilerHost(options)
  const onDisk = { fileExists: host.fileExists, getSourceFile: host.getSourceFile }
  host.fileExists = (path) => path === file || onDisk.fileExists(path)
  host.getSourceFile = (path, language) => {
    if (path === file) return ts.createSourceFile(path, source, language)
    if (!parsed.has(path)) parsed.set(path, onDisk.getSourceFile(path, language))
    return parsed.get(path)
  }
  return ts.getPreEmitDiagnostics(ts.createProgram([file], options, host))
}
