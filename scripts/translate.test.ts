// Goal: a start runs what the sources say, and translates only what changed. Method: a small repository of its own.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const repositoryRoot = join(import.meta.dirname, '..')
const run = promisify(execFile)

async function smallRepository(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'causeway-translate-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await cp(join(repositoryRoot, 'tsconfig.base.json'), join(root, 'tsconfig.base.json'))
  for (const folder of ['packages/a/src', 'apps']) await mkdir(join(root, folder), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'packages/a/src', name), text)
  return root
}

async function translate(root: string): Promise<string> {
  const { stdout } = await run(process.execPath, [join(repositoryRoot, 'scripts/translate.mjs'), root])
  return stdout.trim()
}

const one = 'export const one: number = 1\n'
const main = "import { one } from './one.ts'\nconsole.log(one + 1)\n"

test('writes modules that run, and no tests', async () => {
  const root = await smallRepository({
    'one.ts': one,
    'main.ts': main,
    'main.test.ts': one,
    'plain.js': '1\n',
  })
  expect(await translate(root)).toBe('3 files translated')
  await writeFile(join(root, 'package.json'), '{"type":"module"}')
  const { stdout } = await run(process.execPath, [join(root, 'packages/a/dist/main.js')])
  expect(stdout).toBe('2\n')
  const map = JSON.parse(await readFile(join(root, 'packages/a/dist/main.js.map'), 'utf8'))
  expect(map.sources).toEqual(['../src/main.ts'])
})

test('writes again what changed, and nothing else', async () => {
  const root = await smallRepository({ 'one.ts': one, 'main.ts': main })
  await translate(root)
  expect(await translate(root)).toBe('0 files translated')
  const changed = join(root, 'packages/a/src/one.ts')
  await writeFile(changed, 'export const one: number = 41\n')
  await utimes(changed, new Date(), new Date(Date.now() + 5_000))
  expect(await translate(root)).toBe('1 files translated')
  expect(await readFile(join(root, 'packages/a/dist/one.js'), 'utf8')).toContain('one = 41')
})

test.each(['solver', 'allocator'])('causeway %s is a command of that process', async (name) => {
  const words = [
    join(repositoryRoot, 'scripts/run.mjs'),
    '--translated',
    'apps/quote-api/src/cli.ts',
    name,
    'stop',
  ]
  const env = { PATH: process.env['PATH'], ENVIRONMENT: 'nowhere' }
  // The service's own command line knows neither and would list its commands.
  await expect(run(process.execPath, words, { env })).rejects.toMatchObject({
    ...{ code: 1, stdout: '', stderr: expect.not.stringContaining('keys create') },
  })
})
