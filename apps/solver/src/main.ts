import { fileURLToPath } from 'node:url'
import { takeCommandLine } from '@causeway/cli'
import {
  exitAfterFailedStart,
  loadSecrets,
  printOverridden,
  runDoctor,
  runService,
  silenceWarnings,
} from '@causeway/service'
import { solverProgram } from './compose/commands.ts'
import { loadConfig } from './compose/config.ts'
import { createSolver } from './compose/createSolver.ts'
import { examineSolver } from './compose/examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'solver', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

/** Writes to stdout and waits for a slow reader, so that a backup does not fill memory. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

/** Runs a command, such as `status` or `doctor`, and ends; without one, runs the solver. */
async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.length === 0) return serve(await variables())
  silenceWarnings()
  const { command, args } = takeCommandLine(words, solverProgram)
  if ('isDoctor' in command) {
    const doctorArguments = args.isOn('json') ? ['--json'] : []
    process.exitCode = await runDoctor(service, doctorArguments, { variables, examine: examineSolver })
    return
  }
  const environment = await variables()
  await printOverridden(service)
  const config = loadConfig(environment, repositoryRoot)
  const lines = await command.run({ config, variables: environment, write }, args)
  if (lines !== undefined) console.log(lines)
}

function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  return runService(service, environment, {
    examine: examineSolver,
    async build() {
      const config = loadConfig(environment, repositoryRoot)
      const { logger, readiness, close, start, wallet } = await createSolver(config, environment)
      const begin = async () => {
        const opsUrl = await start()
        const startFields = { environment: config.environment, wallet, dryRun: config.isDryRun }
        logger.info({ event: 'solver_started', opsUrl, ...startFields }, 'solver is ready')
      }
      // In `local` no balancer has to notice the end, so it is not waited for.
      return { logger, readiness, close, ...(config.isLocal && { drainMs: 0 }), begin }
    },
  })
}

main().catch((error: unknown) => exitAfterFailedStart(service, error))
