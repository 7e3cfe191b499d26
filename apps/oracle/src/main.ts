import { fileURLToPath } from 'node:url'
import { admitStart, endStart, installShutdown, loadSecrets, runDoctor } from '@causeway/http'
import { loadConfig } from './compose/config.ts'
import { createOracle } from './compose/createOracle.ts'
import { examineOwnOracle } from './compose/examine.ts'
import { runAuditCommand, runHaltedCommand, runHeldCommand } from './compose/operatorCommands.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const service = { name: 'oracle', repositoryRoot }
const variables = () => loadSecrets({ environment: process.env })

/** `doctor` tells what is wrong; `halted …`, `held …` and `audit list` act on `STATE_DIR`; without a command the service runs. */
async function main(): Promise<void> {
  const [command, ...words] = process.argv.slice(2)
  if (command === 'doctor') {
    process.exitCode = await runDoctor(service, words, { variables, examine: examineOwnOracle })
    return
  }
  const environment = await variables()
  if (command !== undefined) {
    const commands = { held: runHeldCommand, audit: runAuditCommand }
    const run = command === 'held' || command === 'audit' ? commands[command] : runHaltedCommand
    const output = await run([command, ...words], environment['STATE_DIR'])
    console.log(output)
    return
  }
  await serve(environment)
}

async function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
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
