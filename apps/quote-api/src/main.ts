import { fileURLToPath } from 'node:url'
import { doctor, takeCommandLine } from '@causeway/cli'
import { exitAfterFailedStart, loadSecrets, runDoctor, runService, silenceWarnings } from '@causeway/service'
import { createQuoteApi } from './compose/createQuoteApi.ts'
import { examineQuoteApi } from './compose/examine.ts'
import { loadConfig } from './config/config.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'quote-api', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

const program = {
  name: 'npm run causeway -- quote-api',
  about: 'quote-api: without a word it runs.',
  commands: [doctor],
}

/** Runs the service, after an examination of its settings. With the word `doctor` it only reports the examination. */
async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.length > 0) {
    silenceWarnings()
    const { args } = takeCommandLine(words, program)
    const doctorArgs = args.isOn('json') ? ['--json'] : []
    process.exitCode = await runDoctor(service, doctorArgs, { variables, examine: examineQuoteApi })
    return
  }
  const environment = await variables()
  await runService(service, environment, {
    examine: examineQuoteApi,
    // A stop signal ends the start at once, with exit code 0.
    endsWhileBuilt: true,
    async build() {
      const config = loadConfig(environment, repositoryRoot)
      const { logger, readiness, close, listen } = await createQuoteApi(config, environment)
      const begin = async () => {
        const addresses = await listen()
        logger.info({ ...addresses, environment: config.environment }, 'quote-api is listening')
      }
      return { logger, readiness, close, drainMs: config.drainMs, begin }
    },
  })
}

main().catch((error: unknown) => exitAfterFailedStart(service, error))
