import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { takeCommandLine } from '@causeway/cli'
import { ConfigurationError } from '@causeway/core'
import {
  exitAfterFailedStart,
  loadSecrets,
  printOverridden,
  runDoctor,
  runService,
  silenceWarnings,
} from '@causeway/service'
import { allocatorProgram, operatorFiles } from './compose/commands.ts'
import { loadConfig } from './compose/config.ts'
import { createAllocator } from './compose/createAllocator.ts'
import { examineAllocator } from './compose/examine.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'allocator', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

/** Runs the command of the command line, which acts on `STATE_DIR`; without a command it runs the allocator. */
async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.length === 0) return serve(await variables())
  silenceWarnings()
  const { command, args } = takeCommandLine(words, allocatorProgram)
  if ('isDoctor' in command) {
    const doctorArguments = args.isOn('json') ? ['--json'] : []
    process.exitCode = await runDoctor(service, doctorArguments, { variables, examine: examineAllocator })
    return
  }
  const { STATE_DIR: directory } = await variables()
  await printOverridden(service)
  if (!directory)
    throw new ConfigurationError('STATE_DIR is not set: name the folder of the allocator that is meant.')
  console.log(await command.run(operatorFiles(resolve(repositoryRoot, directory), Date.now), args))
}

function serve(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  return runService(service, environment, {
    examine: examineAllocator,
    async build() {
      const config = loadConfig(environment, repositoryRoot)
      const { logger, readiness, close, listen, signer } = await createAllocator(config, environment)
      const begin = async () => {
        const addresses = await listen()
        logger.info({ ...addresses, environment: config.environment, signer }, 'allocator is listening')
      }
      // `drainMs`: it serves no requests that would have to end.
      return { logger, readiness, close, drainMs: 0, begin }
    },
  })
}

main().catch((error: unknown) => exitAfterFailedStart(service, error))
