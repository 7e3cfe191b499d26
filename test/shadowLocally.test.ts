// Goal: an oracle in shadow mode shows whether another one signs the same. Who gains by breaking it: whoever feeds lies
// to an oracle that nobody compares. Method: two oracles of `npm start -- --shadow` over its own nodes; the compared
// one reads Base through a proxy.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  attachLocalNetwork,
  type FaultProxy,
  parseOperatorCommand,
  runOperatorCommand,
  type ServicePlan,
  type Session,
  servicePlans,
  shadowPlan,
  startFaultProxy,
  waitUntil,
} from '@causeway/localnet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSessionIn } from './support/sessionBed.ts'

const compared = 'oracle-1'
/** Strangers have a limit. */
const calm = { pollMs: 500 }
let folder: string
let directory: string
let session: Session
let proxy: FaultProxy

function readingByProxy(plan: ServicePlan): ServicePlan {
  return {
    ...plan,
    async environment(context, ports) {
      proxy = await startFaultProxy({ targetUrl: context.network.chains.base.url })
      return { ...(await plan.environment(context, ports)), BASE_RPC_URL: proxy.url }
    },
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'causeway-shadow-'))
  directory = join(folder, '.local')
  const first = servicePlans.filter(({ name }) => name === compared).map(readingByProxy)
  session = await startSessionIn(directory, { services: [...first, shadowPlan] })
}, 240_000)
afterAll(async () => {
  await session?.stop()
  await proxy?.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

function portOf(name: string, use: 'http' | 'ops'): number {
  const port = session.services.find(({ plan }) => plan.name === name)?.ports[use]
  if (port === undefined) throw new Error(`${name} does not run`)
  return port
}

/** @returns the id of its transaction, once the compared oracle attests it */
async function deposited(usdc: string): Promise<string> {
  const command = parseOperatorCommand(['deposit', 'base', usdc])
  const told = await runOperatorCommand(await attachLocalNetwork(directory), command)
  const [transactionId = ''] = told.split(' ')
  await waitUntil('it is final', async () => (await attest(compared, { transactionId })).status === 200, calm)
  return transactionId
}

async function attest(name: string, body: object) {
  const url = `http://127.0.0.1:${portOf(name, 'http')}/attestations/depository-deposits/v1`
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ chainId: 'base', ...body }),
  })
  return { status: response.status, text: await response.text() }
}

/** Answers of the compared oracle by what the one in shadow mode found. */
async function found(agrees: 'yes' | 'no'): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${portOf('shadow', 'ops')}/metrics`)).text()
  const series = [...text.matchAll(/^oracle_shadow_answers_total\{(.*)\} ([0-9]+)$/gm)]
  return series
    .filter(([, labels]) => labels?.includes(`agrees="${agrees}"`))
    .reduce((sum, [, , count]) => sum + Number(count), 0)
}

/** Blocks follow each other by the clock: what is final for one oracle is for the other a moment later. */
async function compare(transactionId: string): Promise<string> {
  let text = ''
  const isAttested = async () => {
    const answer = await attest('shadow', { transactionId, requestPeerSignatures: true })
    text = answer.text
    return answer.status === 200
  }
  await waitUntil('the deposit is final for both', isAttested, calm)
  return text
}

test('O-115: a deposit on an EVM chain is compared before anybody asks', async () => {
  await deposited('25')
  await waitUntil('it is compared', async () => (await found('yes')) > 0, calm)
})

test('O-115: what both read alike agrees, and what it signs counts nowhere', async () => {
  const text = await compare(await deposited('25'))
  expect(await found('yes')).toBeGreaterThan(0)
  expect(await found('no')).toBe(0)
  // Its own signature alone: the other's is compared, not counted.
  const signers = new Set([...text.matchAll(/"oracleSigner":"(0x[0-9a-fA-F]{40})"/g)].map(([, one]) => one))
  const [own] = signers
  expect(signers.size).toBe(1)
  expect(session.network.keys.oracles.map(({ address }) => address)).not.toContain(own?.toLowerCase())
})

test('O-115: an oracle whose endpoint makes a deposit larger is seen to disagree', async () => {
  const [amount, forged] = [25_000_000n, 26_000_000n].map((units) => units.toString(16).padStart(64, '0'))
  await proxy.set({
    kind: 'lie',
    rewrite: ({ method }, result) =>
      method === 'eth_getTransactionReceipt' && amount !== undefined && forged !== undefined
        ? JSON.parse(JSON.stringify(result).replaceAll(amount, forged))
        : result,
  })
  const transactionId = await deposited('25')
  const isSeen = async () => {
    await compare(transactionId)
    return (await found('no')) > 0
  }
  // On a busy machine the compared one may be too late for a first answer.
  await waitUntil('it is seen to disagree', isSeen, calm)
})
