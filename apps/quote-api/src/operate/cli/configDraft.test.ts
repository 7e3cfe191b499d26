// Goal: one command writes the files of an environment of one's own before anything is set up. Attacks: it is run a
// second time over files that were filled in; it is pointed at the files of the release; half of the files are there.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generatePrivateKey } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../config/config.ts'
import { runCli } from './runCli.ts'

const repositoryRoot = fileURLToPath(new URL('../../../../..', import.meta.url))

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-config-draft-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

type Variables = Readonly<Record<string, string>>

async function command(words: readonly string[], variables: Variables = {}, settings?: Variables) {
  const lines: string[] = []
  const keep = async (line: string) => void lines.push(line)
  const code = await runCli({
    words,
    variables,
    actor: 'cli:operator',
    signal: new AbortController().signal,
    print: keep,
    complain: keep,
    async config() {
      if (settings === undefined) throw new Error('no settings are needed')
      return { config: loadConfig(settings, repositoryRoot), variables: settings }
    },
  })
  return { code, output: lines.join('\n') }
}

const draft = (folder: string, ...more: readonly string[]) =>
  command(['config', 'draft', '--chains', 'base,optimism', '--out', folder, ...more])

const names = ['allocator', 'chains.hub', 'chains', 'quote', 'solver'].map((name) => `${name}.own.prod.json`)

test('O-100: it writes the five files without any setting, and says what is to be filled in', async () => {
  const folder = join(await newFolder(), 'new')
  const { code, output } = await draft(folder)
  expect([code, (await readdir(folder)).sort()]).toEqual([0, names])
  expect(output).toContain(
    'chains.own.prod.json: chains[1].depository: fill in by contracts deploy: the address of the depository on base',
  )
  expect(output).toMatch(/\n\d\d places to fill in\./)
})

test('O-100: what is there is left as it is, and what is missing beside it is written', async () => {
  const folder = await newFolder()
  await draft(folder)
  const filled = join(folder, 'quote.own.prod.json')
  await writeFile(filled, '{"filled":"in"}')
  await rm(join(folder, 'allocator.own.prod.json'))
  const { code, output } = await draft(folder)
  expect([code, await readFile(filled, 'utf8')]).toEqual([0, '{"filled":"in"}'])
  expect(output).toContain(`left as it is, because it is there already: ${filled}`)
  expect(output.match(/^wrote .*$/gm)).toEqual([`wrote ${join(folder, 'allocator.own.prod.json')}`])
  expect((await readdir(folder)).sort()).toEqual(names)
})

test('O-100: environment and folder are those that are set, where no flag says another', async () => {
  const folder = await newFolder()
  const set = { ENVIRONMENT: 'mine', CONFIG_DIR: folder }
  expect(await command(['config', 'draft', '--chains', 'sepolia'], set)).toMatchObject({ code: 0 })
  expect(await readdir(folder)).toContain('quote.mine.json')
})

test.each([
  ['an environment of the release', ['--environment', 'mainnets.prod'], 2, 'an environment of this release'],
  ['the local environment', ['--environment', 'local'], 2, 'an environment of this release'],
  ['a name that is none', ['--environment', '../own'], 2, 'lower-case letters'],
  ['a chain that nobody ships', ['--chains', 'base,atlantis'], 2, 'some of ethereum, base'],
  ['chains of two environments', ['--chains', 'base,sepolia'], 2, 'or some of sepolia'],
  ['no chain', ['--chains', ''], 2, '--chains takes'],
  ['a folder that cannot be one', ['--out', '/dev/null/own'], 1, 'cannot be written (ENOTDIR)'],
])('O-100: %s is refused in words, and nothing is written', async (_what, flags, exit, words) => {
  const folder = await newFolder()
  const { code, output } = await draft(folder, ...flags)
  expect([code, output]).toEqual([exit, expect.stringContaining(words)])
  expect(await readdir(folder)).toEqual([])
})

test('O-101: config check names every place of all five files, and asks no chain', async () => {
  const folder = await newFolder()
  const drafted = await draft(folder, '--json')
  const { toFillIn } = JSON.parse(drafted.output)
  const settings = {
    ENVIRONMENT: 'own.prod',
    CONFIG_DIR: folder,
    ECDSA_PRIVATE_KEY: generatePrivateKey(),
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none',
    API_KEY_PEPPERS: `v1:${'9e27b1f0'.repeat(8)}`,
    PUBLIC_URL: 'https://api.example',
    ADMIN_API_KEY: 'admin-5d41402abc4b2a76b9',
    BASE_RPC_URL: 'http://127.0.0.1:9',
  }
  const { code, output } = await command(['config', 'check'], {}, settings)
  expect(code).toBe(1)
  for (const { file, path, words } of toFillIn) expect(output).toContain(`${file}: ${path}: ${words}\n`)
  expect(output).toContain(`${toFillIn.length} places to fill in, so nothing was checked.`)
  expect(toFillIn.some(({ file }: { file: string }) => file === 'allocator.own.prod.json')).toBe(true)
})
