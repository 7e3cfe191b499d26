// Goal: what an operator did, forgot or must do now is seen: switches that are thrown, keys without gas, jobs that
// nobody runs, a past that changed. Method: a whole local network under Prometheus with our rules, and faults by the
// operators' own commands, restarts with other settings, and the nodes.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { encodeDepositNative, encodeTopUp } from '@causeway/core'
import { type LocalAccount, translatedScript, waitUntil } from '@causeway/localnet'
import { parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, test, vi } from 'vitest'
import { z } from 'zod'
import { bytes32, fund, issue, usdcRequest } from '../../apps/allocator/test/support/allocatorBench.ts'
import { writeCappedConfigs } from '../../apps/oracle/test/support/oracleProcess.ts'
import { native } from '../../apps/oracle/test/support/protocolActors.ts'
import { fires, patienceMs } from '../support/firing.ts'
import { type Prometheus, startPrometheus } from '../support/prometheus.ts'
import {
  type MortalService,
  mortalServices,
  type SessionBed,
  startSessionBed,
} from '../support/sessionBed.ts'

const patience = { patienceMs }
const run = promisify(execFile)
const environmentSchema = z.record(z.string(), z.string())
let bed: SessionBed
let prometheus: Prometheus
let mortals: readonly MortalService[] = []

vi.setConfig({ testTimeout: 2 * patienceMs })

beforeAll(async () => {
  bed = await startSessionBed()
  mortals = mortalServices(bed)
  prometheus = await startPrometheus(bed.targets)
})
afterAll(async () => {
  await prometheus?.stop()
  await Promise.all(mortals.map((service) => service.stop()))
  await bed?.stop()
})

/** A command of a service beside the running one, with its settings. */
async function command(name: 'solver' | 'allocator', ...words: readonly string[]): Promise<void> {
  const { paths } = bed.session.network
  const environment = environmentSchema.parse(JSON.parse(await readFile(paths.serviceFile(name), 'utf8')))
  await run(process.execPath, [translatedScript(`apps/${name}/src/main.ts`), ...words], {
    env: { PATH: process.env['PATH'], ...environment },
  })
}

async function restart(name: string, changes: Readonly<Record<string, string>> = {}): Promise<void> {
  await mortals.find((service) => service.name === name)?.killAndRestart(changes)
}

function user(): LocalAccount {
  const [first] = bed.session.network.keys.users
  if (first === undefined) throw new Error('the network has users')
  return first
}

const holds = (what: string, expr: string) =>
  waitUntil(what, async () => (await prometheus.query(expr)) > 0, patience)

