// Goal: whatever chains and their endpoints do, nothing is signed that did not happen for good.
// Method: `main.ts` as a process. One of its chains has three endpoints of which two must agree: two lying
// nodes, processes of their own, and the real node, each behind the fault proxy. The other chain has a node
// that is killed. Nothing is kept, so that every request reads. CAUSEWAY_FAULTS=1 runs the long form.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { encodeDepositNative } from '@causeway/families/rules'
import {
  type Anvil,
  type FaultMode,
  type FaultProxy,
  startAnvil,
  startFaultProxy,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { numberToHex, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chainsResponseSchema } from '../src/http/app.ts'
import type { Lie } from './support/lies.ts'
import { type LyingNode, startLyingNode } from './support/lyingNode.ts'
import { callerKey, type OracleProcess, oracleVariables, spawnOracle } from './support/oracleProcess.ts'
import { deposit, native, noOrder } from './support/protocolActors.ts'

const isLongForm = process.env['CAUSEWAY_FAULTS'] === '1'
const mutations = isLongForm ? 2_000 : 40
const patience = { timeout: isLongForm ? 1_800_000 : 120_000 }
const inflate = promisify(gunzip)
const amount = parseEther('0.1')

let network: TestNetwork
let liars: readonly LyingNode[]
let endpoints: readonly FaultProxy[]
let directory: string
let oracle: OracleProcess
let url: string
let transactionId: string
let truth: string
let revived: Anvil | undefined

beforeAll(async () => {
  network = await startTestNetwork()
  directory = await mkdtemp(join(tmpdir(), 'causeway-oracle-'))
  const { base } = network.chains
  liars = await Promise.all([startLyingNode(base.url), startLyingNode(base.url)])
  endpoints = await Promise.all([...liars, base].map((node) => startFaultProxy({ targetUrl: node.url })))
  transactionId = await depositOn('base')
  oracle = spawnOracle({
    ...oracleVariables(network),
    BASE_RPC_URL: endpoints.map((endpoint) => endpoint.url).join(','),
    FINAL_RESULTS_KEPT_MAX: '0',
    STATE_DIR: directory,
  })
  url = await oracle.listening()
  truth = (await settled('base', transactionId)).text
}, 120_000)
afterAll(async () => {
  await oracle?.stop()
  await Promise.all((endpoints ?? []).map((endpoint) => endpoint.stop()))
  await Promise.all((liars ?? []).map((liar) => liar.stop()))
  await revived?.stop()
  await network?.stop()
  await rm(directory, { recursive: true, force: true })
})

function depositOn(chain: 'base' | 'optimism') {
  const [user] = network.keys.users
  if (user === undefined) throw new Error('the network has users')
  return deposit(network, chain, user, { currency: native, amount, id: noOrder })
}

type Answer = { readonly status: number; readonly text: string; readonly retryAfter: string | null }

async function attest(chainId: string, id: string, switches: object = {}): Promise<Answer> {
  const response = await fetch(`${url}/attestations/depository-deposits/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': callerKey },
    body: JSON.stringify({ chainId, transactionId: id, ...switches }),
  })
  const { status, headers } = response
  return { status, text: await response.text(), retryAfter: headers.get('retry-after') }
}

/** The answer once endpoints that were avoided are asked again. */
async function settled(chainId: string, id: string): Promise<Answer> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const answer = await attest(chainId, id)
    if (answer.status === 200) return answer
    if (Date.now() > deadline) throw new Error(`still refused: ${answer.text}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Asks again and again until it is ended. */
function watchAnswers(chainId: string, id: string) {
  const answers: Answer[] = []
  let isOver = false
  const loop = (async () => {
    while (!isOver) answers.push(await attest(chainId, id))
  })()
  return {
    answers,
    async end() {
      isOver = true
      await loop
    },
  }
}

async function listed(id: string) {
  const { chains } = chainsResponseSchema.parse(await (await fetch(`${url}/chains/v1`)).json())
  return chains.find((chain) => chain.id === id)
}

describe('a chain with three endpoints of which two must agree', () => {
  afterEach(async () => {
    await Promise.all(liars.map((liar) => liar.tell({ kind: 'none' })))
    await Promise.all(endpoints.map((endpoint) => endpoint.set({ kind: 'pass' })))
    expect((await settled('base', transactionId)).text).toBe(truth)
  })

  test('no mutation of what one of them says changes a signed byte', patience, async () => {
    for (let seed = 0; seed < mutations; seed += 1) {
      // By turns, so that neither is avoided for long.
      const [liar, other] = seed % 2 === 0 ? liars : liars.toReversed()
      await other?.tell({ kind: 'none' })
      await liar?.tell({ kind: 'mutation', seed })
      const { status, text } = await attest('base', transactionId)
      expect({ seed, status, text }).toEqual({ seed, status: 200, text: truth })
    }
  })

  test.each<[string, FaultMode]>([
    ['dead', { kind: 'refuse' }],
    ['slow', { kind: 'latency', delayMs: 60_000 }],
    ['silent', { kind: 'hang' }],
    ['answering nonsense', { kind: 'html200' }],
  ])('one that is %s changes nothing', patience, async (_what, mode) => {
    await endpoints[0]?.set(mode)
    const { status, text } = await attest('base', transactionId)
    expect({ status, text }).toEqual({ status: 200, text: truth })
  })

  test(
    'a dead and a slow one together leave nothing to sign with, and the refusal says when to retry',
    patience,
    async () => {
      await endpoints[0]?.set({ kind: 'refuse' })
      await endpoints[1]?.set({ kind: 'latency', delayMs: 60_000 })
      const { status, text, retryAfter } = await attest('base', transactionId)
      expect(status).toBe(503)
      expect(JSON.parse(text)).toMatchObject({
        retryable: true,
        errorCode: expect.stringMatching(/^[A-Z_]+$/),
      })
      expect(text).not.toContain('oracleSigner')
      expect(Number(retryAfter)).toBeGreaterThan(0)
    },
  )

  test.each<[string, FaultMode]>([
    ['answer HTML', { kind: 'html200' }],
    ['answer 502', { kind: 'http', status: 502 }],
    ['answer 429', { kind: 'http', status: 429 }],
    ['refuse connections', { kind: 'refuse' }],
    ['never answer', { kind: 'hang' }],
  ])('three that %s end as a 503 that says when to retry', patience, async (_what, mode) => {
    await Promise.all(endpoints.map((endpoint) => endpoint.set(mode)))
    const { status, text, retryAfter } = await attest('base', transactionId)
    expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 503, body: { retryable: true } })
    expect(Number(retryAfter)).toBeGreaterThan(0)
    expect(text).not.toMatch(/127\.0\.0\.1|<html/)
    expect((await fetch(`${url}/lives/v1`)).status).toBe(200)
  })

  test('the metrics name an endpoint that is avoided, by host and position', patience, async () => {
    const opsUrl = /"opsUrl":"([^"]+)"/.exec(oracle.output())?.[1]
    const asked = async () => {
      const text = await (await fetch(`${opsUrl}/metrics`)).text()
      return text.match(/^oracle_endpoint_asked\{chain="base".*/gm) ?? []
    }
    const [first] = endpoints
    await first?.set({ kind: 'refuse' })
    const host = new URL(first?.url ?? '').host
    const isAvoided = async () => {
      await attest('base', transactionId)
      return (await asked()).some((line) => line.includes(`"${host}#1"`) && line.endsWith(' 0'))
    }
    await expect.poll(isAvoided, { timeout: 30_000 }).toBe(true)
    expect(await asked()).toHaveLength(3)
  })

  test(
    'two liars that agree on a forged amount and not on its height are not believed',
    patience,
    async () => {
      const receipt = await network.chains.base.chain.client.request({
        method: 'eth_getTransactionReceipt',
        // CAST: the transaction was sent by this test, so its id is hex.
        params: [transactionId as `0x${string}`],
      })
      if (receipt === null) throw new Error('the deposit is there')
      const { blockNumber, blockHash } = receipt
      const word = (value: bigint) => numberToHex(value, { size: 32 }).slice(2)
      const lie = (shift: bigint, digit: string): Lie => ({
        kind: 'moved',
        amount: word(amount),
        forgedAmount: word(amount * 1_000n),
        blockNumber,
        forgedBlockNumber: numberToHex(BigInt(blockNumber) - shift),
        blockHash,
        forgedBlockHash: `0x${digit.repeat(64)}`,
      })
      await Promise.all(liars.map((liar, index) => liar.tell(lie(BigInt(index + 1), `${index + 1}`))))
      const { status, text } = await attest('base', transactionId)
      expect(status).toBe(503)
      expect(JSON.parse(text)).toMatchObject({ errorCode: 'UPSTREAM_DISAGREEMENT', retryable: true })
      expect(text).not.toContain('oracleSigner')
    },
  )

  test('a reorganization before finality never yields a signature', patience, async () => {
    const { chain } = network.chains.base
    const { walletClient } = chain.as(network.keys.fillWallet)
    const snapshot = await chain.node.snapshot()
    const lost = await walletClient.sendTransaction({
      to: network.deployment.base.depository,
      data: encodeDepositNative(network.keys.fillWallet.address, noOrder),
      value: 7n,
    })
    await network.mine('base', 1)
    const watched = watchAnswers('base', lost)
    const codes = () => watched.answers.map(({ text }) => String(Object(JSON.parse(text)).errorCode))
    try {
      await expect.poll(codes, { timeout: 20_000 }).toContain('TRANSACTION_NOT_FINAL')
      await chain.node.revert({ id: snapshot })
      await network.mine('base', 6)
      await expect.poll(() => codes().at(-1), { timeout: 20_000 }).toBe('TRANSACTION_MISSING')
    } finally {
      await watched.end()
    }
    const { answers } = watched
    expect(
      answers.every(({ text, retryAfter }) => !text.includes('NOT_FINAL') || Number(retryAfter) > 0),
    ).toBe(true)
    expect(answers.filter(({ status }) => status === 200)).toEqual([])
    expect(answers.filter(({ text }) => text.includes('oracleSigner'))).toEqual([])
    expect(await listed('base')).toMatchObject({ ready: true, halted: false })
  })
})

