// Rules of ours that Biome judges: `biome.json` must still ask for them, where they hold and only there.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = dirname(dirname(import.meta.dirname))
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'causeway-lint-'))
  await cp(join(root, 'biome.json'), join(copy, 'biome.json'))
  await cp(join(root, 'scripts/lint'), join(copy, 'scripts/lint'), { recursive: true })
})
afterAll(() => rm(copy, { recursive: true, force: true }))

/** Output of the linter for a file of this text at this path; empty when it has no finding. */
async function lint(path: string, text: string): Promise<string> {
  const file = join(copy, path)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  const args = [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'lint', '--vcs-enabled=false', path]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: copy }, (error, stdout, stderr) => {
      if (error !== null && error.code !== 1) reject(error)
      else resolve(error === null ? '' : `${stdout}${stderr}`)
    })
  })
}

const environment = 'export const a = process.env.PORT\n'
const shipped = 'packages/core/src/a.ts'

test.each([
  ['the environment', 'apps/quote-api/src/config/a.ts', environment, 'noProcessEnv'],
  ['its other spelling', shipped, "export const a = process['env'].PORT\n", 'noProcessEnv'],
  ['its import', shipped, "import { env } from 'node:process'\nexport const a = env.PORT\n", 'noProcessEnv'],
  ['any', shipped, 'export const a: any = 1\n', 'noExplicitAny'],
  ['a non-null assertion', shipped, 'export const a = [1][0]!\n', 'noNonNullAssertion'],
  [
    'the spread of a literal',
    shipped,
    'export const a = { ...{ b: 1 }, c: 2 }\n',
    'instead of spreading a literal',
  ],
])('%s is refused in what is shipped', async (_what, path, text, rule) => {
  expect(await lint(path, text)).toContain(rule)
})

test.each([
  ['the environment in main.ts', 'apps/oracle/src/main.ts', environment],
  ['the environment in the tool', 'apps/quote-api/src/cli.ts', environment],
  ['the environment in scripts', 'bench/run.ts', environment],
  ['a comment', shipped, '// process.env is read in main.ts\n'],
])('%s is let stand', async (_what, path, text) => {
  expect(await lint(path, text)).toBe('')
})
