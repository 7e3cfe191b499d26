// Goal: one process counts in a folder at a time, however the one before ended. Who gains by breaking it: whoever got
// a process to sign up to its cap, and a tired operator who starts a second one. Method: real sockets, and processes that
// are killed while they hold the folder.
import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { takeStateDirectory } from '../src/index.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'causeway-state-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const take = () => takeStateDirectory(directory, 'oracle')

async function numbers(): Promise<number[]> {
  const names = await readdir(directory)
  return names.map((name) => Number(/^in-use\.([0-9]+)\.sock$/.exec(name)?.[1])).sort((a, b) => b - a)
}

/** A process that listened in the folder and was killed. */
async function leaveDead(): Promise<void> {
  const [last = 0] = await numbers()
  const path = join(directory, `in-use.${last + 1}.sock`)
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('listening'))`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  await expect(take()).rejects.toThrow('STATE_DIR is used by another oracle')
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  expect(await numbers()).toContain(last + 1)
}

test('a second process is refused until the first one lets it in', async () => {
  const leave = await take()
  await expect(take()).rejects.toThrow('STATE_DIR is used by another oracle: stop it, or give this one')
  await leave()
  await (await take())()
  expect(await readdir(directory)).toEqual([])
})

test('a process that was killed holds nothing', async () => {
  await leaveDead()
  await (await take())()
})

test('O-20: of many that find a dead process at once, one gets the folder', async () => {
  for (let round = 0; round < 10; round += 1) {
    await leaveDead()
    const tries = await Promise.allSettled(Array.from({ length: 8 }, take))
    const got = tries.filter((each) => each.status === 'fulfilled')
    expect(got).toHaveLength(1)
    await expect(take()).rejects.toThrow('is used by another')
    for (const each of got) await each.value()
    expect(await numbers()).toEqual([])
  }
})

test('a process that has the folder removes the sockets that others left, and nothing else', async () => {
  await leaveDead()
  await writeFile(join(directory, 'in-use.7.sock'), 'left by hand')
  await writeFile(join(directory, 'signing-caps.jsonl'), '')
  const leave = await take()
  expect((await readdir(directory)).sort()).toEqual(['in-use.8.sock', 'signing-caps.jsonl'])
  await leave()
})

// Node looks at the last file that was looked at, when it resolves a path whose parts it knows.
test('what is loaded after a dead process was removed is loaded from its own place', async () => {
  await leaveDead()
  const program = [
    "import { realpathSync } from 'node:fs'",
    "import { createRequire } from 'node:module'",
    `import { takeStateDirectory } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}`,
    `await takeStateDirectory(${JSON.stringify(directory)}, 'oracle')`,
    `const require = createRequire(${JSON.stringify(import.meta.url)})`,
    "console.log(require.resolve('fast-check') === realpathSync.native(require.resolve('fast-check')))",
  ]
  const child = spawn(process.execPath, ['--input-type=module', '-e', program.join('\n')], {
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  await new Promise((resolve) => child.once('close', resolve))
  expect(said.trim()).toBe('true')
})

test('a path that no socket can have is refused with the length that is possible', async () => {
  const long = join(directory, 'x'.repeat(120))
  await expect(takeStateDirectory(long, 'oracle')).rejects.toThrow('too long: at most 84 bytes')
})