test(
  'a node that is killed with -9 and comes back with an older state halts its chain until the operator clears it',
  patience,
  async () => {
    const { optimism } = network.chains
    const olderState = join(directory, 'older.json')
    const dump = await optimism.chain.node.dumpState()
    await writeFile(olderState, await inflate(Buffer.from(dump.slice(2), 'hex')))
    const lost = await depositOn('optimism')
    expect((await settled('optimism', lost)).status).toBe(200)

    process.kill(optimism.pid, 'SIGKILL')
    await expect.poll(() => optimism.anvil.process.signalCode).toBe('SIGKILL')
    const silent = await attest('optimism', lost)
    expect(silent.status).toBe(503)
    revived = await startAnvil({
      chainId: optimism.chainId,
      port: optimism.port,
      args: ['--load-state', olderState, '--accounts', '0', '--slots-in-an-epoch', '1'],
    })
    await expect.poll(async () => (await listed('optimism'))?.halted, { timeout: 60_000 }).toBe(true)
    const refused = await attest('optimism', lost)
    expect({ status: refused.status, retryAfter: refused.retryAfter }).toEqual({
      status: 503,
      retryAfter: '60',
    })
    expect(JSON.parse(refused.text)).toMatchObject({ errorCode: 'CHAIN_HALTED', retryable: true })
    // Growing past the lost blocks is no reason to go on.
    await network.mine('optimism', 20)
    expect((await attest('optimism', lost)).status).toBe(503)
    expect((await attest('base', transactionId)).text).toBe(truth)

    const clear = spawnOracle({ STATE_DIR: directory }, ['halted', 'clear', 'optimism'])
    expect(await clear.ended).toBe(0)
    await expect.poll(async () => (await listed('optimism'))?.ready, { timeout: 60_000 }).toBe(true)
    const gone = await attest('optimism', lost)
    expect(JSON.parse(gone.text)).toMatchObject({ errorCode: 'TRANSACTION_MISSING' })
    const again = await depositOn('optimism')
    expect((await settled('optimism', again)).text).toContain('oracleSigner')
  },
)
