import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigurationError } from '@causeway/core'
import { installShutdown, loadSecrets } from '@causeway/http'
import { runCommand } from './compose/commands.ts'
import { loadConfig } from './compose/config.ts'
import { createAllocator } from './compose/createAllocator.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** Commands act on `STATE_DIR`; without one the allocator runs. */
async function main(): Promise<void> {
  const environment = await loadSecrets({ environment: process.env })
  const words = process.argv.slice(2)
  if (words.length === 0) return serve(environment)
  const directory = environment['STATE_DIR']
  console.log(await runCommand(words, directory && resolve(repositoryRoot, directory), Date.now))
}

async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const config = loadConfig(environment, repositoryRoot)
  const { logger, readiness, closers, listen, signer } = await createAllocator(config, environment)
  // It takes no requests, so that there is nothing to drain.
  installShutdown({ logger, readiness, closers, drainMs: 0 })
  const addresses = await listen()
  logger.info({ ...addresses, environment: config.environment, signer }, 'allocator is listening')
}

main().catch((error: unknown) => {
  // A setting that must not run is the operator's to mend: name it, without a stack.
  console.error(error instanceof ConfigurationError ? error.message : error)
  process.exit(1)
})
