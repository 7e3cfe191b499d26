// Goal: whoever pastes from a page of operating runs what it says, the second time too. Attacks: a command or flag that was
// renamed, a service, image or manifest that is not there, a placeholder that a shell takes for a file, a page that got
// commands which no test runs or reads. Production, containers and Kubernetes are followed twice elsewhere (`followedBy`).
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseDenyList } from '@causeway/chains'
import { allocatorFileSchema } from '@causeway/core/config'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { allocatorProgram } from '../../apps/allocator/src/compose/commands.ts'
import { oracleProgram } from '../../apps/oracle/src/compose/operatorCommands.ts'
import { causeway } from '../../apps/quote-api/src/operate/cli/runCli.ts'
import { solverProgram } from '../../apps/solver/src/compose/commands.ts'
import { type CommandForm, doctor, type Program, readCommandLine } from '../../packages/cli/src/index.ts'
import { read } from './exampleServices.ts'
import { root } from './writeJson.ts'

const folder = 'docs/operating'
const pages = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))

type Block = { readonly page: string; readonly kind: string; readonly text: string }

/** A block of a list is indented as a whole. */
function blocksOf(page: string): readonly Block[] {
  return [...read(`${folder}/${page}`).matchAll(/^( *)```(\S[^\n]*)?\n(.*?)^ *```$/gms)].map(
    ([, indent = '', kind = '', text = '']) => ({
      page,
      kind,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}

const blocks = pages.flatMap(blocksOf)
const shellBlocks = blocks.filter(({ kind }) => kind.startsWith('sh'))

/** Tests that run commands of a page. */
const followedBy: Readonly<Record<string, string>> = {
  'containers.md': 'scripts/configs/exampleEnv.test.ts',
  'field.md': 'scripts/field/files.test.ts',
  'kubernetes.md': 'scripts/configs/exampleEnv.test.ts',
  'logs.md': 'test/traces.test.ts',
  'production.md': 'test/production/rehearsal.test.ts',
}

/** Programs that the pages run on other machines, and that belong to nobody here. */
const foreign = ['curl', 'debsecan', 'flock', 'mkdir', 'npx', 'pg_basebackup']

const linesOf = ({ text }: Block) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))

/** As a shell splits them, up to where output goes. */
const wordsOf = (text: string): readonly string[] =>
  [...text.replace(/\s[|>&].*$/, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  )

test('O-98: a page is run by the test that is named, and the others have commands alone that are read here', () => {
  for (const [page, file] of Object.entries(followedBy)) expect(read(file), page).toContain(page)
  const unknown = shellBlocks
    .filter(({ page }) => followedBy[page] === undefined)
    .flatMap((block) => linesOf(block))
    .map((line) => wordsOf(line).find((word) => !/^[A-Z_]+=/.test(word)) ?? '')
    // A line may set variables alone.
    .filter((program) => !['', 'npm', 'docker', 'kubectl', ...foreign].includes(program))
  expect(unknown).toEqual([])
})

/** Tests that run what a page shows as `sh` or `sql`, where it is not that of the production page. */
const runBy: Readonly<Record<string, string>> = {
  ...followedBy,
  'field.md': 'test/production/field.test.ts',
  'upgrade.md': 'test/embeddedDatabase.test.ts',
}

test('O-129: every page with commands or statements is named by a test that runs them', () => {
  const shown = blocks.filter(({ kind }) => /^(sh|sql)\b/.test(kind)).map(({ page }) => page)
  expect(new Set(shown).size).toBeGreaterThan(15)
  for (const page of shown)
    expect(read(runBy[page] ?? 'test/production/rehearsal.test.ts'), page).toContain(page)
})

test('O-98: a shell understands the commands of every page', () => {
  expect(shellBlocks.length).toBeGreaterThan(40)
  const refused = shellBlocks.flatMap(({ page, text }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' })
    return status === 0 ? [] : [`${page}: ${stderr}${text}`]
  })
  expect(refused).toEqual([])
})

type Run = {
  readonly page: string
  /** Script in package.json, and the program that then parses the words. */
  readonly script: string
  readonly program: string
  readonly words: readonly string[]
}

/** `causeway solver …` is a command of that process. */
function runOf(page: string, script: string, rest: string): Run {
  const words = wordsOf(rest)
  const [first = '', ...more] = words
  return script === 'causeway' && first !== '' && Object.hasOwn(programs, first)
    ? { page, script, program: first, words: more }
    : { page, script, program: script, words }
}

/** Programs with commands of their own. */
const programs: Readonly<Record<string, Program<CommandForm>>> = {
  causeway,
  allocator: allocatorProgram,
  oracle: oracleProgram,
  solver: solverProgram,
  'quote-api': { name: 'npm run causeway -- quote-api', about: '', commands: [doctor] },
}

const runs = shellBlocks.flatMap((block) =>
  linesOf(block)
    .flatMap((line) => [...line.matchAll(/npm run (?:-s )?(\S+)(?: -- (.*))?$/g)])
    .map(([, script = '', rest = '']) => runOf(block.page, script, rest)),
)

/** Commands in prose, where operands may be left out. */
const inProse = pages.flatMap((page) =>
  [...read(`${folder}/${page}`).matchAll(/`npm run (?:-s )?(\S+?)(?: -- ([^`]*))?`/g)].map(
    ([, script = '', rest = '']) => runOf(page, script, rest),
  ),
)

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(read('package.json')))

/** A group of commands may be named alone. */
function isCommand(program: string, [first = '', second = '']: readonly string[]): boolean {
  const known = programs[program]?.commands.map(({ words }) => words)
  if (known === undefined || ['', 'help', ...known].includes(first)) return true
  if (/^[a-z]/.test(second)) return known.includes(`${first} ${second}`)
  return known.some((words) => words.startsWith(`${first} `))
}

describe('commands of this repository', () => {
  test('O-98: each is one, with the operands and flags that it takes', () => {
    expect(runs.length).toBeGreaterThan(15)
    for (const { script, program: name, words } of runs) {
      expect(scripts, script).toHaveProperty([script])
      const program = programs[name]
      if (program === undefined || (name !== 'causeway' && words.length === 0)) continue
      const { kind } = readCommandLine(words, program)
      expect([name, words, kind]).toEqual([name, words, words[0] === 'help' ? 'help' : 'run'])
    }
  })

  test('O-98: what the prose names exists', () => {
    expect(inProse.length).toBeGreaterThan(30)
    for (const { page, script, program, words } of inProse) {
      expect(scripts, `${page}: npm run ${script}`).toHaveProperty([script])
      expect([page, ...words, isCommand(program, words)]).toEqual([page, ...words, true])
    }
  })
})

const linesWith = (program: string) =>
  shellBlocks.flatMap(linesOf).filter((line) => new RegExp(`\\b${program} `).test(line))

test('O-99: what is copied from a database names its host and a role of its own', () => {
  const lines = linesWith('pg_(?:basebackup|receivewal)')
  expect(lines).toHaveLength(2)
  for (const line of lines) expect(line).toMatch(/ --host=\S+ --username=\S+ /)
})

test('O-98: containers are built from targets, and run from services and files, that are there', () => {
  const lines = linesWith('docker')
  expect(lines.length).toBeGreaterThan(10)
  const targets = [...read('docker/Dockerfile').matchAll(/ AS (\S+)$/gm)].map(([, name]) => name)
  const { services } = z
    .object({ services: z.record(z.string(), z.unknown()) })
    .parse(parse(read('docker/compose.yaml')))
  const tags = lines.flatMap((line) => [...line.matchAll(/--tag (\S+)/g)].map(([, tag]) => tag))
  for (const line of lines) {
    for (const [, path = ''] of line.matchAll(/(?:--file|-f) (\S+)/g))
      expect(existsSync(join(root, path)), line).toBe(true)
    for (const [, target] of line.matchAll(/--target (\S+)/g)) expect(targets, line).toContain(target)
    for (const [, path = ''] of line.matchAll(/ (apps\/\S+)\/dist\/main\.js/g))
      expect(existsSync(join(root, path, 'src/main.ts')), line).toBe(true)
    for (const [, tag] of line.matchAll(/docker run --rm (\S+)/g)) expect(tags, line).toContain(tag)
    const [, verb, rest = ''] = /docker compose -f \S+ (up|run|exec)(.*)$/.exec(line) ?? []
    const names = wordsOf(rest).filter((word) => !word.startsWith('-'))
    const named = verb === 'up' ? names : names.slice(0, 1)
    expect(Object.keys(services), line).toEqual(expect.arrayContaining(verb === undefined ? [] : named))
  }
})

test('O-98: a cluster is asked for what the manifests have, and told what is there', () => {
  const lines = linesWith('kubectl|reach')
  expect(lines.length).toBeGreaterThan(12)
  const files = ['', 'own-hub/'].flatMap((place) =>
    readdirSync(join(root, 'docker/kubernetes', place))
      .filter((name) => name.endsWith('.yaml'))
      .map((name) => `docker/kubernetes/${place}${name}`),
  )
  const known = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }).optional() })
  const manifests = files
    .flatMap((path) => parseAllDocuments(read(path)).map((document) => known.parse(document.toJS())))
    .map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata?.name}`)
  for (const line of lines) {
    for (const [named] of line.matchAll(/\b(?:deployment|statefulset|service)\/[\w-]+/g))
      expect(manifests, line).toContain(named)
    for (const [, name] of line.matchAll(/--namespace (\S+)/g))
      expect(manifests).toContain(`namespace/${name}`)
    for (const [, path = ''] of line.matchAll(/--filename (\S+)/g))
      expect(path === '-' || existsSync(join(root, path)), line).toBe(true)
    // `create` and `label` fail at what a cluster has already.
    if (/kubectl .*\bcreate\b/.test(line))
      expect(line).toMatch(/--dry-run=client .*\| kubectl apply --filename -/)
    if (/kubectl .*\blabel\b/.test(line)) expect(line).toContain('--overwrite')
  }
})

