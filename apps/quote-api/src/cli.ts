import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Arguments } from '@causeway/cli'
import { loadSecrets, printOverridden, runDoctor, silenceWarnings } from '@causeway/service'
import { examineQuoteApi } from './compose/examine.ts'
import { loadConfig } from './config/config.ts'
import { commandEnvironment } from './operate/cli/commandEnvironment.ts'
import { runCli } from './operate/cli/runCli.ts'

// Entry point of the operators' command line: reads the environment and runs one command (see `runCli`).

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const launch = { environment: process.env, nodeOptions: process.execArgv }

async function readVariables() {
  const secrets = await loadSecrets({ environment: process.env })
  return commandEnvironment(secrets, (folder) =>
    readFile(resolve(repositoryRoot, folder, 'services/quote-api.json'), 'utf8'),
  )
}

/** Services that have variables of their own, so that their doctor runs with these. */
const otherServices = ['oracle', 'solver', 'allocator']

async function doctor(args: Arguments): Promise<0 | 1 | 2> {
  const service = args.text('service') ?? 'quote-api'
  if (service !== 'quote-api') {
    const command = otherServices.find((name) => name === service)
    const advice = `quote-api, or run npm run causeway -- ${command ?? '<service>'} doctor with the variables of that service.`
    await write(process.stderr, `--service takes ${advice}`)
    return 2
  }
  return runDoctor({ name: service, repositoryRoot, launch }, args.isOn('json') ? ['--json'] : [], {
    variables: readVariables,
    examine: examineQuoteApi,
  })
}

async function main(): Promise<number> {
  silenceWarnings()
  const words = process.argv.slice(2)
  // The doctor tells overridden settings among its findings.
  if (words[0] !== 'doctor') await printOverridden({ launch })
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  return runCli({
    words,
    variables: process.env,
    actor: `cli:${userInfo().username}`,
    doctor,
    signal: stopping.signal,
    print: (line) => write(process.stdout, line),
    complain: (line) => write(process.stderr, line),
    async config() {
      const variables = await readVariables()
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

// Errors of the stream reach the writer through its own write.
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
