// Goal: whoever runs a command of this repository runs it on one Node, whichever his machine has, or is told why not. Attacks:
// an older Node first in PATH, versions that drift apart, a machine without a package, an installation that lost a part.
// Method: `run.mjs` as npm starts it, here and in a small repository of its own.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { pinnedNode } from './sbom/bills.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
const read = (path: string) => readFile(join(root, path), 'utf8')
const { version, optionalDependencies } = z
  .object({ version: z.string(), optionalDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(await read('scripts/runtime/package.json')))

async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'causeway-runtime-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('O-122: commands and images have one version of Node', async () => {
  const { catalog } = z
    .object({ catalog: z.record(z.string(), z.string()) })
    .parse(parse(await read('pnpm-workspace.yaml')))
  const names = Object.keys(optionalDependencies)
  expect(names).toHaveLength(3)
  for (const name of names) expect([name, catalog[name]]).toEqual([name, version])
  expect(pinnedNode(await read('docker/Dockerfile'))).toBe(version)
})

test('O-122: whichever Node is first in PATH, a script and a test run on the pinned one', async () => {
  const { stdout: path } = await run('node', ['scripts/run.mjs', '--runtime'], { cwd: root })
  expect(await realpath(path.trim())).toBe(await realpath(process.execPath))
  const script = join(await newFolder(), 'version.mts')
  await writeFile(script, 'const { node }: { node: string } = process.versions\nconsole.log(node)\n')
  const words = ['scripts/run.mjs', relative(root, script)]
  const { stdout } = await run('node', words, { cwd: root })
  expect(stdout).toBe(`${process.versions.node}\n`)
})

/** This repository has them too, so they need no registry. */
async function integrityOf(id: string): Promise<string> {
  const [, integrity] =
    new RegExp(`\n  ${id}:\n    resolution: {integrity: (\\S+)}`).exec(await read('pnpm-lock.yaml')) ?? []
  if (integrity === undefined) throw new Error(`the lockfile has no ${id}`)
  return integrity
}

/** Two packages, of which one needs the other, and no package of Node. @param node the version that is pinned */
async function smallRepository(node: string): Promise<string> {
  const folder = await newFolder()
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const { packageManager } = JSON.parse(await read('package.json'))
  await write('package.json', JSON.stringify({ name: 'small', private: true, packageManager }))
  await write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n  - scripts/runtime\n')
  await write('scripts/runtime/package.json', JSON.stringify({ name: 'runtime', version: node }))
  const one = { name: 'one', version: '0.0.0', dependencies: { once: '1.4.0' } }
  await write('packages/one/package.json', JSON.stringify(one))
  const two = { name: 'two', version: '0.0.0', dependencies: { one: 'workspace:*' } }
  await write('packages/two/package.json', JSON.stringify(two))
  await write(
    'pnpm-lock.yaml',
    `lockfileVersion: '9.0'
settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false
importers:
  .: {}
  packages/one:
    dependencies:
      once:
        specifier: 1.4.0
        version: 1.4.0
  packages/two:
    dependencies:
      one:
        specifier: workspace:*
        version: link:../one
  scripts/runtime: {}
packages:
  once@1.4.0:
    resolution: {integrity: ${await integrityOf('once@1.4.0')}}
  wrappy@1.0.2:
    resolution: {integrity: ${await integrityOf('wrappy@1.0.2')}}
snapshots:
  once@1.4.0:
    dependencies:
      wrappy: 1.0.2
  wrappy@1.0.2: {}
`,
  )
  for (const name of ['run', 'runtime', 'bundle'])
    await cp(join(root, `scripts/${name}.mjs`), join(folder, `scripts/${name}.mjs`))
  return folder
}

const askIn = (folder: string) =>
  run(process.execPath, [join(folder, 'scripts/run.mjs'), '--runtime'], {
    // pnpm itself was fetched when this repository was installed.
    env: { ...process.env, npm_config_prefer_offline: 'true' },
  })

test('O-123, O-124: an own Node of the same major is taken, and what was lost is installed', async () => {
  const [major] = process.versions.node.split('.')
  const folder = await smallRepository(`${major}.99.0`)
  const told =
    `No package of Node ${major}.99.0 runs on this machine (${process.platform}-${process.arch}): ` +
    `its own Node ${process.versions.node} is taken.\n`
  const first = await askIn(folder)
  expect(first.stdout).toBe(`${process.execPath}\n`)
  expect(first.stderr).toMatch(/^Installing dependencies/)
  expect(first.stderr.endsWith(told)).toBe(true)
  expect((await askIn(folder)).stderr).toBe(told)
  const lost = 'packages/two/node_modules/one'
  await rm(join(folder, lost), { recursive: true })
  expect((await askIn(folder)).stderr).toContain(`${lost} is not whole.\n`)
  expect(existsSync(join(folder, lost, 'package.json'))).toBe(true)
  // A package that only a dependency depends on.
  const deep = 'node_modules/.pnpm/wrappy@1.0.2'
  await rm(join(folder, deep), { recursive: true })
  expect((await askIn(folder)).stderr).toContain(`${deep} is not whole.\n`)
  expect(existsSync(join(folder, deep, 'node_modules/wrappy/package.json'))).toBe(true)
  expect((await askIn(folder)).stderr).toBe(told)
}, 120_000)

test('O-123: a Node of another major starts nothing, and hears which one to install', async () => {
  const { chooseNode } = await import(join(root, 'scripts/runtime.mjs'))
  const ask = (own: string) => chooseNode(undefined, { path: '/usr/bin/node', version: own })
  const [major = ''] = version.split('.')
  const line = expect.stringContaining('is taken')
  expect(ask(`${major}.0.0`)).toMatchObject({ path: '/usr/bin/node', line })
  for (const own of ['20.19.0', '24.1.0', `${Number(major) + 1}.0.0`])
    expect(() => ask(own)).toThrow(`its own Node is ${own}: install Node ${major} and try again.`)
})