/** Puts values in the places that pages leave to the reader. */
const filled = (text: string) =>
  text
    .replaceAll('"domain": "0x…"', `"domain": "0x${'ab'.repeat(32)}"`)
    .replaceAll('0x…', `0x${'ab'.repeat(20)}`)
    .replaceAll('bc1…', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')
    .replaceAll('"…"', '"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"')

const jsonReaders: Readonly<Record<string, (text: string) => unknown>> = {
  'allocator.md': (text) => allocatorFileSchema.parse(JSON.parse(text)),
  'deny-lists.md': parseDenyList,
}

test('O-98: files that pages show are read as the services read them', () => {
  const shown = blocks.filter(({ kind }) => kind === 'json')
  expect(shown.map(({ page }) => page)).toEqual(Object.keys(jsonReaders))
  for (const { page, text } of shown) expect(jsonReaders[page]?.(filled(text)), page).toBeDefined()
  const scrape = z.strictObject({
    rule_files: z.array(z.string()),
    scrape_configs: z.array(
      z.strictObject({
        job_name: z.literal('causeway'),
        scrape_interval: z.literal('15s'),
        static_configs: z.array(z.strictObject({ targets: z.array(z.string().regex(/^[\w-]+:\d+$/)) })),
      }),
    ),
  })
  for (const { text } of blocks.filter(({ kind }) => kind === 'yaml'))
    expect(scrape.parse(parse(text)).scrape_configs).toHaveLength(1)
})

test('O-98: bodies that pages send are JSON', () => {
  const bodies = shellBlocks.flatMap(({ text }) => [...text.matchAll(/ -d '([^']+)'/g)])
  expect(bodies.length).toBeGreaterThan(0)
  for (const [, body = ''] of bodies) expect(JSON.parse(body)).toBeTypeOf('object')
})
