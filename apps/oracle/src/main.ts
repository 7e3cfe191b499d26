import { fileURLToPath } from 'node:url'
import { ConfigurationError } from '@causeway/core'
import { installShutdown, loadSecrets } from '@causeway/http'
import { loadConfig } from './compose/config.ts'
import { createOracle } from './compose/createOracle.ts'
import { runHaltedCommand, runHeldCommand } from './compose/operatorCommands.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** `halted …` and `held …` act on `STATE_DIR`; without a command the service runs. */
async function main(): Promise<void> {
  const environment = await loadSecrets({ environment: process.env })
  const [command, ...words] = process.argv.slice(2)
  if (command !== undefined) {
    const run = command === 'held' ? runHeldCommand : runHaltedCommand
    const output = await run([command, ...words], environment['STATE_DIR'])
    console.log(output)
    return
  }
  await serve(environment)
}

async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const config = loadConfig(environment, repositoryRoot)
  const oracle = await createOracle(config, environment)
  const { logger, readiness, closers } = oracle
  installShutdown({ logger, readiness, closers, ...(config.isLocal && { drainMs: 0 }) })
  const addresses = await oracle.listen()
  const { signer } = oracle
  logger.info({ ...addresses, environment: config.environment, signer }, 'oracle is listening')
}

main().catch((error: unknown) => {
  // A setting that must not run is the operator's to mend: name it, without a stack.
  console.error(error instanceof ConfigurationError ? error.message : error)
  process.exit(1)
})
