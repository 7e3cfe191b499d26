// Three oracles that peer each other over one network, in this process: what `main.ts` builds, with an
// allowlist and threshold 2.
import { fileURLToPath } from 'node:url'
import { freeLoopbackPort, type TestNetwork } from '@causeway/localnet'
import { loadConfig } from '../../src/compose/config.ts'
import type { Oracle } from '../../src/compose/createOracle.ts'
import { createOracle } from '../../src/compose/createOracle.ts'

const repositoryRoot = fileURLToPath(new URL('../../../..', import.meta.url))

export type OracleTrio = {
  readonly oracles: readonly Oracle[]
  /** Public addresses, in the order of the network's oracle keys. */
  readonly urls: readonly string[]
  /** Posts to the first oracle as a caller with a key, so that no limit applies. */
  post(path: string, body: object): Promise<{ readonly status: number; readonly text: string }>
  /** Metrics of the first oracle. */
  metrics(): Promise<string>
  stop(): Promise<void>
}

export const callerKey = 'caller-key-of-the-tests'
const peerKey = 'peer-key-of-the-tests'

/** @param families where the chains of other families are; without it there are none */
export async function startOracleTrio(
  network: TestNetwork,
  families: Readonly<Record<string, string>> = {},
): Promise<OracleTrio> {
  const ports = await Promise.all(network.keys.oracles.map(() => freeLoopbackPort()))
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const oracles: Oracle[] = []
  const opsUrls: string[] = []
  const stop = async () => {
    for (const oracle of oracles) await oracle.close()
  }
  try {
    for (const [index, port] of ports.entries()) {
      const environment = { ...oracleEnvironment(network, { index, port, urls }), ...families }
      const oracle = await createOracle(loadConfig(environment, repositoryRoot), environment)
      oracles.push(oracle)
      opsUrls.push((await oracle.listen()).opsUrl)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return {
    oracles,
    urls,
    stop,
    async metrics() {
      return (await fetch(`${opsUrls[0]}/metrics`)).text()
    },
    async post(path, body) {
      const answer = await fetch(`${urls[0]}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
        body: JSON.stringify(body),
      })
      return { status: answer.status, text: await answer.text() }
    },
  }
}

function oracleEnvironment(
  { keys, chains }: TestNetwork,
  at: { readonly index: number; readonly port: number; readonly urls: readonly string[] },
): Record<string, string> {
  return {
    ENVIRONMENT: 'local',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: String(at.port),
    OPS_PORT: '0',
    BASE_RPC_URL: chains.base.url,
    OPTIMISM_RPC_URL: chains.optimism.url,
    RELAY_RPC_URL: chains.hub.url,
    ECDSA_PRIVATE_KEY: keys.oracles[at.index]?.privateKey ?? '',
    API_KEYS: `${callerKey}:caller`,
    PEER_API_KEYS: `${peerKey}:peers`,
    PEERS: at.urls
      .filter((_url, index) => index !== at.index)
      .map((url) => `${url}|${peerKey}`)
      .join(';'),
    ORACLE_SIGNERS: keys.oracles.map(({ address }) => address).join(';'),
    ORACLE_SIGNERS_THRESHOLD: '2',
    LOG_LEVEL: 'silent',
  }
}
