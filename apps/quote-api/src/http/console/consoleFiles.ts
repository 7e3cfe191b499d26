import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigurationError } from '@causeway/core'
import type { PageFile } from '@causeway/http'

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/**
 * Reads the files of a console page into memory, by their names below its URL. `scripts/bundle.mjs` builds them from
 * `packages/console`.
 * @throws ConfigurationError if they were not built
 */
export async function loadConsolePage(page: 'operator' | 'sponsor'): Promise<ReadonlyMap<string, PageFile>> {
  const folder = fileURLToPath(new URL('../../../../../packages/console', import.meta.url))
  const modules = await Promise.all([page, 'shared'].map((name) => modulesIn(join(folder, 'dist'), name)))
  const paths: readonly (readonly [string, string])[] = [
    ['index.html', join(folder, 'pages', `${page}.html`)],
    ['console.css', join(folder, 'pages/console.css')],
    ...modules.flat(),
  ]
  return new Map(
    await Promise.all(
      paths.map(async ([name, path]) => {
        const type = contentTypes[extname(path)] ?? 'application/octet-stream'
        return [name, { type, body: await readFile(path) }] as const
      }),
    ),
  )
}

/** Scripts of one built folder: name below the page's URL, and path. */
async function modulesIn(folder: string, name: string): Promise<readonly (readonly [string, string])[]> {
  const names = await readdir(join(folder, name)).catch((cause: unknown) => {
    throw new ConfigurationError('The pages of the console were not built (packages/console/dist).', {
      cause,
    })
  })
  return names
    .filter((file) => file.endsWith('.js'))
    .sort()
    .map((file) => [`${name}/${file}`, join(folder, name, file)] as const)
}
