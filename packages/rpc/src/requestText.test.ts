import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { requestText, type TextRequest } from './requestText.ts'

async function hostOf(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  // CAST: a server that listens on TCP.
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ask = (url: string, more: Partial<TextRequest> = {}) =>
  requestText({
    url,
    method: 'GET',
    headers: {},
    timeoutMs: 20_000,
    answerBytesMax: 1_000,
    signal: new AbortController().signal,
    ...more,
  })

test('sends body and headers, and takes any status for an answer', async () => {
  const host = await hostOf(
    createServer((request, response) => {
      const { method, headers } = request
      request.on('data', (chunk: Buffer) => {
        response.writeHead(302, { location: '/elsewhere' }).end(`${method} ${headers['x-of']} ${chunk}`)
      })
    }),
  )
  const answer = await ask(`http://${host}/`, { method: 'POST', headers: { 'x-of': 'us' }, body: 'hello' })
  expect(answer).toEqual({ status: 302, text: 'POST us hello' })
})

test('ends an answer that is too long where it passes the limit', async () => {
  const host = await hostOf(
    createServer((_request, response) => {
      const write = () => response.write('x'.repeat(500), () => setTimeout(write, 1))
      write()
    }),
  )
  await expect(ask(`http://${host}/`)).rejects.toThrow('an answer of more than 1000 bytes')
})

test('is late when no connection comes about', async () => {
  const host = await hostOf(createTcpServer(() => {}))
  const late = ask(`https://${host}/`, { timeoutMs: 100 })
  const outcome = await Promise.race([
    late.catch((error: unknown) => error),
    sleep(8_000, 'still waiting', { ref: false }),
  ])
  expect(outcome).toMatchObject({ code: 'REQUEST_TIMED_OUT' })
})

test('ends with its caller', async () => {
  const host = await hostOf(createTcpServer(() => {}))
  const signal = AbortSignal.abort(new Error('the caller went away'))
  await expect(ask(`http://${host}/`, { signal })).rejects.toThrow('the caller went away')
})
