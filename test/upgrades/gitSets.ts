import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { migrationPath } from '../../scripts/migrations/frozen.ts'

type GitSet = {
  readonly title: string
  readonly files: readonly { readonly path: string; readonly text: string }[]
}

const run = promisify(execFile)

/**
 * Every state of the migrations on the main line of the commit that is checked out: no database was made by a branch
 * before it was merged. None where there is no git.
 * @param folders of migrations: to list the others takes seconds
 */
export async function readGitSets(root: string, folders: readonly string[]): Promise<readonly GitSet[]> {
  const git = async (...words: readonly string[]) =>
    (await run('git', words, { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout
  const log = await git('log', '--first-parent', '--format=%h', 'HEAD', '--', ...folders).catch(() => '')
  const commits = log.split('\n').filter((line) => line !== '')
  const states = new Map<string, string>()
  for (const commit of commits) {
    const tree = await git('ls-tree', '-r', commit, '--', ...folders)
    const migrations = tree
      .split('\n')
      .filter((line) => migrationPath.test(line.slice(line.indexOf('\t') + 1)))
    if (migrations.length > 0) states.set(migrations.join('\n'), commit)
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
