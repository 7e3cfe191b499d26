import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { frozenFile, migrationPath, readFrozen } from '../../scripts/migrations/frozen.ts'

type GitSet = {
  readonly title: string
  readonly files: readonly { readonly path: string; readonly text: string }[]
}

const run = promisify(execFile)

/**
 * Every state of the migrations on the main line of the commit that is checked out: no database was made by a branch
 * before it was merged, and none by a file that was renamed before it was frozen. None where there is no git.
 * @param folders of migrations: to list the others takes seconds
 */
export async function readGitSets(root: string, folders: readonly string[]): Promise<readonly GitSet[]> {
  const git = async (...words: readonly string[]) =>
    (await run('git', words, { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout
  const log = await git('log', '--first-parent', '--format=%h', 'HEAD', '--', ...folders).catch(() => '')
  const commits = log.split('\n').filter((line) => line !== '')
  const frozen = new Set(readFrozen(await readFile(join(root, frozenFile), 'utf8')).map(({ path }) => path))
  const states = new Map<string, string>()
  for (const commit of commits) {
    const tree = await git('ls-tree', '-r', commit, '--', ...folders)
    const migrations = tree.split('\n').filter((line) => migrationPath.test(pathOf(line)))
    if (migrations.length > 0 && migrations.every((line) => frozen.has(pathOf(line))))
      states.set(migrations.join('\n'), commit)
  }
  const texts = new Map<string, Promise<string>>()
  const textOf = (blob: string) => {
    const text = texts.get(blob) ?? git('cat-file', 'blob', blob)
    texts.set(blob, text)
    return text
  }
  return Promise.all(
    [...states].map(async ([state, commit]) => ({
      title: `${commit}, from git`,
      files: await Promise.all(
        state.split('\n').map(async (line) => {
          const [, , blob = '', path = ''] = line.split(/\s/)
          return { path, text: await textOf(blob) }
        }),
      ),
    })),
  )
}

/** The path of a line of `git ls-tree`. */
const pathOf = (line: string): string => line.slice(line.indexOf('\t') + 1)
