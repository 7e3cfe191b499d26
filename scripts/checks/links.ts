import { posix } from 'node:path'
import type { Check, Finding, RepositoryFile } from './finding.ts'

/** Every relative link of a Markdown page leads to a file or folder of the repository. */
export const linksCheck: Check = { name: 'links', find: findDeadLinks }

function findDeadLinks(files: readonly RepositoryFile[]): readonly Finding[] {
  const known = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]))
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map((match) => match[1] ?? '')
        .filter((link) => !/^([a-z]+:|#)/.test(link))
        .filter((link) => !known.has(targetOf(path, link)))
        .map((link) => ({ file: path, problem: `links to ${link}, which does not exist` })),
    )
}

function targetOf(page: string, link: string): string {
  const [target = ''] = link.split('#')
  return posix.join(posix.dirname(page), target).replace(/\/$/, '')
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'))
}
