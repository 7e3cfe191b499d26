import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { readCommandLine } from '@causeway/cli'
import { ConfigurationError } from '@causeway/core'
import { describe, expect, test } from 'vitest'
import { parseStartOptions, startProgram } from './options.ts'

const run = promisify(execFile)
const scriptFolder = dirname(import.meta.dirname)
const parse = (...words: string[]) =>
  parseStartOptions(words, {}, '/repository', ({ text }) => {
    throw new Error(text)
  })

describe('parseStartOptions', () => {
  test('has the documented defaults', () => {
    expect(parseStartOptions([], {}, '/repository')).toEqual({
      fresh: false,
      shadow: false,
      directory: '/repository/.local',
      firstPorts: { quote: 3000, oracle: 3100, families: 8548 },
      chainPorts: { base: 8545, optimism: 8546, hub: 8547 },
    })
  })

  test('moves every base by its variable, and does what words ask for', () => {
    const environment = {
      CAUSEWAY_QUOTE_PORT: '4000',
      CAUSEWAY_ORACLE_PORT: '4100',
      CAUSEWAY_CHAIN_PORT: '9545',
      CAUSEWAY_LOCAL_DIR: '/elsewhere/network',
    }
    expect(parseStartOptions(['--fresh', '--shadow'], environment, '/repository')).toEqual({
      fresh: true,
      shadow: true,
      directory: '/elsewhere/network',
      firstPorts: { quote: 4000, oracle: 4100, families: 9548 },
      chainPorts: { base: 9545, optimism: 9546, hub: 9547 },
    })
  })

  test('takes an empty variable for unset', () => {
    const { firstPorts } = parseStartOptions([], { CAUSEWAY_QUOTE_PORT: '' }, '/repository')
    expect(firstPorts.quote).toBe(3000)
  })

  test.each(['0', '70000', 'many', '-1', '3000.5'])('refuses the port %s and names the variable', (port) => {
    const parse = () => parseStartOptions([], { CAUSEWAY_CHAIN_PORT: port }, '/repository')
    expect(parse).toThrow(ConfigurationError)
    expect(parse).toThrow('CAUSEWAY_CHAIN_PORT')
  })

  test('O-53: takes the name of a behaviour of nodes, and lists all for a wrong one', () => {
    expect(parse('--endpoints', 'batch-3', '--fresh')).toMatchObject({ fresh: true, endpoints: 'batch-3' })
    expect(() => parse('--endpoints', 'batch-4')).toThrow(/batch-4: .*: .*batch-3, batch-10/)
    expect(() => parse('--endpoints')).toThrow('argument missing')
    expect(() => parse('--endpoints', 'batch-3', 'more')).toThrow('too many arguments')
  })

  test('refuses words it does not know', () => {
    expect(() => parse('--frseh')).toThrow("unknown option '--frseh'\n(Did you mean --fresh?)")
  })
})

describe('help', () => {
  test.each([[['--help']], [['--fresh', '-h']], [['help']]])(
    'answers %j where nothing is installed',
    async (words) => {
      const folder = await mkdtemp(join(tmpdir(), 'causeway-help-'))
      try {
        const scripts = join(folder, 'scripts')
        for (const name of ['runtime', 'start']) await mkdir(join(scripts, name), { recursive: true })
        const modules = ['run', 'runtime', 'bundle'].map((name) => `${name}.mjs`)
        for (const name of [...modules, 'runtime/package.json', 'start/help.txt'])
          await copyFile(join(scriptFolder, name), join(scripts, name))
        const told = ['scripts/start.ts', ...words]
        const { stdout, stderr } = await run(process.execPath, [join(scripts, 'run.mjs'), ...told])
        expect(stderr).toBe('')
        expect(stdout).toBe(await startHelp())
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  )

  test('O-133: is what the start itself would tell; `vitest -u` writes it anew', async () => {
    const line = readCommandLine(['--help'], startProgram)
    await expect(`${line.kind === 'help' && line.text}\n`).toMatchFileSnapshot('help.txt')
  })

  test('names every variable with its default', async () => {
    const { firstPorts, chainPorts } = parseStartOptions([], {}, '/repository')
    const help = await startHelp()
    expect(help).toMatch(new RegExp(`CAUSEWAY_QUOTE_PORT .* ${firstPorts.quote}`))
    expect(help).toMatch(new RegExp(`CAUSEWAY_ORACLE_PORT .* ${firstPorts.oracle}`))
    expect(help).toMatch(new RegExp(`CAUSEWAY_CHAIN_PORT .* ${chainPorts.base}`))
    expect(help).toMatch(/CAUSEWAY_LOCAL_DIR .* \.local/)
  })
})

function startHelp(): Promise<string> {
  return readFile(join(scriptFolder, 'start', 'help.txt'), 'utf8')
}
