import { posix } from 'node:path'
import type { Check, Finding, RepositoryFile } from './finding.ts'

/** Every relative link of a Markdown page leads to a file or folder of the repository, and to a heading that is there. */
export const linksCheck: Check = { name: 'links', find: findDeadLinks }

function findDeadLinks(files: readonly RepositoryFile[]): readonly Finding[] {
  const knownPaths = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]))
  const pages = files.filter(({ path }) => path.endsWith('.md'))
  const headings = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]))
  return pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link))
      .flatMap((link) => {
        const target = targetOf(path, link)
        const [, anchor] = link.split('#')
        const anchors = headings.get(target)
        if (!knownPaths.has(target))
          return [{ file: path, problem: `links to ${link}, which does not exist` }]
        if (anchor === undefined || anchors === undefined || anchors.has(anchor)) return []
        return [{ file: path, problem: `links to ${link}, and ${target} has no such heading` }]
      }),
  )
}

/** Names of headings as GitHub makes them: text of links alone, lower case, hyphens for spaces. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

function targetOf(page: string, link: string): string {
  const [target = ''] = link.split('#')
  if (target === '') return page
  return posix.join(posix.dirname(page), target).replace(/\/$/, '')
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_part, index) => parts.slice(0, index + 1).join('/'))
}
