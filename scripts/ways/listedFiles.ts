/** The page that lists the ways. */
export const waysPage = 'docs/internals/architecture.md'

/** What a reader follows through a service, the heading of its list, and where the service starts. */
export const ways = {
  amount: { heading: '## The way of an amount', main: 'apps/quote-api/src/main.ts' },
  transactionId: { heading: '## The way of a transaction id', main: 'apps/oracle/src/main.ts' },
} as const

export type WayName = keyof typeof ways
export const wayNames = ['amount', 'transactionId'] as const satisfies readonly WayName[]

/** One file of a list: a line that begins with its path in backticks and says after a colon what it does. */
export type ListedFile = { readonly path: string; readonly does: string; readonly line: number }

/** The files that the page lists for a way, in its order; none where the heading is missing. */
export function listedFiles(page: string, way: WayName): readonly ListedFile[] {
  const lines = page.split('\n')
  const start = lines.indexOf(ways[way].heading)
  if (start < 0) return []
  const after = lines.slice(start + 1)
  const end = after.findIndex((line) => line.startsWith('## '))
  return after.slice(0, end < 0 ? after.length : end).flatMap((text, index) => {
    const [, path, does = ''] = /^\s*- `((?:apps|packages)\/[^`]+)`(?:: (.*))?$/.exec(text) ?? []
    return path === undefined ? [] : [{ path, does: does.trim(), line: start + index + 2 }]
  })
}

/** How a list differs from the files that ran, one line per file. */
export function differences(listed: readonly ListedFile[], ran: readonly string[]): readonly string[] {
  const paths = listed.map(({ path }) => path)
  return [
    ...ran.filter((path) => !paths.includes(path)).map((path) => `${path} runs and is not listed`),
    ...paths.filter((path) => !ran.includes(path)).map((path) => `${path} is listed and did not run`),
  ]
}
