import ts from 'typescript'
import { visitNodes } from './syntax.ts'

const testFunctions = new Set(['test', 'it'])

/**
 * The titles of all tests that a file defines: `test('…')`, `test.each(…)('…')`, `test.prop(…)('…')`
 * and their `it` forms. A table of cases gives its title as written and, where its cells are
 * literals, the title of each case. Skipped and to-do tests prove nothing and are left out.
 */
export function testTitlesOf(text: string): ReadonlySet<string> {
  const titles = new Set<string>()
  const constants = new Map<string, ts.Expression>()
  visitNodes(text, (node) => {
    if (ts.isVariableDeclaration(node) && node.initializer !== undefined)
      constants.set(node.name.getText(), node.initializer)
    if (!ts.isCallExpression(node) || !definesTest(node.expression)) return
    const [title] = node.arguments
    if (title === undefined || !ts.isStringLiteralLike(title)) return
    titles.add(title.text)
    for (const row of rowsOf(node.expression, constants)) {
      const expanded = expandTitle(title.text, row)
      if (expanded !== undefined) titles.add(expanded)
    }
  })
  return titles
}

/** True for `test`, `test.concurrent`, `test.each(…)` and the like; the last step must be a call or a name. */
function definesTest(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return testFunctions.has(callee.text)
  if (ts.isPropertyAccessExpression(callee))
    return !['skip', 'todo'].includes(callee.name.text) && definesTest(callee.expression)
  if (ts.isCallExpression(callee)) return definesTest(callee.expression)
  return false
}

/** Rows of the table in `test.each(table)`; empty for other tests and for tables that are computed. */
function rowsOf(
  callee: ts.Expression,
  constants: ReadonlyMap<string, ts.Expression>,
): readonly ts.Expression[] {
  if (!ts.isCallExpression(callee) || !ts.isPropertyAccessExpression(callee.expression)) return []
  if (!['each', 'for'].includes(callee.expression.name.text)) return []
  const [argument] = callee.arguments
  if (argument === undefined) return []
  const table = bare(ts.isIdentifier(argument) ? (constants.get(argument.text) ?? argument) : argument)
  return ts.isArrayLiteralExpression(table) ? table.elements.map(bare) : []
}

/** Without `as const`, `satisfies …` and parentheses. */
function bare(node: ts.Expression): ts.Expression {
  const wrapped =
    ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node)
  return wrapped ? bare(node.expression) : node
}

/** The title of one case; `undefined` when it needs a value that is no literal. */
function expandTitle(title: string, row: ts.Expression): string | undefined {
  const cells = ts.isArrayLiteralExpression(row) ? row.elements : [row]
  const members = ts.isObjectLiteralExpression(row) ? row.properties : []
  let position = 0
  let complete = true
  const put = (value: string | undefined): string => {
    complete &&= value !== undefined
    return value ?? ''
  }
  const expanded = title
    .replace(/%[sdif]/g, () => put(literalText(cells[position++])))
    .replace(/\$(\w+)/g, (_match, name: string) => {
      const member = members.find((candidate) => candidate.name?.getText() === name)
      return put(
        member !== undefined && ts.isPropertyAssignment(member) ? literalText(member.initializer) : undefined,
      )
    })
  return complete ? expanded : undefined
}

function literalText(node: ts.Expression | undefined): string | undefined {
  if (node === undefined) return undefined
  return ts.isStringLiteralLike(node) || ts.isNumericLiteral(node) ? node.text : undefined
}
