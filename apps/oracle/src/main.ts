import { fileURLToPath } from 'node:url'
import { takeCommandLine } from '@causeway/cli'
import { Secret } from '@causeway/core'
import {
  exitAfterFailedStart,
  loadSecrets,
  printOverridden,
  runDoctor,
  runService,
  silenceWarnings,
} from '@causeway/service'
import { loadConfig } from './compose/config.ts'
import { createOracle } from './compose/createOracle.ts'
import { examineOwnOracle } from './compose/examine.ts'
import { folderState, type OperatorState, oracleProgram } from './compose/operatorCommands.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

type Variables = Readonly<Record<string, string | undefined>>

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'oracle', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

/** Runs the command of the command line, which acts on `STATE_DIR` or the database; without a command, the service. */
async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.length === 0) return serve(await variables())
  silenceWarnings()
  const { command, args } = takeCommandLine(words, oracleProgram)
  if ('isDoctor' in command) {
    const doctorArguments = args.isOn('json') ? ['--json'] : []
    process.exitCode = await runDoctor(service, doctorArguments, { variables, examine: examineOwnOracle })
    return
  }
  const environment = await variables()
  await printOverridden(service)
  console.log(await withState(environment, (state) => command.run(state, args)))
}

/** Runs a command on the oracle's state: the database where one is set, as it replaces the folder. */
async function withState(
  environment: Variables,
  work: (state: OperatorState | undefined) => Promise<string>,
): Promise<string> {
  const { ORACLE_DATABASE_URL: url = '', STATE_DIR: directory = '' } = environment
  if (url === '') return work(directory === '' ? undefined : folderState(directory))
  const { withSharedState } = await import('./compose/sharedState.ts')
  return withSharedState(new Secret(url), work)
}

function serve(environment: Variables): Promise<void> {
  return runService(service, environment, {
    examine: examineOwnOracle,
    async build() {
      const config = loadConfig(environment, repositoryRoot)
      const { logger, readiness, close, listen, signer } = await createOracle(config, environment)
      const begin = async () => {
        const addresses = await listen()
        logger.info({ ...addresses, environment: config.environment, signer }, 'oracle is listening')
      }
      // In `local` no balancer has to notice the end, so it is not waited for.
      return { logger, readiness, close, ...(config.isLocal && { drainMs: 0 }), begin }
    },
  })
}

main().catch((error: unknown) => exitAfterFailedStart(service, error))
