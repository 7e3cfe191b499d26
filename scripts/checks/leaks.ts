import type { Check, Finding, RepositoryFile } from './finding.ts'

type Leak = { readonly pattern: RegExp; readonly what: string }

/** Put together from parts, so that this file does not match itself. */
const leaks: readonly Leak[] = [
  {
    pattern: new RegExp(`(?<![\\w.$}])${'/'}(?:home|Users)/[\\w.-]+/`),
    what: 'a path in a home directory',
  },
  { pattern: new RegExp(`(?<![\\w.$}])${'/'}(?:root|work)/[\\w.-]+`), what: 'a path of one machine' },
  { pattern: new RegExp(`https?:${'//'}[^\\s"'\`]*registry[^\\s"'\`]*`), what: 'the address of a registry' },
  { pattern: new RegExp(`${'tarball'}: +https?:`), what: 'a tarball address in the lockfile' },
  { pattern: new RegExp(`-----BEGIN ${'[A-Z ]*'}PRIVATE KEY-----`), what: 'a private key' },
]

/** No tracked file holds a path of somebody's machine, the address of a registry or a private key. */
export const leaksCheck: Check = { name: 'leaks', find: findLeaks }

function findLeaks(files: readonly RepositoryFile[]): readonly Finding[] {
  return files.flatMap(({ path, text }) =>
    leaks.flatMap(({ pattern, what }) => {
      const match = pattern.exec(text)
      if (match === null) return []
      const line = text.slice(0, match.index).split('\n').length
      return [{ file: `${path}:${line}`, problem: `holds ${what}: ${match[0].slice(0, 60)}` }]
    }),
  )
}
