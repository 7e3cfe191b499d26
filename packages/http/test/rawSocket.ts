import { type AddressInfo, connect, type Socket } from 'node:net'
import type { HttpApp } from '../src/fastifyTypes.ts'

/** Sends bytes as they are and collects what comes back until the other side closes or time is up. */
export async function sendRaw(
  port: number,
  parts: readonly (string | Buffer | { waitMs: number })[],
  timeoutMs = 15_000,
): Promise<{ text: string; closed: boolean; elapsedMs: number }> {
  const startedAt = performance.now()
  const socket: Socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  // A server that refuses may reset while we still send.
  socket.on('error', () => {})
  const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
  await new Promise((resolve) => socket.once('connect', resolve))
  for (const part of parts) {
    if (typeof part === 'object' && 'waitMs' in part) {
      await new Promise((resolve) => setTimeout(resolve, part.waitMs))
    } else if (!socket.destroyed) {
      socket.write(part)
    }
  }
  const timeout = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), timeoutMs).unref())
  const isClosed = await Promise.race([closed, timeout])
  socket.destroy()
  return { text, closed: isClosed, elapsedMs: performance.now() - startedAt }
}

/** Status and parsed JSON body of the first answer in a raw text. */
export function parseAnswer(text: string): { status: number; body: unknown } {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  return { status: Number(head.split(' ')[1]), body: body === '' ? undefined : JSON.parse(body) }
}

/** The port of an app that listens. */
export function portOf(app: HttpApp): number {
  // CAST: a TCP listener has a TCP address.
  return (app.server.address() as AddressInfo).port
}
