import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  admitStart,
  endStart,
  installShutdown,
  loadSecrets,
  runDoctor,
  silenceWarnings,
  tellOverridden,
} from '@causeway/http'
import { runCommand } from './compose/commands.ts'
import { loadConfig } from './compose/config.ts'
import { createAllocator } from './compose/createAllocator.ts'
import { examineAllocator } from './compose/examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'allocator', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

/** `doctor` tells what is wrong. Other commands act on `STATE_DIR`; without one the allocator runs. */
async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.length > 0) silenceWarnings()
  if (words[0] === 'doctor') {
    process.exitCode = await runDoctor(service, words.slice(1), { variables, examine: examineAllocator })
    return
  }
  const environment = await variables()
  if (words.length === 0) return serve(environment)
  await tellOverridden(service)
  const directory = environment['STATE_DIR']
  console.log(await runCommand(words, directory && resolve(repositoryRoot, directory), Date.now))
}

async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  await admitStart(service, environment, examineAllocator)
  const config = loadConfig(environment, repositoryRoot)
  const { logger, readiness, closers, listen, signer } = await createAllocator(config, environment)
  // It takes no requests, so that there is nothing to drain.
  installShutdown({ logger, readiness, closers, drainMs: 0 })
  const addresses = await listen()
  logger.info({ ...addresses, environment: config.environment, signer }, 'allocator is listening')
}

main().catch((error: unknown) => endStart(service, error))
