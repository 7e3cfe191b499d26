// Goal: a process is told from a later one with the same id, and ends when it is told to.
// Method: small Node processes with the manners of a service.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  hasLivingMember,
  isSameProcess,
  processIdentity,
  stopProcess,
} from '../src/processes/processIdentity.ts'
import { waitUntil } from '../src/waitUntil.ts'

/** A process that does something before it says that it is up. */
async function startScript(script: string): Promise<{ child: ChildProcess; pid: number; identity: string }> {
  const stay = 'setInterval(() => {}, 1000); console.log("up")'
  const child = spawn(process.execPath, ['-e', `${script}; ${stay}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  await once(createInterface({ input: child.stdout }), 'line')
  const { pid } = child
  const identity = pid === undefined ? undefined : await processIdentity(pid)
  if (pid === undefined || identity === undefined) throw new Error('the script does not run')
  return { child, pid, identity }
}

/** True for a zombie too. */
function processIsThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('processIdentity', () => {
  it('stays the same while a process runs and differs between processes', async () => {
    const one = await startScript('')
    const other = await startScript('')
    expect(await processIdentity(one.pid)).toBe(one.identity)
    expect(other.identity).not.toBe(one.identity)
  })

  it('is nothing for a process that ended', async () => {
    const { child, pid } = await startScript('')
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await processIdentity(pid)).toBeUndefined()
  })
})

describe('hasLivingMember', () => {
  it('counts no process that ended and is not collected yet, as in a container without an init', async () => {
    const script = `
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
        detached: true, stdio: 'ignore',
      })
      console.log(child.pid)`
    const parent = spawn(process.execPath, ['-e', `${script}; setInterval(() => {}, 1000)`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => {
      parent.kill('SIGKILL')
    })
    const [line] = await once(createInterface({ input: parent.stdout }), 'line')
    const child = Number(line)
    onTestFinished(() => {
      if (processIsThere(child)) process.kill(child, 'SIGKILL')
    })
    await waitUntil('the child runs', async () => (await processIdentity(child)) !== undefined)
    expect(await hasLivingMember(child)).toBe(true)
    // A parent that stands still collects nothing.
    parent.kill('SIGSTOP')
    process.kill(child, 'SIGKILL')
    await waitUntil('the child ended', async () => !(await hasLivingMember(child)))
    expect(processIsThere(child)).toBe(true)
  })
})

describe('stopProcess', () => {
  it('lets a process finish what it does on SIGTERM', async () => {
    const script = 'process.on("SIGTERM", () => setTimeout(() => process.exit(7), 50))'
    const { child, ...target } = await startScript(script)
    const exited = once(child, 'exit')
    expect(await stopProcess(target, { graceMs: 20_000 })).toBe(true)
    expect((await exited)[0]).toBe(7)
  })

  it('ends a process by force that does not end in time', async () => {
    const { child, ...target } = await startScript('process.on("SIGTERM", () => {})')
    const exited = once(child, 'exit')
    expect(await stopProcess(target, { graceMs: 200 })).toBe(true)
    expect((await exited)[1]).toBe('SIGKILL')
  })

  it('leaves a process alone that only has the same id', async () => {
    const { pid, identity } = await startScript('')
    expect(await stopProcess({ pid, identity: `${identity} --other` }, { graceMs: 200 })).toBe(false)
    expect(await isSameProcess({ pid, identity })).toBe(true)
  })
})
