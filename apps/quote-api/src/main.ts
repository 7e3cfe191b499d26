import { fileURLToPath } from 'node:url'
import { ConfigurationError } from '@causeway/core'
import { installShutdown, loadSecrets } from '@causeway/http'
import { createQuoteApi } from './compose/createQuoteApi.ts'
import { loadConfig } from './config/config.ts'

const repositoryRoot = fileURLToPath(new URL('../../..', import.meta.url))

const startSignals = ['SIGTERM', 'SIGINT'] as const

async function main(): Promise<void> {
  const environment = await loadSecrets({ environment: process.env })
  const config = loadConfig(environment, repositoryRoot)
  // Nothing is in flight yet. As the first process of a container it would not end by itself.
  const leave = () => process.exit(0)
  for (const signal of startSignals) process.once(signal, leave)
  const api = await createQuoteApi(config, environment)
  for (const signal of startSignals) process.off(signal, leave)
  const { logger, readiness, closers } = api
  const shutdown = { logger, readiness, closers, ...(config.isLocal && { drainMs: 0 }) }
  installShutdown(shutdown)
  const addresses = await api.listen()
  logger.info({ ...addresses, environment: config.environment }, 'quote-api is listening')
}

main().catch((error: unknown) => {
  // A setting that must not run is the operator's to mend: name it, without a stack.
  console.error(error instanceof ConfigurationError ? error.message : error)
  process.exit(1)
})
