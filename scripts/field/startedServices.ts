import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Hex } from '@causeway/core'
import { createDatabase, freeLoopbackPort, startEmbeddedPostgres } from '@causeway/database'
import { bundledScript, type RunFile, startProcess, waitUntilReady } from '@causeway/localnet'
import type { OpenChain } from './chains.ts'
import type { FieldOptions } from './options.ts'
import { type FieldServices, planServices } from './services.ts'

type End = () => Promise<unknown>

const databaseNames = ['quote_api', 'solver'] as const
const graceMs = 20_000
const priceVariables = ['DEFILLAMA_URL', 'HERMES_URL', 'HERMES_API_KEY', 'COINGECKO_URL', 'COINGECKO_API_KEY']
const priceServiceUrl = 'https://coins.llama.fi'

/**
 * A database server of this run alone, and services around it that do not run yet.
 * @param place.onStop takes what stops the server
 */
export async function prepareServices(
  { environment, variables }: Pick<FieldOptions, 'environment' | 'variables'>,
  place: {
    /** Folder of files that are only needed during the run: environment files, and the services' state. */
    readonly state: string
    readonly endpoints: Readonly<Record<string, string>>
    readonly capVariables: readonly string[]
    readonly fillWalletKey: Hex
    readonly onStop: (end: End) => void
  },
): Promise<FieldServices> {
  const { state, endpoints, capVariables, fillWalletKey } = place
  const database = await startEmbeddedPostgres({ dataDirectory: join(state, 'postgres') })
  place.onStop(() => database.stop())
  const { connectionString } = database
  const admin = createDatabase({ connectionString, statementTimeoutMs: 60_000 })
  for (const name of databaseNames) await admin.query(`create database ${name}`)
  await admin.close()
  const chosen = new Set<number>()
  return planServices({
    environment,
    configDirectory: join(state, 'configs'),
    stateDirectory: state,
    capVariables,
    fillWalletKey,
    endpoints: { DEFILLAMA_URL: priceServiceUrl, ...setAmong(variables, priceVariables), ...endpoints },
    databaseUrl: (name) => connectionString.replace(/\/causeway$/, `/${name}`),
    async freePort() {
      for (;;) {
        const port = await freeLoopbackPort()
        if (chosen.has(port)) continue
        chosen.add(port)
        return port
      }
    },
  })
}

function setAmong(
  variables: FieldOptions['variables'],
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = variables[name]
      return value === undefined || value === '' ? [] : [[name, value] as const]
    }),
  )
}

/**
 * Starts all of them side by side, and waits until each is ready.
 * @param place.onStop takes what stops them, also where one does not start
 * @throws StartFailure with the end of a log
 */
export async function startServices(
  { list }: FieldServices,
  place: {
    readonly repositoryRoot: string
    readonly logs: string
    readonly runFile: RunFile
    readonly print: (line: string) => void
    readonly signal: AbortSignal
    readonly onStop: (end: End) => void
  },
): Promise<void> {
  const { repositoryRoot, logs, runFile, print, signal, onStop } = place
  const starts = list.map(({ name, script, variables, readyUrl }) => ({
    readyUrl,
    starting: startProcess({
      name,
      command: process.execPath,
      args: [bundledScript(script)],
      directory: repositoryRoot,
      environment: { PATH: process.env['PATH'], ...variables },
      logFile: join(logs, `${name}.log`),
      runFile,
      graceMs,
    }),
  }))
  // One that is still starting when another fails, or when the run is stopped, is stopped too.
  onStop(async () => {
    const outcomes = await Promise.allSettled(starts.map(({ starting }) => starting))
    const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    await Promise.all(started.map((one) => one.stop()))
  })
  await Promise.all(
    starts.map(async ({ readyUrl, starting }) =>
      waitUntilReady(await starting, { url: readyUrl, report: print, signal }),
    ),
  )
}

const run = promisify(execFile)

/**
 * Deploys what a chain lacks of what the files name, by the command that operators use, with the variables of quote-api.
 * @throws Error with what it said, where no fill contract stands there afterwards
 */
export async function deployContracts(
  { list }: FieldServices,
  { key, client, fillContract }: OpenChain,
  { repositoryRoot, deployerKey }: { readonly repositoryRoot: string; readonly deployerKey: Hex },
): Promise<void> {
  const { variables } = list.find(({ name }) => name === 'quote-api') ?? {}
  const words = ['contracts', 'deploy', '--chain', key, '--configured']
  const { stdout } = await run(process.execPath, [bundledScript('apps/quote-api/src/cli.ts'), ...words], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], ...variables, DEPLOYER_PRIVATE_KEY: deployerKey },
  })
  const code = await client.getCode({ address: fillContract })
  if (code === undefined || code === '0x')
    throw new Error(`no fill contract stands at ${fillContract}: ${stdout}`)
}
