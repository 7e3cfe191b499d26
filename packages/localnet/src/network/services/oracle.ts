import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { familyVariables } from '../../families/familyVariables.ts'
import type { LocalAccount, LocalKeys } from '../../keys/localKeys.ts'
import type { ServiceContext, ServicePlan } from './servicePlan.ts'

const oracleNumbers = [1, 2, 3] as const
type OracleNumber = (typeof oracleNumbers)[number]

/** Signatures that the hub's multisig asks for. @source design.md 7.1 */
export const oracleThreshold = 2

/** Three oracles that peer each other, with an allowlist and threshold 2. @source design.md 1 */
export const oraclePlans: readonly ServicePlan[] = oracleNumbers.map(oraclePlan)

function oracleName(number: OracleNumber): string {
  return `oracle-${number}`
}

/** The oracles of a session with the address each signs with. */
export function oracleSigners(keys: LocalKeys): readonly { name: string; signer: LocalAccount['address'] }[] {
  return oracleNumbers.map((number) => ({
    name: oracleName(number),
    signer: signerOf(keys, number).address,
  }))
}

function oraclePlan(number: OracleNumber): ServicePlan {
  const name = oracleName(number)
  return {
    name,
    about: `the service itself, peered with the other two, ${oracleThreshold} of ${oracleNumbers.length} signatures`,
    script: 'apps/oracle/src/main.ts',
    ports: ({ oracle }) => ({ http: oracle + number - 1, ops: oracle + 9 + number }),
    async environment(context, ports) {
      const { chains, keys, paths } = context.network
      return {
        ENVIRONMENT: 'local',
        HTTP_PORT: String(ports['http']),
        OPS_PORT: String(ports['ops']),
        BASE_RPC_URL: chains.base.url,
        OPTIMISM_RPC_URL: chains.optimism.url,
        RELAY_RPC_URL: chains.hub.url,
        ...familyVariables(context.families),
        ECDSA_PRIVATE_KEY: '',
        ECDSA_PRIVATE_KEY_FILE: await context.writeSecret(`${name}.key`, signerOf(keys, number).privateKey),
        STATE_DIR: join(paths.directory, name),
        PEER_API_KEYS: `${peerKey(keys, number)}:peers`,
        PEERS: peersOf(context, number),
        ORACLE_SIGNERS: oracleSigners(keys)
          .map(({ signer }) => signer)
          .join(';'),
        ORACLE_SIGNERS_THRESHOLD: String(oracleThreshold),
      }
    },
    readyUrl: (ports) => `http://127.0.0.1:${ports['ops']}/ready`,
  }
}

/** `url|key|signer;…` of all oracles of a session, as quote-api asks them. */
export function settlementOracles({ network, ports }: ServiceContext): string {
  return oracleNumbers
    .flatMap((number) => {
      const port = ports.get(oracleName(number))?.['http']
      const { address } = signerOf(network.keys, number)
      return port === undefined
        ? []
        : [`http://127.0.0.1:${port}|${peerKey(network.keys, number)}|${address}`]
    })
    .join(';')
}

/** `url|key;url|key` of the oracles that run beside this one. */
function peersOf({ network, ports }: ServiceContext, number: OracleNumber): string {
  return oracleNumbers
    .filter((other) => other !== number)
    .flatMap((other) => {
      const port = ports.get(oracleName(other))?.['http']
      return port === undefined ? [] : [`http://127.0.0.1:${port}|${peerKey(network.keys, other)}`]
    })
    .join(';')
}

/** What peers authenticate with at this oracle; derived, so that every start has the same. */
function peerKey(keys: LocalKeys, number: OracleNumber): string {
  return createHash('sha256')
    .update(`peers of ${signerOf(keys, number).privateKey}`)
    .digest('hex')
}

function signerOf(keys: LocalKeys, number: OracleNumber): LocalAccount {
  const [first, second, third] = keys.oracles
  return { 1: first, 2: second, 3: third }[number]
}
