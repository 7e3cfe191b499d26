// Goal: an oracle that says something else, that holds what it should sign, or whose chain stands or changed its past
// is seen, and one whose key signs no more. Method: a whole local network under Prometheus with our rules, and faults by
// restarts with other settings, a lying endpoint, a failing key management service and the nodes.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, hexToBytes } from '@causeway/core'
import { encodeDepositNative } from '@causeway/families/rules'
import { type LocalAccount, startFaultProxy, startKmsStandIn, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callerKey, writeCappedConfigs } from '../../apps/oracle/test/support/oracleProcess.ts'
import { native, noOrder } from '../../apps/oracle/test/support/protocolActors.ts'
import { fires, patienceMs } from '../support/firing.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'
import {
  type MortalService,
  mortalServices,
  type SessionBed,
  startSessionBed,
} from '../support/sessionBed.ts'

const patience = { patienceMs }
let bed: SessionBed
let prometheus: Prometheus
let mortals: readonly MortalService[] = []

vi.setConfig({ testTimeout: 3 * patienceMs })

beforeAll(async () => {
  bed = await startSessionBed({ API_KEYS: `${callerKey}:caller` })
  mortals = mortalServices(bed)
  prometheus = await startPrometheus(bed.targets)
})
afterAll(async () => {
  await prometheus?.stop()
  await Promise.all(mortals.map((service) => service.stop()))
  await bed?.stop()
})

