// `main.ts` in a process of its own, with exactly the environment that a test gives it.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledScript, type TestNetwork } from '@causeway/localnet'

export const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))
const mainFile = join(repositoryRoot, bundledScript('apps/oracle/src/main.ts'))

export const callerKey = 'caller-key-of-the-tests'

export type OracleProcess = {
  /** Everything it printed so far, both streams. */
  output(): string
  /** Its public address, once it listens. @throws Error with its output when it ended before */
  listening(): Promise<string>
  signal(name: NodeJS.Signals): void
  /** Exit code. */
  readonly ended: Promise<number | null>
  stop(): Promise<void>
}

/** One oracle of a network, without peers. */
export function oracleVariables(network: TestNetwork): Record<string, string> {
  const { keys, chains } = network
  return {
    ENVIRONMENT: 'local',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: '0',
    OPS_PORT: '0',
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
    RELAY_RPC_URL: chains.hub.url,
    SIGNING_MODULE: 'raw-private-key',
    ECDSA_PRIVATE_KEY: keys.oracles[0].privateKey,
    API_KEYS: `${callerKey}:caller`,
    FINALITY_CHECK_INTERVAL_MS: '100',
    // Background attestation would ask endpoints too, and tests count only the questions of their own requests.
    AHEAD: 'off',
    LOG_LEVEL: 'info',
  }
}

/** The local files, with caps of an hour on Base, by currency in smallest units. */
export async function writeCappedConfigs(
  directory: string,
  signingCaps: Readonly<Record<string, string>>,
): Promise<void> {
  const hubFile = 'chains.hub.local.json'
  await writeFile(join(directory, hubFile), await readFile(join(repositoryRoot, 'configs', hubFile)))
  const file = JSON.parse(await readFile(join(repositoryRoot, 'configs/chains.local.json'), 'utf8'))
  const chains = file.chains.map((chain: { id: string }) =>
    chain.id === 'base' ? { ...chain, signingCaps } : chain,
  )
  await writeFile(join(directory, 'chains.local.json'), JSON.stringify({ ...file, chains }))
}

export function spawnOracle(
  environment: Readonly<Record<string, string>>,
  words: readonly string[] = [],
): OracleProcess {
  const child = spawn(process.execPath, [mainFile, ...words], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const address = new Promise<string>((resolve, reject) => {
    const keep = (chunk: Buffer) => {
      output += chunk.toString()
      const found = /"publicUrl":"([^"]+)"/.exec(output)?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    void ended.then(() => reject(new Error(`the oracle ended before it listened: ${output}`)))
  })
  // Whoever does not ask for the address need not hear that there is none.
  address.catch(() => {})
  return {
    output: () => output,
    listening: () => address,
    signal: (name) => void child.kill(name),
    ended,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
