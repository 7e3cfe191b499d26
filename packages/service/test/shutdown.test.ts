// Goal: a stop loses no request in flight, ends in order and in bounded time. Method: a process of its
// own with real connections, and real signals.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
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
    [join(import.meta.dirname, 'stoppingService.ts'), JSON.stringify(options)],
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

/** A connection of its own, open as far as the kernel is concerned. */
async function openSocket(port: number) {
  const socket = connect(port, '127.0.0.1')
  const ended = new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.on('error', (error) => {
      text += String(error)
    })
    socket.once('close', () => resolve(text))
  })
  await once(socket, 'connect')
  return { socket, ended }
}

test('SIGTERM to a starved process without drain time: every request that reached it is answered', async () => {
  const { child, port, exited } = await startService({ drainMs: 0 })
  child.kill('SIGSTOP')
  const clients = await Promise.all(Array.from({ length: 40 }, () => openSocket(port)))
  for (const { socket } of clients)
    socket.write('POST /slow HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n')
  await new Promise((resolve) => setTimeout(resolve, 200))
  child.kill('SIGTERM')
  child.kill('SIGCONT')
  const answers = await Promise.all(clients.map(({ ended }) => ended))
  expect(answers.filter((text) => !text.startsWith('HTTP/1.1 200'))).toEqual([])
  expect(await exited).toMatchObject({ code: 0 })
})

test('SIGTERM: the first request of a connection that is open already is waited for', async () => {
  const { child, port, exited, messages } = await startService({
    drainMs: 0,
    hardExitMs: 60_000,
    limits: { firstRequestMs: 30_000, closeMs: 40_000, headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 },
  })
  const { socket, ended } = await openSocket(port)
  child.kill('SIGTERM')
  await expect.poll(messages).toContain('stopping')
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.write('GET /lives/v1 HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(await ended).toMatch(/^HTTP\/1\.1 200[\s\S]*connection: close/i)
  expect(await exited).toMatchObject({ code: 0 })
})

test('O-168: SIGTERM: what is lost was never accepted, or was sent on a kept connection that was closed', async () => {
  const { child, port, exited, messages } = await startService({ drainMs: 0 })
  const kept = await openSocket(port)
  kept.socket.write('GET /lives/v1 HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(kept.socket, 'data')
  const silent = await openSocket(port)
  const inFlight = ask(port, '/slow', new Agent())
  await new Promise((resolve) => setTimeout(resolve, 200))
  child.kill('SIGTERM')
  await expect.poll(messages).toContain('stopping')
  const first = await kept.ended
  expect(first.match(/HTTP\/1\.1/g)).toHaveLength(1)
  await expect(openSocket(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(await inFlight).toMatchObject({ status: 200 })
  expect(await silent.ended).toBe('')
  expect(await exited).toMatchObject({ code: 0 })
})

test('SIGTERM: a client that never ends its request does not keep the process', async () => {
  const { child, port, exited, messages } = await startService({
    drainMs: 0,
    hardExitMs: 10_000,
    limits: { requestTimeoutMs: 1_000, headersTimeoutMs: 1_000 },
  })
  const { socket, ended } = await openSocket(port)
  socket.write(
    'POST /slow HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n',
  )
  const drip = setInterval(() => socket.write(' '), 100)
  await new Promise((resolve) => setTimeout(resolve, 200))
  child.kill('SIGTERM')
  expect(await ended).toMatch(/^HTTP\/1\.1 408/)
  clearInterval(drip)
  expect(await exited).toMatchObject({ code: 0 })
  expect(messages()).toContain('database closed')
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
