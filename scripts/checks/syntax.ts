import ts from 'typescript'

/** Calls `visit` for every node of a TypeScript file, parents first. Comments are no nodes. */
export function visitNodes(text: string, visit: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    visit(node)
    ts.forEachChild(node, walk)
  }
  walk(ts.createSourceFile('file.ts', text, ts.ScriptTarget.ES2022, true))
}
