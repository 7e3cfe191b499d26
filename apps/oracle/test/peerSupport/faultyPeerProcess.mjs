// A peer in a process of its own that misbehaves in the one way its first argument names. Its second argument is the
// file with its answer. Plain JavaScript of Node alone: it starts in a tenth of the time.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [mode, file = ''] = process.argv.slice(2)
const text = readFileSync(file, 'utf8')
const megabytes = 20

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => answer(response))
})

/** @param {import('node:http').ServerResponse} response */
function answer(response) {
  const headers = { 'content-type': 'application/json' }
  switch (mode) {
    case 'silent':
      return
    case 'dying':
      // Half an answer, then nothing until the test kills this process.
      response.writeHead(200, { ...headers, 'content-length': text.length })
      response.write(text.slice(0, text.length / 2), () => process.stdout.write('half\n'))
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
    default:
      response.writeHead(200, headers).end(text)
  }
}

/**
 * Never ends and never pauses: as much as the other side takes.
 * @param {import('node:http').ServerResponse} response
 */
function flood(response) {
  const chunk = Buffer.alloc(64 * 1024, 0x20)
  const more = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more)
  }
  more()
}

function address() {
  const bound = server.address()
  return typeof bound === 'object' ? `http://127.0.0.1:${bound?.port}` : ''
}

server.on('clientError', (_error, socket) => socket.destroy())
server.listen(0, '127.0.0.1', () => process.stdout.write(`${address()}\n`))
