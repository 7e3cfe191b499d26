// Goal: a seventh family is one folder, its encodings and a line in each of three lists. Attack: the family that some other
// file has to know of, without which it is not attested, or not priced. Method: a copy of these sources with a family more
// in it, which has addresses, ids and a ledger of its own; the copy's compiler, checks and tests.
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { copyCheckout } from '../scripts/checkoutCopy.ts'
import { dependenciesCheck } from '../scripts/checks/dependencies.ts'
import { familiesCheck } from '../scripts/checks/families.ts'
import { foldersCheck } from '../scripts/checks/folders.ts'
import { readRepositoryFiles } from '../scripts/checks/repositoryFiles.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const written = join(root, 'test/addedFamily')
const home = 'packages/families/src/cinder'
const encodings = 'packages/core/src/encodings'
const before = readRepositoryFiles(root)
const copy = mkdtempSync(join(tmpdir(), 'causeway-family-'))
afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** By file, an import and the line that it is for, each before the first line that begins as told. */
const lines: Readonly<Record<string, readonly (readonly [line: string, before: string])[]>> = {
  [`${encodings}/codecs.ts`]: [
    [`import { cinderCodec } from './cinder.ts'`, 'import { ethereumCodec }'],
    [`  'cinder-vm': () => cinderCodec,`, '} as const'],
  ],
  'packages/families/src/registry/families.ts': [
    [`import { cinderFamily } from '../cinder/rules/family.ts'`, 'import { ethereumFamily }'],
    [`  'cinder-vm': cinderFamily,`, '} satisfies'],
  ],
  'packages/families/src/chainFamilies.ts': [
    [`import { cinderChainFamily } from './cinder/chainFamily.ts'`, 'import { ethereumChainFamily }'],
    [`  'cinder-vm': cinderChainFamily,`, '}'],
  ],
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(copy, path)), { recursive: true })
  writeFileSync(join(copy, path), text)
}

const source = (path: string): string => readFileSync(join(written, `${path}.txt`), 'utf8')

/** The family's folder, its encodings and its lines. */
function addFamily(): void {
  for (const path of readdirSync(join(written, 'family'), { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.txt')) write(`${home}/${path.slice(0, -4)}`, source(`family/${path.slice(0, -4)}`))
  write(`${encodings}/cinder.ts`, source('codec.ts'))
  for (const [path, added] of Object.entries(lines)) {
    const text = added.reduce(
      (all, [line, mark]) => {
        const place = all.indexOf(`\n${mark}`)
        if (place === -1) throw new Error(`${path} has no line that begins with ${mark}`)
        return `${all.slice(0, place)}\n${line}${all.slice(place)}`
      },
      readFileSync(join(copy, path), 'utf8'),
    )
    write(path, text)
  }
  for (const name of ['reads.test.ts', 'quotes.test.ts']) write(`test/cinder.${name}`, source(name))
  const config = { test: { include: ['test/cinder.*.test.ts'], testTimeout: 60_000 } }
  write('vitest.cinder.config.ts', `export default ${JSON.stringify(config)}\n`)
  const include = ['packages/*/src', 'apps/*/src', 'test/cinder.*.test.ts']
  const exclude = ['**/node_modules', '**/src/**/*.test.ts', 'packages/console']
  write('tsconfig.cinder.json', JSON.stringify({ extends: './tsconfig.base.json', include, exclude }))
}

/** Both records say that the family is quoted; nothing else does. */
function quoteFamily(): void {
  const add = (path: string, [mark, line]: readonly [string, string], imported: string) => {
    const text = readFileSync(join(copy, home, path), 'utf8')
    write(`${home}/${path}`, `${imported}\n${text.replace(mark, `${mark}\n  ${line}`)}`)
  }
  add(
    'rules/family.ts',
    ['takesDepositFeePayer: false,', 'quoting: cinderQuoting,'],
    `import { cinderQuoting } from './cinderQuoting.ts'`,
  )
  add(
    'chainFamily.ts',
    ['missing: missingEndpoints,', 'quoting: cinderQuotingChain,'],
    `import { cinderQuotingChain } from './quoting/cinderQuotingChain.ts'`,
  )
}

/** @returns what a program of the repository wrote in the copy @throws Error with that, if it fails */
function run(
  script: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules', script), ...args],
    {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, ...environment },
      maxBuffer: 64 * 1_024 * 1_024,
    },
  )
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`)
  return stdout
}

const compile = () => run('typescript-7/bin/tsc', ['-p', 'tsconfig.cinder.json'])
function runTests(isQuoted: boolean): void {
  const environment = { CINDER_IS_QUOTED: isQuoted ? '1' : '0', NO_COLOR: '1' }
  const said = run('vitest/vitest.mjs', ['run', '--config', 'vitest.cinder.config.ts'], environment)
  expect(said).toMatch(/Test Files +2 passed/)
}

/** Shipped files of the copy, as checks read them. */
const shipped = () =>
  [...before.map(({ path }) => path), `${encodings}/cinder.ts`]
    .concat(
      readdirSync(join(copy, home), { recursive: true, encoding: 'utf8' }).map((path) => `${home}/${path}`),
    )
    .filter((path) => lstatSync(join(copy, path)).isFile())
    .map((path) => ({ path, text: readFileSync(join(copy, path), 'utf8') }))

function checkAll(): void {
  const files = shipped()
  for (const check of [familiesCheck, foldersCheck, dependenciesCheck])
    expect(check.find(files), check.name).toEqual([])
  // The rules reach nothing that opens sockets: those are of the other list.
  const isPure = /^packages\/families\/src\/(rules\.ts$|registry\/|rules\/|\w+\/rules\/)/
  expect(reachedFromRules(files).filter((path) => !isPure.test(path))).toEqual([])
  const old = new Map(before.map(({ path, text }) => [path, text]))
  const changed = files.flatMap(({ path, text }) => {
    const earlier = old.get(path)?.split('\n')
    if (path.startsWith(`${home}/`) || earlier?.join('\n') === text) return []
    return [[path, text.split('\n').filter((line) => earlier?.includes(line) === false)] as const]
  })
  expect(Object.fromEntries(changed)).toEqual({
    ...Object.fromEntries(Object.entries(lines).map(([path, added]) => [path, added.map(([line]) => line)])),
    [`${encodings}/cinder.ts`]: [],
  })
}

/** Files of the package that its pure entry reaches. */
function reachedFromRules(
  files: readonly { readonly path: string; readonly text: string }[],
): readonly string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const reached = new Set<string>()
  const open = ['packages/families/src/rules.ts']
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    for (const [, imported = ''] of texts.get(path)?.matchAll(/from '(\.[^']+)'/g) ?? [])
      open.push(join(dirname(path), imported))
  }
  return [...reached]
}

test('F-167, F-168: a family is added by its folder, its encodings and three lines: first read, then quoted', () => {
  copyCheckout(root, copy)
  addFamily()
  checkAll()
  compile()
  runTests(false)
  quoteFamily()
  checkAll()
  compile()
  runTests(true)
}, 900_000)
