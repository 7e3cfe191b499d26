import { fileURLToPath } from 'node:url'
import { Secret } from '@causeway/core'
import {
  admitStart,
  endStart,
  installShutdown,
  loadSecrets,
  runDoctor,
  silenceWarnings,
  tellOverridden,
} from '@causeway/http'
import { loadConfig } from './compose/config.ts'
import { createOracle } from './compose/createOracle.ts'
import { examineOwnOracle } from './compose/examine.ts'
import { folderState, runOperatorCommand } from './compose/operatorCommands.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

type Variables = Readonly<Record<string, string | undefined>>

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'oracle', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

/** `doctor` tells what is wrong; `halted …`, `held …` and `audit list` act on `STATE_DIR`, or on the
 * database; without a command the service runs. */
async function main(): Promise<void> {
  const [command, ...words] = process.argv.slice(2)
  if (command !== undefined) silenceWarnings()
  if (command === 'doctor') {
    process.exitCode = await runDoctor(service, words, { variables, examine: examineOwnOracle })
    return
  }
  const environment = await variables()
  if (command === undefined) return serve(environment)
  await tellOverridden(service)
  console.log(await operate([command, ...words], environment))
}

/** A database takes the place of a folder: nobody looks into that any more. */
async function operate(words: readonly string[], environment: Variables): Promise<string> {
  const { ORACLE_DATABASE_URL: url = '', STATE_DIR: directory = '' } = environment
  if (url === '') return runOperatorCommand(words, directory === '' ? undefined : folderState(directory))
  const { withSharedState } = await import('./compose/sharedState.ts')
  return withSharedState(new Secret(url), (state) => runOperatorCommand(words, state))
}

async function serve(environment: Variables): Promise<void> {
  await admitStart(service, environment, examineOwnOracle)
  const config = loadConfig(environment, repositoryRoot)
  const oracle = await createOracle(config, environment)
  const { logger, readiness, closers } = oracle
  installShutdown({ logger, readiness, closers, ...(config.isLocal && { drainMs: 0 }) })
  const addresses = await oracle.listen()
  const { signer } = oracle
  logger.info({ ...addresses, environment: config.environment, signer }, 'oracle is listening')
}

main().catch((error: unknown) => endStart(service, error))
