import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigurationError } from '@causeway/core'
import type { PageFile } from '@causeway/http'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/**
 * Reads a page of the console by the names under its prefix: what `scripts/bundle.mjs` wrote of `packages/console`.
 * @throws ConfigurationError where it did not
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
        const type = types[extname(path)] ?? 'application/octet-stream'
        return [name, { type, body: await readFile(path) }] as const
      }),
    ),
  )
}

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
