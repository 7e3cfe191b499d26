import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { privateKeyToAddress } from 'viem/accounts'
import { familyVariables } from '../../families/familyVariables.ts'
import type { LocalAccount, LocalKeys } from '../../keys/localKeys.ts'
import type { ServiceContext, ServicePlan } from './servicePlan.ts'

const oracleNumbers = [1, 2, 3] as const
type OracleNumber = (typeof oracleNumbers)[number]

/** Signatures that the hub's multisig asks for. */
export const oracleThreshold = 2

/** Three oracles that peer each other, with an allowlist and threshold 2. */
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
  return planOf({
    name,
    about: `the service itself, peered with the other two, ${oracleThreshold} of ${oracleNumbers.length} signatures`,
    position: number - 1,
    settings(context) {
      const { keys } = context.network
      return {
        key: signerOf(keys, number).privateKey,
        PEER_API_KEYS: `${peerKey(keys, number)}:peers`,
        PEERS: peersOf(
          context,
          oracleNumbers.filter((other) => other !== number),
        ),
        ORACLE_SIGNERS: oracleSigners(keys)
          .map(({ signer }) => signer)
          .join(';'),
        ORACLE_SIGNERS_THRESHOLD: String(oracleThreshold),
      }
    },
  })
}

/** A signer without a key: so the threshold of 2 is never reached, and every answer of the peer is compared. */
const keylessSigner = '0x000000000000000000000000000000000000dEaD'

/** An oracle in shadow mode: nobody counts its signer; it compares the first oracle's answers with its own. @source rule O-115 */
export const shadowPlan: ServicePlan = planOf({
  name: 'shadow',
  about: 'an oracle in shadow mode: it compares what oracle-1 signs with its own, and counts nowhere',
  position: oracleNumbers.length,
  settings(context) {
    const { keys } = context.network
    const key = shadowKey(keys)
    return {
      key,
      PEER_API_KEYS: '',
      PEERS: peersOf(context, [1]),
      ORACLE_SIGNERS: `${privateKeyToAddress(key)};${keylessSigner}`,
      ORACLE_SIGNERS_THRESHOLD: '2',
    }
  },
})

/** Derived, so that every start has the same. */
function shadowKey(keys: LocalKeys): Hex {
  return `0x${createHash('sha256')
    .update(`shadow of ${signerOf(keys, 1).privateKey}`)
    .digest('hex')}`
}

type OracleParts = Pick<ServicePlan, 'name' | 'about'> & {
  /** Number added to the first ports. */
  readonly position: number
  /** Its private key, and the variables in which oracles differ. */
  settings(context: ServiceContext): { readonly key: Hex } & Readonly<Record<string, string>>
}

function planOf({ name, about, position, settings }: OracleParts): ServicePlan {
  return {
    name,
    about,
    script: 'apps/oracle/src/main.ts',
    ports: ({ oracle }) => ({ http: oracle + position, ops: oracle + 10 + position }),
    async environment(context, ports) {
      const { chains, paths } = context.network
      const { key, ...ownVariables } = settings(context)
      return {
        ENVIRONMENT: 'local',
        HTTP_PORT: String(ports['http']),
        OPS_PORT: String(ports['ops']),
        BASE_RPC_URL: chains.base.url,
        OPTIMISM_RPC_URL: chains.optimism.url,
        RELAY_RPC_URL: chains.hub.url,
        ...familyVariables(context.families),
        ECDSA_PRIVATE_KEY: '',
        ECDSA_PRIVATE_KEY_FILE: await context.writeSecret(`${name}.key`, key),
        STATE_DIR: join(paths.directory, name),
        ...ownVariables,
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

/** Peers of an oracle: `url|key;url|key` of those that run. */
function peersOf({ network, ports }: ServiceContext, numbers: readonly OracleNumber[]): string {
  return numbers
    .flatMap((other) => {
      const port = ports.get(oracleName(other))?.['http']
      return port === undefined ? [] : [`http://127.0.0.1:${port}|${peerKey(network.keys, other)}`]
    })
    .join(';')
}

/** API key with which peers ask this oracle; derived, so that every start has the same. */
function peerKey(keys: LocalKeys, number: OracleNumber): string {
  return createHash('sha256')
    .update(`peers of ${signerOf(keys, number).privateKey}`)
    .digest('hex')
}

function signerOf(keys: LocalKeys, number: OracleNumber): LocalAccount {
  const [first, second, third] = keys.oracles
  return { 1: first, 2: second, 3: third }[number]
}
