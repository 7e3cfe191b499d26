import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'

/** Addresses of sockets have 107 bytes at most; the rest is for the name of ours. @source unix(7) */
const directoryBytesMax = 84
const takesMax = 5

/**
 * Makes this process the only one that counts in `STATE_DIR`: two would each keep half of the counts, and together sign
 * twice of every cap. The process listens on a socket in the folder: who holds it is whoever answers there, in whatever
 * container it runs, and a process that is killed answers no more. Machines that share a folder over a network are not
 * told apart.
 *
 * Sockets are numbered. Whoever finds all of them dead takes the next number, which one alone can, and has the folder
 * once he has seen after that that nobody else answers. He alone removes the dead ones, so that nothing is removed that
 * has come alive meanwhile.
 * @param service that the message names
 * @returns lets another process in
 * @throws ConfigurationError while another process has it, or where no socket can be made in it
 */
export async function takeStateDirectory(directory: string, service: string): Promise<() => Promise<void>> {
  if (Buffer.byteLength(directory) > directoryBytesMax)
    throw new ConfigurationError(`STATE_DIR has a path that is too long: at most ${directoryBytesMax} bytes.`)
  await mkdir(directory, { recursive: true })
  for (let take = 0; take < takesMax; take += 1) {
    const before = await socketsIn(directory)
    if (await isAnyAnswered(directory, before)) break
    const own = Math.max(0, ...before) + 1
    const server = await listenOn(socketPath(directory, own))
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

/** Whoever may not ask has to take it for answered. */
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

/** `undefined` where somebody has taken the number. */
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
