import ts from 'typescript'
import type { Check, Finding, RepositoryFile } from './finding.ts'
import { visitNodes } from './syntax.ts'

const page = 'docs/reference/errors.md'
const codePattern = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/
/** Node's own error codes, which code may compare with. */
const nodeCodePattern = /^(E[A-Z]+|ERR_\w+|UND_ERR_\w+)$/

/** The page of error codes lists what the code can answer, no more and no less. */
export const errorsCheck: Check = { name: 'error codes', find: findUnlistedCodes }

function findUnlistedCodes(files: readonly RepositoryFile[]): readonly Finding[] {
  const text = files.find((file) => file.path === page)?.text
  if (text === undefined) return [{ file: page, problem: 'is missing' }]
  const listed = new Map(
    text.split('\n').flatMap((line, index) => {
      const [, code] = /^- `([A-Z][A-Z0-9_]*)`.*: .+/.exec(line) ?? []
      return code === undefined ? [] : [[code, index + 1] as const]
    }),
  )
  const thrown = new Map(
    files
      .filter((file) => /^(packages|apps)\/[^/]+\/src\/.*(?<!\.test)\.ts$/.test(file.path))
      .filter((file) => !file.path.startsWith('packages/localnet/'))
      .flatMap((file) => [...errorCodesOf(file.text)].map((code) => [code, file.path] as const)),
  )
  return [
    ...[...thrown]
      .filter(([code]) => !listed.has(code))
      .map(([code, file]) => ({ file, problem: `${code} is not in ${page}` })),
    ...[...listed]
      .filter(([code]) => !thrown.has(code))
      .map(([code, line]) => ({ file: `${page}:${line}`, problem: `no code answers ${code}` })),
  ]
}

const memberPattern = /^(this\.)?(code|errorCode|errorCodes|codeForField)$/
const tablePattern = /Error(Kinds|Codes)$/
const mayHaveCodes = (text: string): boolean =>
  (/'[A-Z][A-Z0-9_]*'/.test(text) && /\b(code|errorCode|errorCodes|codeForField)\b/.test(text)) ||
  /Error(Kinds|Codes)\b/.test(text)

/**
 * The codes in a source file: literals given to a member `code`, `errorCode`, `errorCodes` or
 * `codeForField`, as values or as types, and the names in a table called `…ErrorKinds` or `…ErrorCodes`.
 */
export function errorCodesOf(text: string): ReadonlySet<string> {
  const codes = new Set<string>()
  // Parsing every file takes seconds, and few have a name that gives codes.
  if (!mayHaveCodes(text)) return codes
  const keep = (code: string) => {
    if (codePattern.test(code) && !nodeCodePattern.test(code)) codes.add(code)
  }
  visitNodes(text, (node) => {
    const name = nameOf(node)
    if (name === undefined) return
    if (memberPattern.test(name)) keepLiterals(node, keep)
    else if (tablePattern.test(name))
      for (const key of node.getText().matchAll(/\b[A-Z][A-Z0-9_]+\b/g)) keep(key[0])
  })
  return codes
}

/** Name of the target that a declaration, member or assignment gives a value to. */
function nameOf(node: ts.Node): string | undefined {
  if (ts.isPropertyDeclaration(node) || ts.isPropertyAssignment(node) || ts.isPropertySignature(node))
    return node.name.getText()
  if (ts.isVariableDeclaration(node)) return node.name.getText()
  const assigns = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken
  return assigns ? node.left.getText() : undefined
}

function keepLiterals(node: ts.Node, keep: (code: string) => void): void {
  for (const literal of node.getText().matchAll(/'([^']+)'/g)) keep(literal[1] ?? '')
}
