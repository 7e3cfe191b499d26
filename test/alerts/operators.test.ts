// Goal: what an operator did, forgot or must do now is seen: switches that are thrown, keys without gas, jobs that
// nobody runs, prices that nobody tells. Method: a whole local network under Prometheus with our rules, and faults by the
// operators' own commands, restarts with other settings, and the nodes.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { encodeTopUp } from '@causeway/families/rules'
import { bundledScript, type LocalAccount, waitUntil } from '@causeway/localnet'
import { parseEther } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, test, vi } from 'vitest'
import { z } from 'zod'
import { bytes32, fund, issue, usdcRequest } from '../../apps/allocator/test/support/allocatorBench.ts'
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

vi.setConfig({ testTimeout: 3 * patienceMs })

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
  await run(process.execPath, [bundledScript(`apps/${name}/src/main.ts`), ...words], {
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

test('AllocatorGasLow and AllocatorWaits where the key of the allocator can pay for no transaction', async () => {
  const { network } = bed.session
  const { node } = network.chains.hub.chain
  const { address } = network.keys.allocator
  await node.setBalance({ address, value: 0n })
  const request = usdcRequest(network)
  await fund(network, request)
  const issued = await issue(network, request)
  try {
    await fires(prometheus, 'AllocatorGasLow')
    await fires(prometheus, 'AllocatorWaits')
  } finally {
    await node.setBalance({ address, value: parseEther('1') })
  }
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

test('JobWithoutLeader where no process of quote-api runs jobs, and TopUpsDiffer where one lost a top-up', async () => {
  const { chains, deployment, keys } = bed.session.network
  const { data } = encodeTopUp({
    token: deployment.base.tokens.USDC,
    custody: keys.custody.address,
    amountMicroUsd: 5_000_000n,
    owner: user().address,
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

test('SolverDiffers where quote-api signs orders with a key that the solver does not accept', async () => {
  await restart('quote-api', { ECDSA_PRIVATE_KEY_FILE: '', ECDSA_PRIVATE_KEY: generatePrivateKey() })
  await fires(prometheus, 'SolverDiffers', { kind: 'order-signer', chain: 'all' })
  await restart('quote-api')
  await holds('they agree again', 'absent(solver_differences) and on () job_leading == 1')
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
