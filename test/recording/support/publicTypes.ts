// Checks answers against the public client's own types. Each answer becomes a type, which TypeScript has to find
// assignable to the client's: no schema of ours stands between.
import { join } from 'node:path'
import ts from 'typescript'

/** One answer of a route, as it came. */
export type TypedAnswer = {
  readonly method: string
  /** Without query. */
  readonly path: string
  readonly status: number
  readonly body: unknown
}

const root = join(import.meta.dirname, '../../..')
const typesFile = join(root, 'node_modules/@relayprotocol/relay-sdk/_types/src/types/api.d.ts')
const checkFile = join(root, 'test/recording/support/answers.generated.ts')

/** The routes that the client's types describe. */
function publicRoutes(): readonly { readonly method: string; readonly path: string }[] {
  const { source } = readTypes()
  const paths = source.statements.find(
    (node) => ts.isInterfaceDeclaration(node) && node.name.text === 'paths',
  )
  if (paths === undefined || !ts.isInterfaceDeclaration(paths)) throw new Error('the types name no paths')
  return paths.members.flatMap((member) => {
    if (!ts.isPropertySignature(member) || !ts.isStringLiteral(member.name)) return []
    if (member.type === undefined || !ts.isTypeLiteralNode(member.type)) return []
    const path = member.name.text
    return member.type.members.flatMap(({ name }) =>
      name !== undefined && ts.isIdentifier(name) ? [{ method: name.text.toUpperCase(), path }] : [],
    )
  })
}

/** Problems of the answers, a sentence each; only successes of routes that the client knows are checked. */
export function typeProblems(answers: readonly TypedAnswer[]): readonly string[] {
  const routes = publicRoutes()
  const known = new Map<string, string>()
  const checks = answers.flatMap(({ method, path, status, body }) => {
    const route = routes.find((one) => one.method === method && patternOf(one.path).test(path))
    if (route === undefined || status !== 200) return []
    const own = typeOf(body)
    const key = `${method} ${route.path} ${own}`
    if (known.has(key)) return []
    known.set(key, path)
    const wanted = `paths['${route.path}']['${method.toLowerCase()}']['responses'][200]['content']['application/json']`
    return [
      { of: `${method} ${path}`, line: `{ const check = (own: ${own}): ${wanted} => own; void check }` },
    ]
  })
  const text = [`import type { paths } from '${typesFile}'`, ...checks.map(({ line }) => line)].join('\n')
  return diagnosticsOf(text).map(({ line, message }) => `${checks[line - 1]?.of ?? 'all'}: ${message}`)
}

function diagnosticsOf(text: string): readonly { readonly line: number; readonly message: string }[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.getSourceFile = (name, target, ...rest) =>
    name === checkFile
      ? ts.createSourceFile(name, text, target)
      : getSourceFile.call(host, name, target, ...rest)
  host.fileExists = (name) => name === checkFile || fileExists.call(host, name)
  host.readFile = (name) => (name === checkFile ? text : readFile.call(host, name))
  const program = ts.createProgram([checkFile], options, host)
  const file = program.getSourceFile(checkFile)
  return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
    ({ start, messageText }) => ({
      line: start === undefined || file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line,
      // The mismatch is at the end of the message.
      message: ts.flattenDiagnosticMessageText(messageText, ' ').slice(-400),
    }),
  )
}

/** The type of one JSON value: each text and number is its own type, so that enumerations are checked. */
function typeOf(value: unknown, member = ''): string {
  if (Array.isArray(value)) {
    const items = [...new Set(value.map((item) => typeOf(item)))]
    return items.length === 0 ? 'never[]' : `(${items.join(' | ')})[]`
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, inner]) => `${JSON.stringify(name)}: ${typeOf(inner, name)}`,
    )
    return `{ ${members.join('; ')} }`
  }
  if (typeof value === 'number') return 'number'
  // Digits, hashes and times are not enumerated; leaving them out makes most answers one type.
  if (typeof value === 'string')
    return /^[A-Za-z][\w ./-]{0,40}$/.test(value) && !freeTexts.has(member) ? JSON.stringify(value) : 'string'
  return value === null ? 'null' : String(value)
}

const freeTexts: ReadonlySet<string> = new Set([
  'action',
  'description',
  'message',
  'name',
  'nonce',
  'symbol',
])

function readTypes(): { readonly source: ts.SourceFile } {
  const text = ts.sys.readFile(typesFile)
  if (text === undefined) throw new Error('the public client is not installed')
  return { source: ts.createSourceFile(typesFile, text, ts.ScriptTarget.Latest) }
}

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`)
