// Goal: a stop loses no request in flight, ends in order and in bounded time. Method: a process of its
// own with real connections, and real signals.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

type Line = { msg: string; port?: number; closer?: string; err?: { type: string; message?: string } }

async function startService(options: object = {}) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'stoppingService.ts'), JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  running.push(child)
  const lines: Line[] = []
  let rest = ''
  child.stdout.on('data', (chunk) => {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts.map((part) => JSON.parse(part)))
  })
  await expect.poll(() => lines.some(({ msg }) => msg === 'listening'), { timeout: 30_000 }).toBe(true)
  const port = lines.find((line) => line.msg === 'listening')?.port ?? 0
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal, at: performance.now() }))
  return { child, lines, port, exited, messages: () => lines.map(({ msg }) => msg) }
}

function ask(
  port: number,
  path: string,
  agent: Agent,
): Promise<{ status: number; connection?: string | undefined }> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port, path, method: path === '/slow' ? 'POST' : 'GET', agent },
      (answer) => {
        answer.resume()
        answer.once('end', () =>
          resolve({ status: answer.statusCode ?? 0, connection: answer.headers.connection }),
        )
      },
    )
    call.once('error', reject)
    call.end()
  })
}

test('SIGTERM: what is in flight and what still comes is answered, then all closes in order', async () => {
  const { child, port, exited, messages } = await startService()
  const agent = new Agent({ keepAlive: true })
  const inFlight = Array.from({ length: 20 }, () => ask(port, '/slow', agent))
  await new Promise((resolve) => setTimeout(resolve, 200))
  child.kill('SIGTERM')
  await expect.poll(messages).toContain('stopping')
  const whileDraining = await Promise.all([1, 2, 3].map(() => ask(port, '/lives/v1', agent)))
  expect(whileDraining).toEqual([1, 2, 3].map(() => ({ status: 200, connection: 'close' })))
  for (const answer of await Promise.all(inFlight))
    expect(answer).toEqual({ status: 200, connection: 'close' })
  expect(await exited).toMatchObject({ code: 0, signal: null })
  expect(messages().slice(-3)).toEqual(['stopping', 'database closed', 'stopped'])
  agent.destroy()
})

test('SIGTERM: an answer that is being sent is sent to its end, and its connection closed', async () => {
  const { child, port, exited } = await startService()
  const agent = new Agent({ keepAlive: true })
  const streaming = ask(port, '/stream', agent)
  await new Promise((resolve) => setTimeout(resolve, 200))
  child.kill('SIGTERM')
  expect(await streaming).toMatchObject({ status: 200, connection: 'keep-alive' })
  expect(await exited).toMatchObject({ code: 0 })
  agent.destroy()
})

test('a second signal exits at once', async () => {
  const { child, exited, messages } = await startService({ hanging: true })
  child.kill('SIGTERM')
  await expect.poll(messages).toContain('stopping')
  child.kill('SIGINT')
  expect(await exited).toMatchObject({ code: 1 })
  expect(messages()).toContain('second signal, exiting at once')
})

test('a stop that hangs is cut', async () => {
  const { child, exited, messages } = await startService({ hanging: true, hardExitMs: 800 })
  child.kill('SIGTERM')
  expect(await exited).toMatchObject({ code: 1 })
  expect(messages()).toContain('stopping took too long, exiting')
  expect(messages()).not.toContain('database closed')
})

test('a part that cannot close is named, keeps no other open, and shows in the exit code', async () => {
  const { child, exited, lines, messages } = await startService({ failing: true })
  child.kill('SIGTERM')
  expect(await exited).toMatchObject({ code: 1 })
  expect(lines.find(({ msg }) => msg === 'could not close')).toMatchObject({ closer: 'failing' })
  expect(messages()).toContain('database closed')
})

test.each([
  ['/reject', 'nobody waits for this'],
  ['/throw', 'thrown where nobody catches'],
  ['/reject-nothing', undefined],
])('an error that nobody handles (%s) is logged and ends the process with 1', async (path, message) => {
  const { port, exited, lines } = await startService()
  await ask(port, path, new Agent()).catch(() => undefined)
  expect(await exited).toMatchObject({ code: 1 })
  const line = lines.find(({ msg }) => msg === 'uncaught error, exiting')
  expect(line).toBeDefined()
  expect(line?.err?.message).toBe(message)
})
