import { fileURLToPath } from 'node:url'
import { doctor, takeCommandLine } from '@causeway/cli'
import {
  admitStart,
  endStart,
  installShutdown,
  loadSecrets,
  runDoctor,
  silenceWarnings,
} from '@causeway/service'
import { createQuoteApi } from './compose/createQuoteApi.ts'
import { examineQuoteApi } from './compose/examine.ts'
import { loadConfig } from './config/config.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const startSignals = ['SIGTERM', 'SIGINT'] as const

const launch = { environment: process.env, nodeOptions: process.execArgv }
const service = { name: 'quote-api', repositoryRoot, launch }
const variables = () => loadSecrets({ environment: process.env })

const program = {
  name: 'npm run causeway -- quote-api',
  about: 'quote-api: without a word it runs.',
  commands: [doctor],
}

/** `doctor` tells what is wrong and ends; without a word the service runs, after the same look at its settings. */
async function main(): Promise<void> {
  const words = process.argv.slice(2)
  if (words.length > 0) {
    silenceWarnings()
    const { args } = takeCommandLine(words, program)
    const asked = args.isOn('json') ? ['--json'] : []
    process.exitCode = await runDoctor(service, asked, { variables, examine: examineQuoteApi })
    return
  }
  const environment = await variables()
  // Nothing is in flight yet. As the first process of a container it would not end by itself.
  const leave = () => process.exit(0)
  for (const signal of startSignals) process.once(signal, leave)
  await admitStart(service, environment, examineQuoteApi)
  const config = loadConfig(environment, repositoryRoot)
  const api = await createQuoteApi(config, environment)
  for (const signal of startSignals) process.off(signal, leave)
  const { logger, readiness, closers } = api
  installShutdown({ logger, readiness, closers, drainMs: config.drainMs })
  const addresses = await api.listen()
  logger.info({ ...addresses, environment: config.environment }, 'quote-api is listening')
}

main().catch((error: unknown) => endStart(service, error))
