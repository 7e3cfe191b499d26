import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { frozenBeforeRules, frozenFile, migrationPath, readFrozen } from '../../scripts/migrations/frozen.ts'
import { readGitSets } from './gitSets.ts'

/** A migration with the text that it had then. */
export type SetFile = { readonly path: string; readonly text: string }

/** The migrations that one state of `main` had. */
export type SchemaSet = {
  readonly title: string
  readonly files: readonly SetFile[]
  /** Its releases keep no checksums in the history of a database. */
  readonly isUnfrozen: boolean
}

const root = join(import.meta.dirname, '../..')

const historySchema = z.object({
  /** Every text that a migration ever had. */
  files: z.array(z.object({ path: z.string().regex(migrationPath), checksum: z.string() })),
  /** Distinct sets in the order of history, with the commit that made each. */
  sets: z.array(z.object({ commit: z.string(), date: z.string(), files: z.array(z.number()) })),
})

type Known = { readonly path: string; readonly checksum: string }

/** Texts that are no file of today stand in `earlier`, named by their checksum. */
async function readText({ path, checksum }: Known, frozen: readonly Known[]): Promise<SetFile> {
  const isToday = frozen.some((one) => one.path === path && one.checksum === checksum)
  const earlier = join(import.meta.dirname, 'earlier', `${checksum.slice(0, 8)}-${basename(path)}`)
  return { path, text: await readFile(isToday ? join(root, path) : earlier, 'utf8') }
}

/**
 * Every distinct set of migration files in the history of `main`: those from before migrations were frozen, by the list
 * beside this file; each beginning of the list of frozen ones, because they are appended, and with it that of each
 * release; and what git knows beyond, where the clone has the history. Commits of merged branches count.
 */
export async function readSchemaSets(): Promise<readonly SchemaSet[]> {
  const frozen = readFrozen(await readFile(join(root, frozenFile), 'utf8'))
  const { files, sets } = historySchema.parse(
    JSON.parse(await readFile(join(import.meta.dirname, 'history.json'), 'utf8')),
  )
  const listed = [
    ...sets.map(({ commit, date, files: places }) => ({
      title: `${commit}, ${date}`,
      known: places.flatMap((place) => files[place] ?? []),
      isUnfrozen: true,
    })),
    ...frozen.slice(frozenBeforeRules).map(({ path }, index) => ({
      title: `frozen with ${path.replace(/\/migrations\/(\d+).*/, ' $1')}`,
      known: frozen.slice(0, frozenBeforeRules + index + 1),
      isUnfrozen: false,
    })),
  ]
  const read = await Promise.all(
    listed.map(async ({ known, ...set }) => ({
      ...set,
      files: await Promise.all(known.map((one) => readText(one, frozen))),
    })),
  )
  const keys = new Set(read.map(keyOf))
  const folders = [...new Set(frozen.map(({ path }) => dirname(path)))]
  const further = (await readGitSets(root, folders)).map((set) => ({ ...set, isUnfrozen: false }))
  return [...read, ...further.filter((set) => !keys.has(keyOf(set)))]
}

/** Equal for sets of the same texts. */
function keyOf({ files }: { readonly files: readonly SetFile[] }): string {
  return JSON.stringify(files.map(({ path, text }) => [path, text]).sort())
}
