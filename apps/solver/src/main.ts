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
import { runBackupCommand } from './compose/backup.ts'
import { runCommand } from './compose/commands.ts'
import { loadConfig } from './compose/config.ts'
import { createSolver } from './compose/createSolver.ts'
import { examineSolver } from './compose/examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'solver', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

/** Waits for a slow reader, so that a backup does not fill memory. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

/** `backup`, `restore <file>`, `doctor`, `stop <reason>`, `resume`, `status`, `inventory`, `fills <since>` and `audit list` answer and end; without a command the solver runs. */
async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.length > 0) silenceWarnings()
  if (words[0] === 'doctor') {
    process.exitCode = await runDoctor(service, words.slice(1), { variables, examine: examineSolver })
    return
  }
  const environment = await variables()
  if (words[0] === 'backup' || words[0] === 'restore')
    return runBackupCommand(words, loadConfig(environment, repositoryRoot), write)
  if (words.length > 0) {
    await tellOverridden(service)
    console.log(await runCommand(words, loadConfig(environment, repositoryRoot), environment))
    return
  }
  await admitStart(service, environment, examineSolver)
  const config = loadConfig(environment, repositoryRoot)
  const solver = await createSolver(config, environment)
  const { logger, readiness, closers, wallet } = solver
  installShutdown({ logger, readiness, closers, ...(config.isLocal && { drainMs: 0 }) })
  const opsUrl = await solver.start()
  logger.info(
    { event: 'solver_started', opsUrl, environment: config.environment, wallet, dryRun: config.isDryRun },
    'solver is ready',
  )
}

main().catch((error: unknown) => endStart(service, error))
