// Appends the migrations that are not frozen yet to the list. No line of it changes: what differs from it is told, as by
// `npm run check`, and then nothing is written.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrationsCheck } from './checks/migrations.ts'
import { readRepositoryFiles } from './checks/repositoryFiles.ts'
import { frozenFile, readFrozen, withUnfrozen } from './migrations/frozen.ts'

const root = join(import.meta.dirname, '..')

/** @returns whether the list is whole now */
export function freezeMigrations(): boolean {
  const files = readRepositoryFiles(root)
  const list = files.find(({ path }) => path === frozenFile)
  const before = list?.text ?? ''
  const text = withUnfrozen(before, files)
  const problems = migrationsCheck.find([
    ...files.filter((file) => file !== list),
    { path: frozenFile, text },
  ])
  for (const { file, problem } of problems) console.error(`${file}: ${problem}`)
  if (problems.length > 0) return false
  writeFileSync(join(root, frozenFile), text)
  const added = readFrozen(text.slice(before.length)).map(({ path }) => path)
  console.log(added.length === 0 ? 'Every migration is frozen already.' : `Frozen: ${added.join(', ')}`)
  return true
}