const mortal = (name: string): MortalService => {
  const found = mortals.find((service) => service.name === name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

function user(): LocalAccount {
  const [first] = bed.session.network.keys.users
  if (first === undefined) throw new Error('the network has users')
  return first
}

const holds = (what: string, expr: string, series = 1) =>
  waitUntil(what, async () => (await prometheus.query(expr)) >= series, patience)

function deposit(value: bigint): Promise<Hex> {
  const { chains, deployment } = bed.session.network
  const data = encodeDepositNative(user().address, noOrder)
  return chains.base.chain
    .as(user())
    .walletClient.sendTransaction({ to: deployment.base.depository, data, value })
}

/** Asks the first oracle, which asks its peers too, again and again while something happens. */
async function whileAttesting(transactionId: Hex, happens: () => Promise<void>): Promise<void> {
  const oracle = bed.session.services.find(({ plan }) => plan.name === 'oracle-1')
  let isOver = false
  const asking = (async () => {
    while (!isOver) {
      await fetch(`http://127.0.0.1:${oracle?.ports['http']}/attestations/depository-deposits/v1`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
        body: JSON.stringify({ chainId: 'base', transactionId, requestPeerSignatures: true }),
      }).then(
        (answer) => answer.text(),
        () => '',
      )
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  })()
  try {
    await happens()
  } finally {
    isOver = true
    await asking
  }
}

test('PeerDisagrees where the only endpoint of a peer tells of another amount', async () => {
  const [amount, told] = [0x1234_5678_9an, 0xa987_6543_21n]
  const wordOf = (value: bigint) => value.toString(16).padStart(64, '0')
  const liar = await startFaultProxy({ targetUrl: bed.session.network.chains.base.url })
  const rewrite = (_call: object, result: unknown): unknown =>
    result === undefined
      ? result
      : JSON.parse(JSON.stringify(result).replaceAll(wordOf(amount), wordOf(told)))
  await liar.set({ kind: 'lie', rewrite })
  await mortal('oracle-3').killAndRestart({ BASE_RPC_URL: liar.url })
  // With the second one there would be enough signatures before anybody looks at those of the third.
  const second = mortal('oracle-2').pid() ?? 0
  process.kill(second, 'SIGSTOP')
  try {
    await whileAttesting(await deposit(amount), () =>
      fires(prometheus, 'PeerDisagrees', { instance: 'oracle-1' }),
    )
  } finally {
    process.kill(second, 'SIGCONT')
    await mortal('oracle-3').killAndRestart()
    await liar.stop()
  }
})

test('PeerSharesSigner where a peer was started with the key of the oracle that asks it', async () => {
  const [key] = bed.session.network.keys.oracles
  if (key === undefined) throw new Error('the network has oracles')
  await mortal('oracle-3').killAndRestart({
    ECDSA_PRIVATE_KEY: key.privateKey,
    ECDSA_PRIVATE_KEY_FILE: '',
  })
  // As above.
  const second = mortal('oracle-2').pid() ?? 0
  process.kill(second, 'SIGSTOP')
  try {
    await whileAttesting(await deposit(12n), () =>
      fires(prometheus, 'PeerSharesSigner', { instance: 'oracle-1' }),
    )
  } finally {
    process.kill(second, 'SIGCONT')
    await mortal('oracle-3').killAndRestart()
  }
})

test('ExecutionsHeld where a deposit is above what may be signed of its currency within an hour', async () => {
  const configs = await mkdtemp(join(tmpdir(), 'causeway-capped-'))
  try {
    await writeCappedConfigs(configs, { [native]: '5' })
    await mortal('oracle-1').killAndRestart({ CONFIG_DIR: configs })
    await whileAttesting(await deposit(10n), () =>
      fires(prometheus, 'ExecutionsHeld', { instance: 'oracle-1' }),
    )
    // Whoever was left by its caller, who had enough answers by then, did not fail.
    expect(await prometheus.query('oracle_attestation_duration_seconds_count{outcome="failed"}')).toBe(0)
  } finally {
    await rm(configs, { recursive: true, force: true })
  }
})

test('AttestationsFail where the key management service signs no more', async () => {
  const [key] = bed.session.network.keys.oracles
  if (key === undefined) throw new Error('the network has oracles')
  const kms = await startKmsStandIn({ privateKey: hexToBytes(key.privateKey) })
  try {
    await mortal('oracle-1').killAndRestart({
      SIGNING_MODULE: 'aws-kms',
      ECDSA_PRIVATE_KEY: '',
      AWS_KMS_SIGNER_KEY_ID: kms.keyId,
      AWS_KMS_SIGNER_KEY_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL_KMS: kms.url,
      AWS_ACCESS_KEY_ID: 'stand-in',
      AWS_SECRET_ACCESS_KEY: 'stand-in',
    })
    kms.set('failing')
    await whileAttesting(await deposit(11n), () =>
      fires(prometheus, 'AttestationsFail', { instance: 'oracle-1', kind: 'deposits' }),
    )
  } finally {
    await mortal('oracle-1').killAndRestart()
    await kms.stop()
  }
})

test('O-93: StateNotKept where a file stands in the place of the state folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-state-'))
  const state = join(folder, 'state')
  try {
    await mortal('oracle-2').killAndRestart({ STATE_DIR: state })
    await rename(state, `${state}-before`)
    await writeFile(state, '')
    await fires(prometheus, 'StateNotKept', { instance: 'oracle-2' })
  } finally {
    await mortal('oracle-2').killAndRestart()
    await rm(folder, { recursive: true, force: true })
  }
})

test('FinalBlockStands where the hub makes no block any more', async () => {
  const { node } = bed.session.network.chains.hub.chain
  await node.setIntervalMining({ interval: 0 })
  await fires(prometheus, 'FinalBlockStands', { instance: 'oracle-2' })
  await node.setIntervalMining({ interval: 4 })
})

test('OracleChainHalted and TopUpsHalted where final blocks of the chain of top-ups are others', async () => {
  const { client, node } = bed.session.network.chains.base.chain
  const forgotten = await node.snapshot()
  const known = await client.getBlockNumber({ cacheTime: 0 })
  await node.mine({ blocks: 8 })
  await holds('blocks that will change are final for top-ups', `top_up_block{stage="final"} > ${known + 2n}`)
  await holds('and for every oracle', `oracle_final_block{chain="base"} > ${known + 2n}`, 3)
  const lost = await client.getBlockNumber({ cacheTime: 0 })
  await node.revert({ id: forgotten })
  await node.increaseTime({ seconds: 7 })
  await node.mine({ blocks: Number(lost - known) + 8 })
  for (const instance of ['oracle-1', 'oracle-2', 'oracle-3'])
    await fires(prometheus, 'OracleChainHalted', { instance, chain: 'base' })
  await fires(prometheus, 'TopUpsHalted')
})
