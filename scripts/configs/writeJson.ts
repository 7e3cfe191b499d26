import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Writes a file as the repository's formatter wants it. `path` is relative to the root. */
export function writeJson(path: string, value: unknown): void {
  const file = join(root, path)
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'format', '--write', file],
    {
      cwd: root,
      stdio: 'ignore',
    },
  )
}