/** A post to the first oracle, which asks its peers too. */
function attest(transactionId: string): Promise<Response> {
  const oracle = bed.session.services.find(({ plan }) => plan.name === 'oracle-1')
  return fetch(`http://127.0.0.1:${oracle?.ports['http']}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chainId: 'base', transactionId, requestPeerSignatures: true }),
  })
}

test('AllocatorGasLow and AllocatorWaits where the key of the allocator can pay for no transaction', async () => {
  const { network } = bed.session
  const { node } = network.chains.hub.chain
  const { address } = network.keys.allocator
  await node.setBalance({ address, value: 0n })
  const request = usdcRequest(network)
  await fund(network, request)
  const issued = await issue(network, request)
  await fires(prometheus, 'AllocatorGasLow')
  await fires(prometheus, 'AllocatorWaits')
  await node.setBalance({ address, value: parseEther('1') })
  await waitUntil('it is signed', async () => (await issued.signature()) !== '0x', patience)
})

test('AllocatorRefuses where the hub does not hold what a payload pays', async () => {
  await issue(bed.session.network, usdcRequest(bed.session.network, { nonce: bytes32(2) }))
  await fires(prometheus, 'AllocatorRefuses')
})

test('AllocatorStopped and SolverStopped where their switches are thrown', async () => {
  await command('allocator', 'stop', 'a', 'test')
  await command('solver', 'stop', 'a', 'test')
  await fires(prometheus, 'AllocatorStopped')
  await fires(prometheus, 'SolverStopped')
  await command('allocator', 'resume')
  await command('solver', 'resume')
  await holds('both work again', 'solver_stopped == 0 and on () allocator_stopped == 0')
})

test('PeerDisagrees where a peer signs with a key that nobody lists', async () => {
  const { chains, deployment, keys } = bed.session.network
  const own = generatePrivateKey()
  // Its operator lists the new key; the others were not told of it.
  await restart('oracle-3', {
    ...{ ECDSA_PRIVATE_KEY: own, ECDSA_PRIVATE_KEY_FILE: '' },
    ORACLE_SIGNERS: [
      ...keys.oracles.slice(0, 2).map(({ address }) => address),
      privateKeyToAddress(own),
    ].join(';'),
  })
  const { walletClient } = chains.base.chain.as(user())
  const { depository } = deployment.base
  const data = encodeDepositNative(user().address, bytes32(0))
  const transactionId = await walletClient.sendTransaction({ to: depository, data, value: 1n })
  let isAsking = true
  const asking = (async () => {
    while (isAsking) await attest(transactionId).then((answer) => answer.text())
  })()
  try {
    await fires(prometheus, 'PeerDisagrees', { instance: 'oracle-1' })
  } finally {
    isAsking = false
    await asking
  }
  await restart('oracle-3')
})

test('JobWithoutLeader where no process of quote-api runs jobs, and TopUpsDiffer where one lost a top-up', async () => {
  const { chains, deployment, keys } = bed.session.network
  const { data } = encodeTopUp({
    ...{ token: deployment.base.tokens.USDC, custody: keys.custody.address },
    ...{ amountMicroUsd: 5_000_000n, owner: user().address },
  })
  await chains.base.chain.send(user(), [{ what: 'top-up', to: deployment.base.tokens.USDC, data }])
  await holds('it is credited', 'top_ups_total{outcome="credited"} > 0')
  await restart('quote-api', { JOBS: 'off' })
  await fires(prometheus, 'JobWithoutLeader')
  const database = await bed.openDatabase()
  try {
    await database.query('update chain_event set value = value - 1')
    // Chain and ledger are compared with the start of the job, and every ten minutes.
    await restart('quote-api')
    await holds('they are led again', 'job_leading == 1')
    await fires(prometheus, 'TopUpsDiffer')
    await database.query('update chain_event set value = value + 1')
  } finally {
    await database.close()
  }
})

test('PriceRefused and PriceSourcesFew where the contract of a feed is another one', async () => {
  const { client, node } = bed.session.network.chains.base.chain
  const address = bed.session.network.deployment.base.feeds['TIDE/USD']
  const price = { service: 'quote-api', price: 'TIDE/USD' }
  const code = await client.getCode({ address })
  await node.setCode({ address, bytecode: '0x00' })
  await fires(prometheus, 'PriceRefused', price)
  await fires(prometheus, 'PriceSourcesFew', price)
  await node.setCode({ address, bytecode: code ?? '0x' })
  await holds('it is quoted again', 'market_price_confidence{price="TIDE/USD",confidence="refused"} == 0')
})

test('AttestationsFail where a state folder is broken, and ExecutionsHeld where a deposit is above a cap', async () => {
  const { chains, deployment, paths } = bed.session.network
  const configs = await mkdtemp(join(tmpdir(), 'causeway-capped-'))
  try {
    await writeCappedConfigs(configs, { [native]: '5' })
    await restart('oracle-1', { CONFIG_DIR: configs })
    const heldFolder = join(paths.directory, 'oracle-1', 'held-executions')
    await rm(heldFolder, { recursive: true })
    await writeFile(heldFolder, 'no folder')
    const deposit = (value: bigint) =>
      chains.base.chain.as(user()).walletClient.sendTransaction({
        ...{ to: deployment.base.depository, value },
        data: encodeDepositNative(user().address, bytes32(0)),
      })
    const [lost, held] = [await deposit(10n), await deposit(11n)]
    await waitUntil('nobody foresaw it', async () => (await attest(lost)).status === 500, patience)
    await fires(prometheus, 'AttestationsFail', { instance: 'oracle-1' })
    await rm(heldFolder)
    await waitUntil('it is answered', async () => (await attest(held)).status === 200, patience)
    await fires(prometheus, 'ExecutionsHeld', { instance: 'oracle-1' })
  } finally {
    await rm(configs, { recursive: true, force: true })
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
  await waitUntil(
    'and for every oracle',
    async () => (await prometheus.query(`oracle_final_block{chain="base"} > ${known + 2n}`)) === 3,
    patience,
  )
  const lost = await client.getBlockNumber({ cacheTime: 0 })
  await node.revert({ id: forgotten })
  await node.increaseTime({ seconds: 7 })
  await node.mine({ blocks: Number(lost - known) + 8 })
  for (const instance of ['oracle-1', 'oracle-2', 'oracle-3'])
    await fires(prometheus, 'OracleChainHalted', { instance, chain: 'base' })
  await fires(prometheus, 'TopUpsHalted')
})
