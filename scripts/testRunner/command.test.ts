import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createCommandRunner } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'causeway-command-'))
afterAll(() => rmSync(folder, { recursive: true }))

function script(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

describe('command runner', () => {
  test('keeps both output streams and reports the exit', async () => {
    const runner = createCommandRunner()
    const file = script('fails.mjs', "console.log('out'); console.error('err'); process.exitCode = 3")
    const result = await runner.run([file], { cwd: folder, env: {} })
    expect(result.ok).toBe(false)
    expect(result.output).toContain('out\n')
    expect(result.output).toContain('err\n')
  })

  test('passes arguments and environment on', async () => {
    const file = script('echo.mjs', 'console.log(process.argv[2], process.env.CAUSEWAY_FAULTS)')
    const result = await createCommandRunner().run([file, 'a b'], {
      cwd: folder,
      env: { CAUSEWAY_FAULTS: '1' },
    })
    expect(result).toMatchObject({ ok: true, output: 'a b 1\n' })
  })

  test('stops what still runs on a signal', async () => {
    const runner = createCommandRunner()
    const file = script('waits.mjs', "console.log('ready'); setTimeout(() => {}, 60_000)")
    const running = runner.run([file], { cwd: folder, env: {} })
    setTimeout(() => runner.signal('SIGTERM'), 50)
    expect((await running).ok).toBe(false)
  })

  test('O-135: ends what a command of a group leaves behind', async () => {
    const left = script('left.mjs', 'setTimeout(() => {}, 60_000)')
    const leaves = script(
      'leaves.mjs',
      `import { spawn } from 'node:child_process'
const child = spawn(process.execPath, [${JSON.stringify(left)}], { stdio: 'ignore' })
child.unref()
console.log(child.pid)`,
    )
    const { output } = await createCommandRunner().run([leaves], { cwd: folder, env: {}, isGroup: true })
    await expect.poll(() => isAlive(Number(output)), { timeout: 20_000 }).toBe(false)
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
