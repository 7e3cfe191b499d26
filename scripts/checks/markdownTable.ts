/** One row of a Markdown table: its cells without padding, and its line in the page. */
export type TableRow = { readonly cells: readonly string[]; readonly line: number }

/**
 * The body rows of all tables of a page whose header row equals `header`.
 * `\|` in a cell is a plain bar.
 */
export function tableRows(page: string, header: readonly string[]): readonly TableRow[] {
  const rows: TableRow[] = []
  let inside = false
  for (const [index, text] of page.split('\n').entries()) {
    const cells = cellsOf(text)
    if (cells === undefined) inside = false
    else if (!inside) inside = cells.join('|') === header.join('|')
    else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) rows.push({ cells, line: index + 1 })
  }
  return rows
}

function cellsOf(line: string): readonly string[] | undefined {
  const trimmed = line.trim()
  if (!trimmed.startsWith('|') || !trimmed.endsWith('|')) return undefined
  return trimmed
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}
