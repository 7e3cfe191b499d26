import { fileURLToPath } from 'node:url'
import { ConfigurationError } from '@causeway/core'
import { installShutdown, loadSecrets } from '@causeway/http'
import { runCommand } from './compose/commands.ts'
import { loadConfig } from './compose/config.ts'
import { createSolver } from './compose/createSolver.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

/** `stop <reason>`, `resume`, `status` and `inventory` answer and end; without a command the solver runs. */
async function main(): Promise<void> {
  const environment = await loadSecrets({ environment: process.env })
  const config = loadConfig(environment, repositoryRoot)
  const words = process.argv.slice(2)
  if (words.length > 0) {
    console.log(await runCommand(words, config, environment))
    return
  }
  const solver = await createSolver(config, environment)
  const { logger, readiness, closers, wallet } = solver
  installShutdown({ logger, readiness, closers, ...(config.isLocal && { drainMs: 0 }) })
  const opsUrl = await solver.start()
  logger.info(
    { event: 'solver_started', opsUrl, environment: config.environment, wallet, dryRun: config.isDryRun },
    'solver is ready',
  )
}

main().catch((error: unknown) => {
  // A setting that must not run is the operator's to mend: name it, without a stack.
  console.error(error instanceof ConfigurationError ? error.message : error)
  process.exit(1)
})
