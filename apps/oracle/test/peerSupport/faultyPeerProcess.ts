// A peer in a process of its own that misbehaves in the one way its first argument names. Its second
// argument is the file with the true answer, its third the file with the answer to another request.
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FaultyPeerMode, tamper } from './tamper.ts'

const [mode, file = '', otherFile = ''] = process.argv.slice(2)
const truth = readFileSync(file, 'utf8')
const other = readFileSync(otherFile, 'utf8')
const megabytes = 20

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => answer(response))
})

function answer(response: ServerResponse): void {
  // CAST: the test that starts this process passes a mode.
  const wanted = mode as FaultyPeerMode
  const headers = { 'content-type': 'application/json' }
  switch (wanted) {
    case 'silent':
      return
    case 'dying':
      // Half an answer, then nothing until the test kills this process.
      response.writeHead(200, { ...headers, 'content-length': truth.length })
      response.write(truth.slice(0, truth.length / 2), () => process.stdout.write('half\n'))
      return
    case 'dripping':
      response.writeHead(200, headers)
      setInterval(() => response.write(' '), 20)
      return
    case 'flooding':
      response.writeHead(200, headers)
      flood(response)
      return
    case 'oversized':
      response.writeHead(200, headers).end(`{"padding":"${'x'.repeat(megabytes * 1024 * 1024)}"}`)
      return
    case 'redirecting':
      response.writeHead(307, { location: `${address()}/elsewhere` }).end()
      process.stdout.write('redirected\n')
      return
    case 'failing':
      response.writeHead(500, headers).end('{}')
      return
    case 'anotherFact':
      response.writeHead(200, headers).end(other)
      return
    default:
      response.writeHead(200, headers).end(JSON.stringify(tamper(JSON.parse(truth), wanted)))
  }
}

/** Never ends and never pauses: as much as the other side takes. */
function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, 0x20)
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

function address(): string {
  // CAST: a server that listens on TCP has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

server.on('clientError', (_error, socket) => socket.destroy())
server.listen(0, '127.0.0.1', () => process.stdout.write(`${address()}\n`))
