import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import type { PageFile } from '@causeway/http'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

/**
 * Reads a page of the console by the names under its prefix: what was translated of `packages/console`, whichever way
 * this code runs.
 * @throws ConfigurationError where it was not translated
 */
export async function loadConsolePage(page: 'operator' | 'sponsor'): Promise<ReadonlyMap<string, PageFile>> {
  const folder = dirname(createRequire(import.meta.url).resolve('@causeway/console/package.json'))
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
