import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'

/** A socket's path has at most 107 bytes; the difference is for the socket's name. @source unix(7) */
const directoryBytesMax = 84
const attemptsMax = 5

/**
 * Makes this process the only one that counts signing caps in `STATE_DIR`: two processes would each see only their own
 * counts, and together sign twice every cap. The lock is a Unix socket in the folder on which the owner listens. It
 * works across containers, and a killed process answers no more. It does not work for machines that share a folder over
 * a network.
 *
 * Sockets are numbered. A process that finds no answering socket listens on the next number, which only one process
 * can. Then it looks again: it owns the folder if nobody else answers, and gives way if somebody does. Only the owner
 * removes dead sockets, so that none is removed that a starting process has just made.
 * @param service names the other process in the error
 * @returns gives the folder up
 * @throws ConfigurationError while another process has it, or where no socket can be made in it
 */
export async function takeStateDirectory(directory: string, service: string): Promise<() => Promise<void>> {
  if (Buffer.byteLength(directory) > directoryBytesMax)
    throw new ConfigurationError(`STATE_DIR has a path that is too long: at most ${directoryBytesMax} bytes.`)
  await mkdir(directory, { recursive: true })
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const existing = await socketsIn(directory)
    if (await isAnyAnswered(directory, existing)) break
    const own = Math.max(0, ...existing) + 1
    const server = await listenOn(socketPath(directory, own))
    // Another starting process took the number: look again.
    if (server === undefined) continue
    const leave = () => new Promise<void>((resolve) => server.close(() => resolve()))
    const others = (await socketsIn(directory)).filter((number) => number !== own)
    if (await isAnyAnswered(directory, others)) {
      await leave()
      break
    }
    await chmod(socketPath(directory, own), 0o600)
    for (const number of others) await rm(socketPath(directory, number), { force: true })
    return leave
  }
  throw new ConfigurationError(
    `STATE_DIR is used by another ${service}: stop it, or give this one a folder of its own.`,
  )
}

const socketPath = (directory: string, number: number) => join(directory, `in-use.${number}.sock`)

async function socketsIn(directory: string): Promise<readonly number[]> {
  const numbers = (await readdir(directory)).map((name) => /^in-use\.([0-9]{1,9})\.sock$/.exec(name)?.[1])
  return numbers.filter((number) => number !== undefined).map(Number)
}

async function isAnyAnswered(directory: string, numbers: readonly number[]): Promise<boolean> {
  const answered = await Promise.all(numbers.map((number) => isAnswered(socketPath(directory, number))))
  return answered.includes(true)
}

/** True unless nobody can be listening: any other error, such as missing rights, counts as an answer. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')))
  })
}

/** Listens on a new socket; `undefined` where its name is taken. */
function listenOn(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.unref()
    server.once('error', (error) => {
      const problem = 'STATE_DIR cannot be used: no socket can be made in it.'
      if (codeOf(error) === 'EADDRINUSE') resolve(undefined)
      else reject(new ConfigurationError(problem, { cause: error }))
    })
    server.listen(path, () => resolve(server))
  })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
