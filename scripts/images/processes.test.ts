// Goal: `npm run tools -- images` leaves nothing behind, however it ends. Attacks: a child of a child that outlives its
// parent, one that ignores SIGTERM, a failure whose reason is lost.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createProcesses } from './processes.ts'

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function untilGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 100 && isAlive(pid); tries += 1) await sleep(50)
  return !isAlive(pid)
}

async function firstLine(path: string): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    const [, digits] = /^(\d+)\n/.exec(existsSync(path) ? readFileSync(path, 'utf8') : '') ?? []
    if (digits !== undefined) return Number(digits)
    await sleep(50)
  }
  throw new Error(`${path} was not written`)
}

test('what is told to end takes its own children with it, and nothing is started after it', async () => {
  const processes = createProcesses()
  const folder = mkdtempSync(join(tmpdir(), 'causeway-processes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'pid')
  // The shell ends at SIGTERM; its child would not.
  const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log(process.pid)"
  const child = processes.start('sh', ['-c', 'node -e "$1" > "$0" & wait', file, stubborn])
  const pids = [child.pid ?? 0, await firstLine(file)]
  await processes.endAll()
  for (const pid of pids) expect([pid, await untilGone(pid)]).toEqual([pid, true])
  expect(() => processes.start('true', [])).toThrow('not started any more')
})

test('what runs when all are told to end fails, so that the run ends', async () => {
  const processes = createProcesses()
  const running = processes.quiet('sleep', ['600'])
  const failed = expect(running).rejects.toThrow('sleep 600 ended with SIGTERM')
  await processes.endAll()
  await failed
})

test('a failure tells what was said', async () => {
  const { quiet, shown } = createProcesses()
  await expect(quiet('sh', ['-c', 'echo out; echo reason >&2; exit 3'])).rejects.toThrow(
    /ended with 3[\s\S]*reason/,
  )
  await expect(shown('sh', ['-c', 'exit 4'])).rejects.toThrow('ended with 4')
  await expect(quiet('causeway-is-no-program', ['x'])).rejects.toThrow('ENOENT')
  expect(await quiet('sh', ['-c', 'echo out; echo more >&2'])).toBe('out')
})
