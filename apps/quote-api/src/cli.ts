import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadSecrets } from '@causeway/http'
import { loadConfig } from './config/config.ts'
import { commandEnvironment } from './operate/cli/commandEnvironment.ts'
import { runCli } from './operate/cli/runCli.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

async function main(): Promise<number> {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  return runCli({
    words: process.argv.slice(2),
    actor: `cli:${userInfo().username}`,
    signal: stopping.signal,
    print: (line) => write(process.stdout, line),
    complain: (line) => write(process.stderr, line),
    async config() {
      const secrets = await loadSecrets({ environment: process.env })
      const variables = await commandEnvironment(secrets, (folder) =>
        readFile(resolve(repositoryRoot, folder, 'services/quote-api.json'), 'utf8'),
      )
      return { config: loadConfig(variables, repositoryRoot), variables }
    },
  })
}

/** Waits for a slow reader, so that a long export does not fill memory. */
function write(stream: NodeJS.WriteStream, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(`${line}\n`, (error) => (error ? reject(error) : resolve()))
  })
}

/** A reader that has seen enough, as `head`, is no failure. */
const isClosedPipe = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EPIPE'

// Whoever writes learns of it from the write.
process.stdout.on('error', () => {})

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    if (isClosedPipe(error)) return
    console.error(error)
    process.exitCode = 1
  },
)
