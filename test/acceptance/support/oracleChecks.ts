// Checks that take longer than a question: starts that are refused, and peers that are waited for. Both go on beside the tests.
// A start takes seconds, so one of each kind is made; the others ask the examination that every start begins with.
import { createServer } from 'node:net'
import { familyVariables } from '@causeway/localnet'
import { expect } from 'vitest'
import { examineOwnOracle } from '../../../apps/oracle/src/compose/examine.ts'
import {
  type OracleProcess,
  repositoryRoot,
  spawnOracle,
} from '../../../apps/oracle/test/support/oracleProcess.ts'
import { deposit, native, noOrder } from '../../../apps/oracle/test/support/protocolActors.ts'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { askWithPeers, deposits, signersOf } from './attesting.ts'
import type { OracleWorld } from './oracleWorld.ts'

type Variables = Readonly<Record<string, string>>

/** Changes to settings that work. One start names everything that is wrong with it. */
const refusedStarts = {
  'an unknown environment': () => ({ ENVIRONMENT: 'nowhere.prod' }),
  'port, module and peer': () => ({
    HTTP_PORT: 'abc',
    SIGNING_MODULE: 'paper',
    PEERS: 'https://peer.example',
  }),
  'port and key outside of local': () => ({
    ENVIRONMENT: 'testnets.prod',
    RELAY_TESTNET_RPC_URL: 'http://127.0.0.1:9',
    HTTP_PORT: '70000',
    API_KEYS: 'fifteen-letters:a',
  }),
  // It would start: with few chains it does so sooner.
  'no port': () => ({ HTTP_PORT: '', PORT: '', ...familyVariables(undefined) }),
  'a threshold of no number, and a peer without a URL': () => ({
    ORACLE_SIGNERS_THRESHOLD: 'abc',
    PEERS: 'peer|key',
  }),
  'a threshold of 1.5, and a peer with two keys': () => ({
    ORACLE_SIGNERS_THRESHOLD: '1.5',
    PEERS: 'https://peer.example|a|b',
  }),
  'a threshold of 0': () => ({ ORACLE_SIGNERS_THRESHOLD: '0' }),
  'more than the unique entries': ({ signers: { A, B } }) => ({
    ORACLE_SIGNERS: `${A.address};${B.address};0x${B.address.slice(2).toUpperCase()}`,
    ORACLE_SIGNERS_THRESHOLD: '3',
  }),
  'no address': ({ signers: { A } }) => ({ ORACLE_SIGNERS: `${A.address};0x1234` }),
  'the zero address': ({ signers: { A } }) => ({ ORACLE_SIGNERS: `${A.address};0x${'0'.repeat(40)}` }),
  'an empty entry': ({ signers: { A, B } }) => ({ ORACLE_SIGNERS: `${A.address};;${B.address}` }),
  'a wrong checksum': ({ signers: { A } }) => ({
    // The example of EIP-55, one letter in the other case.
    ORACLE_SIGNERS: `${A.address};0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD`,
  }),
  'the local signer missing': ({ signers: { B } }) => ({ ORACLE_SIGNERS: B.address }),
  'the oracle itself as peer': ({ port }) => ({
    HTTP_PORT: String(port + 1),
    PEERS: `http://127.0.0.1:${port + 1}|key-of-the-peer`,
  }),
} as const satisfies Readonly<Record<string, (world: OracleWorld) => Variables>>

export type RefusedStart = keyof typeof refusedStarts
/** Waits for the end of a start. @returns everything that it printed */
export type RefusedStarts = (name: RefusedStart) => Promise<string>

/** Made as processes. */
const made: readonly RefusedStart[] = [
  'an unknown environment',
  'port, module and peer',
  'port and key outside of local',
  'no port',
  'more than the unique entries',
  'an empty entry',
]
const atOnce = 2

/** Begins those that are made, so many at once. */
export function beginRefusedStarts(world: OracleWorld): RefusedStarts {
  // This server has the port, or somebody else's: it is taken.
  const taken = createServer().on('error', () => {})
  const listening = new Promise<unknown>((resolve) => {
    taken.once('listening', resolve).once('error', resolve).listen(3_000, '127.0.0.1')
  })
  const lanes = Array.from({ length: atOnce }, () => listening)
  const ends = new Map(
    made.map((name, index): [RefusedStart, Promise<string>] => {
      const end = (lanes[index % atOnce] ?? listening).then(() =>
        outputOfRefused(world, refusedStarts[name](world)),
      )
      lanes[index % atOnce] = end.catch(() => {})
      end.catch(() => {})
      return [name, end]
    }),
  )
  void Promise.all(lanes).then(() => taken.close())
  return (name) => ends.get(name) ?? examined(world, refusedStarts[name](world))
}

/** Everything that stops such a start, one finding a line. */
async function examined({ network, endpoints }: OracleWorld, change: Variables): Promise<string> {
  const { privateKey } = network.keys.oracles[0]
  const variables = { ...endpoints, ECDSA_PRIVATE_KEY: privateKey, ...change }
  const findings = await examineOwnOracle(variables, {
    repositoryRoot,
    nowMs: () => Date.now(),
    scope: 'settings',
  })
  return findings
    .filter(({ severity }) => severity === 'stops')
    .map(({ setting, seen }) => `${setting} ${seen}`)
    .join('\n')
}

/** It must end with 1; what it prints holds no key and no stack. */
async function outputOfRefused({ network, endpoints }: OracleWorld, change: Variables): Promise<string> {
  const { privateKey } = network.keys.oracles[0]
  const oracle = spawnOracle({ ...endpoints, ECDSA_PRIVATE_KEY: privateKey, ...change })
  const end = await Promise.race([oracle.ended, startOf(oracle)])
  await oracle.stop()
  const output = oracle.output()
  expect(end, output).toBe(1)
  expect(output).not.toContain(privateKey)
  expect(output).not.toMatch(/^\s+at .*\.[tj]s:\d+/m)
  return output
}

function startOf(oracle: OracleProcess): Promise<string | undefined> {
  return oracle.listening().then(
    () => 'it started',
    () => oracle.ended.then(() => undefined),
  )
}

export type LateAnswer = { readonly elapsedMs: number; readonly signers: string }

/** Asks the second oracle, whose two peers never answer, and which may wait as long as it does by default. */
export async function askSilentPeers(world: OracleWorld): Promise<LateAnswer> {
  const { network, quorum, peers } = world
  const terms = { currency: native, amount: 5n, id: noOrder }
  const transactionId = await deposit(network, 'base', userOf(network, 4), terms)
  for (const peer of [peers.b, peers.c]) peer.ignored.add(transactionId)
  const answer = await askWithPeers(quorum, deposits, { chainId: 'base', transactionId })
  return { elapsedMs: answer.elapsedMs, signers: signersOf(world, deposits, answer) }
}
