import { migrationChecksum, migrationFileName, olderReleasesLine } from '@causeway/database'
import {
  type FrozenMigration,
  frozenBeforeRules,
  frozenFile,
  migrationPath,
  readFrozen,
} from '../migrations/frozen.ts'
import type { Check, Finding, RepositoryFile } from './finding.ts'

/**
 * A migration that is frozen has run somewhere, so its text stays for good: it is neither changed nor removed, and
 * new ones come behind it. What it takes from the releases before it is said in it, because these run on beside it
 * and after a rollback.
 */
export const migrationsCheck: Check = { name: 'migrations', find: findBrokenMigrations }

const changed =
  'it was changed after it was frozen, and databases have run it as it was: put it back (git log -p shows its text), ' +
  'and make the change by a new migration'
const removed =
  'it is frozen and was removed or renamed, and databases have run it: put it back, and drop what it made by a new ' +
  'migration'
const unfrozen = 'it is not frozen: once its text stands, run npm run tools -- freeze-migrations'

function findBrokenMigrations(files: readonly RepositoryFile[]): readonly Finding[] {
  const list = files.find(({ path }) => path === frozenFile)
  if (list === undefined) return [{ file: frozenFile, problem: 'it is missing: put it back from git' }]
  const frozen = readFrozen(list.text)
  const migrationFiles = files.filter(({ path }) => migrationPath.test(path))
  const paths = new Set(migrationFiles.map(({ path }) => path))
  const gone = frozen.filter(({ path }) => !paths.has(path))
  return [
    ...gone.map(({ path }) => ({ file: path, problem: removed })),
    ...migrationFiles.flatMap((file) =>
      problemsOf(file, frozen).map((problem) => ({ file: file.path, problem })),
    ),
    ...sameNumbers([...paths].sort()),
  ]
}

function problemsOf({ path, text }: RepositoryFile, frozen: readonly FrozenMigration[]): readonly string[] {
  if (!migrationFileName.test(nameOf(path))) return ['its name is not as 0001_orders.sql']
  const frozenIndex = frozen.findIndex((one) => one.path === path)
  const place = frozenIndex < 0 ? frozen.length : frozenIndex
  if (frozenIndex >= 0 && frozen[frozenIndex]?.checksum !== migrationChecksum(text)) return [changed]
  const last = lastOf(folderOf(path), frozen.slice(0, place))
  return [
    ...(place >= frozenBeforeRules ? newMigrationProblems(text) : []),
    ...(place >= frozenBeforeRules && last !== undefined && path < last ? [insertedBefore(last)] : []),
    ...(frozenIndex < 0 ? [unfrozen] : []),
  ]
}

const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1)
const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1)

function lastOf(folder: string, frozen: readonly FrozenMigration[]): string | undefined {
  return frozen
    .map(({ path }) => path)
    .filter((path) => path.startsWith(folder))
    .sort()
    .at(-1)
}

function insertedBefore(last: string): string {
  const next = String(Number(nameOf(last).slice(0, 4)) + 1).padStart(4, '0')
  return `it comes before ${nameOf(last)}, which databases have run: give it number ${next}`
}

function sameNumbers(paths: readonly string[]): readonly Finding[] {
  return paths.flatMap((path, index) => {
    const before = paths[index - 1]
    const numbered = (one: string) => one.slice(0, one.lastIndexOf('/') + 5)
    if (before === undefined || numbered(before) !== numbered(path)) return []
    return [{ file: path, problem: `it has the number of ${nameOf(before)}` }]
  })
}

/** Changes that break an earlier release, by the pattern of the clause. */
const takenAway: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['drops what they use', /\bdrop (?:table|column|function|view|type|sequence|schema)\b/],
  ['renames what they use', /\brename\b/],
  ['changes a type that they write', /\balter (?:column )?\w+ (?:set data )?type\b/],
  ['asks for a value that they do not give', /\bset not null\b/],
  [
    'asks for a value that they do not give',
    /\badd (?:column )?(?!.*\b(?:default|generated)\b).*\bnot null\b/,
  ],
  ['deletes rows', /\btruncate\b|\bdelete from\b/],
]
/** The transaction is that of all migrations of a start. */
const transaction = /(?:^|;)\s*(?:begin|commit|rollback|start transaction)\s*(?:work|transaction)?\s*;/

/** Forbidden statements in a migration that is about to be frozen. */
export function newMigrationProblems(text: string): readonly string[] {
  const statements = statementsOf(text)
  const clauses = statements.split(/[,;]/)
  const taken = takenAway.filter(([, pattern]) => clauses.some((clause) => pattern.test(clause)))
  const reasons = [...new Set(taken.map(([what]) => what))].join(', ')
  return [
    ...(reasons === '' || olderReleasesLine.test(text)
      ? []
      : [
          `the release before it runs beside it and after a rollback, and it ${reasons}: add only, and take away a ` +
            'release later; or say in a line `-- older releases: run on, <why>` or `-- older releases: stop, <why>`',
        ]),
    ...(/\bconcurrently\b/.test(statements) || transaction.test(statements)
      ? ['it leaves the transaction of all migrations, so that a failure would leave it half done']
      : []),
  ]
}

/** In lower case without comments, bodies of functions and what stands in parentheses; one space between words. */
function statementsOf(text: string): string {
  const plain = text.replaceAll(/--.*$/gm, '').replaceAll(/\bas\s+\$(\w*)\$[\s\S]*?\$\1\$/gi, '')
  let statements = plain.toLowerCase().replaceAll(/\s+/g, ' ')
  for (let before = ''; before !== statements; ) {
    before = statements
    statements = statements.replaceAll(/\([^()]*\)/g, '')
  }
  return statements
}
