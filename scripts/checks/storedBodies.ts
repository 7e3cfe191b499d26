import ts from 'typescript'
import type { Check, Finding, RepositoryFile } from './finding.ts'
import { visitNodes } from './syntax.ts'

const family = '(solana|bitcoin|hyperliquid|lighter|tron)'
const standIn = /^packages\/localnet\/src\/standIns\/.+\.ts$/
const tests = [
  new RegExp(`^test/families/${family}[^/]*(/.+)?\\.ts$`),
  new RegExp(`^packages/families/src/${family}/reading/answers.*\\.test\\.ts$`),
  new RegExp(`^test/${family}[^/]*\\.ts$`),
]
/** Text of a JSON object or list in which a member has a name. */
const jsonText = /^\s*[[{].*"\s*:/s
/** Names that only the interfaces of services spell so. */
const wireName = /^[a-z]+(_[a-zA-Z0-9]+)+$/

/**
 * Whoever writes down what a chain's service answers says how it is known: a literal body is the `body` of a
 * value with `provenance`, `source` and `proves`.
 */
export const storedBodiesCheck: Check = { name: 'stored bodies', find: findBareBodies }

/** Stand-ins build requests and answers of objects, so that only their JSON is looked at. */
function findBareBodies(files: readonly RepositoryFile[]): readonly Finding[] {
  return files.flatMap(({ path, text }) => {
    const isTest = tests.some((place) => place.test(path))
    if (!isTest && !standIn.test(path)) return []
    return bareBodiesOf(text, isTest).map((line) => ({
      file: `${path}:${line}`,
      problem: 'a body of a service without provenance: make it the `body` of a StoredBody',
    }))
  })
}

/** Lines, counted from 1. */
function bareBodiesOf(text: string, withObjects: boolean): readonly number[] {
  const lines: number[] = []
  visitNodes(text, (node) => {
    if (!(isJson(node) || (withObjects && isWireObject(node))) || hasProvenance(node)) return
    lines.push(node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1)
  })
  return lines
}

function isJson(node: ts.Node): boolean {
  if (ts.isStringLiteralLike(node)) return jsonText.test(node.text)
  return ts.isTemplateExpression(node) && jsonText.test(node.getText().slice(1))
}

/** One that spreads another changes a body that is known already. */
function isWireObject(node: ts.Node): boolean {
  return (
    ts.isObjectLiteralExpression(node) &&
    !node.properties.some(ts.isSpreadAssignment) &&
    node.properties.some(({ name }) => wireName.test(name?.getText() ?? ''))
  )
}

/** Parts of a StoredBody. */
const members = ['provenance', 'source', 'proves', 'body']

function hasProvenance(node: ts.Node): boolean {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (!ts.isObjectLiteralExpression(at)) continue
    const names = new Set(at.properties.map(({ name }) => name?.getText()))
    if (members.every((name) => names.has(name))) return true
  }
  return false
}
