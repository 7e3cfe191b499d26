import type { Check, Finding, RepositoryFile } from './finding.ts'

const pages = [
  'docs/operating/oracle.md',
  'docs/operating/peers.md',
  'docs/operating/load-and-stopping.md',
  'docs/operating/allocator.md',
  'docs/operating/logs.md',
  'docs/operating/metrics.md',
]
/** Sources of what an oracle logs and measures, and of what every HTTP listener does. */
const sourcePattern =
  /^(apps\/(oracle|allocator)|packages\/(rpc|families\/src\/ethereum|signer|http))\/.*\.ts$/
const isTest = /(\.test\.ts$|\/test\/|Example)/
/** Written as literals, each once, where the line or the metric is made. */
const eventPattern = /\bevent: '([a-z_]+)'|\? '(peer_[a-z]+)'|: '(peer_[a-z]+)'/g
const metricPattern = /\b(?:name: |gauge\(\s*)'((?:oracle|allocator|http)_[a-z_]+)'/g

/** Operators find every event and metric of the oracle and of HTTP on their pages, and none that is not there. */
export const observabilityCheck: Check = { name: 'logs and metrics', find: findUndescribed }

function findUndescribed(files: readonly RepositoryFile[]): readonly Finding[] {
  const text = pages.map((page) => files.find(({ path }) => path === page)?.text ?? '').join('\n')
  const described = new Set([...text.matchAll(/`([a-z_]+)(\{[^`]*\})?`/g)].map((match) => match[1] ?? ''))
  const named = files
    .filter(({ path }) => sourcePattern.test(path) && !isTest.test(path))
    .flatMap(({ path, text: source }) => namesIn(source).map((name) => ({ path, name })))
  const existing = new Set(named.map(({ name }) => name))
  const listed = [...text.matchAll(/^- `((?:oracle|allocator|http)_[a-z_]+)/gm)].map(
    (match) => match[1] ?? '',
  )
  return [
    ...named
      .filter(({ name }) => !described.has(name))
      .map(({ path, name }) => ({ file: path, problem: `${name} is not in ${pages.join(' or ')}` })),
    ...listed
      .filter((name) => !existing.has(name))
      .map((name) => ({ file: pageOf(files, name), problem: `${name} is measured nowhere` })),
  ]
}

function pageOf(files: readonly RepositoryFile[], name: string): string {
  const page = files.find(({ path, text }) => pages.includes(path) && text.includes(`\n- \`${name}`))
  return page?.path ?? pages[0] ?? ''
}

function namesIn(source: string): readonly string[] {
  const matches = [...source.matchAll(eventPattern), ...source.matchAll(metricPattern)]
  return [...new Set(matches.flatMap(([, ...groups]) => groups.filter((group) => group !== undefined)))]
}
