import ts from 'typescript'
import { visitNodes } from './syntax.ts'

const testFunctions = new Set(['test', 'it'])

/**
 * The titles of all tests that a file defines, as written: `test('…')`, `test.each(…)('…')`,
 * `test.prop(…)('…')` and their `it` forms. Skipped and to-do tests prove nothing and are left out.
 */
export function testTitlesOf(text: string): ReadonlySet<string> {
  const titles = new Set<string>()
  visitNodes(text, (node) => {
    if (!ts.isCallExpression(node) || !definesTest(node.expression)) return
    const [title] = node.arguments
    if (title !== undefined && ts.isStringLiteralLike(title)) titles.add(title.text)
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
