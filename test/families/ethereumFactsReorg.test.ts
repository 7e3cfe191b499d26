// Goal: facts are those of one canonical block, whatever moment the chain changes in. Method: two nodes that
// hold the same transaction in different blocks, behind a gate that shows the first up to some call and the
// second from there on, for every such call; and a node that drops a transaction before it is final.
import { createServer, type Server } from 'node:http'
import { encodeFillExtraData, type Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal } from '@causeway/families/rules'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aSignal, type ChainBed, readerOf, startChainBed } from './ethereumSupport/chainBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient: Hex = `0x${'51'.repeat(20)}`

let forks: readonly [ChainBed, ChainBed]
let transactionId: Hex
let gate: Gate

beforeAll(async () => {
  const [one, other] = await Promise.all([startChainBed(), startChainBed()])
  forks = [one, other]
  const ids = [await deposit(one), await depositLater(other)]
  expect(ids[0]).toBe(ids[1])
  transactionId = ids[0] ?? '0x'
  gate = await openGate(one.url, other.url)
})
afterAll(async () => {
  await gate?.close()
  await Promise.all((forks ?? []).map((bed) => bed.stop()))
})

const userOf = (bed: ChainBed) => {
  const [user, second] = bed.network.keys.users
  if (user === undefined || second === undefined) throw new Error('no user')
  return { user, second }
}

async function deposit(bed: ChainBed): Promise<Hex> {
  const { user } = userOf(bed)
  const data = encodeDepositNative(recipient, id)
  const sent = await bed.send(user, bed.deployment.depository, data, 7n)
  await bed.mine(3)
  return sent.transactionId
}

/** In another block, and behind another deposit in it: block, time and log index differ. */
async function depositLater(bed: ChainBed): Promise<Hex> {
  const { user, second } = userOf(bed)
  await bed.mine(1)
  await bed.node('evm_setAutomine', [false])
  const send = (from: typeof user, value: bigint) =>
    bed.chain.as(from).walletClient.sendTransaction({
      to: bed.deployment.depository,
      data: encodeDepositNative(recipient, id),
      value,
      ...(value === 9n && { maxPriorityFeePerGas: 1_000_000n }),
    })
  await send(second, 9n)
  const sent = await send(user, 7n)
  await bed.node('evm_setAutomine', [true])
  const { timestamp } = await bed.chain.client.getBlock()
  await bed.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 500n })
  await bed.mine(4)
  return sent
}

type Gate = {
  readonly url: string
  /** Shows the first node for so many calls, then the second. */
  switchAfter(calls: number): void
  /** Calls since `switchAfter`. */
  seen(): number
  close(): Promise<void>
}

/** Forwards call by call, so that the switch can fall between two calls of one batch as well. */
async function openGate(before: string, after: string): Promise<Gate> {
  let seen = 0
  let switchAt = Number.POSITIVE_INFINITY
  const forward = async (call: unknown): Promise<unknown> => {
    const target = seen < switchAt ? before : after
    seen += 1
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(call) })
    return response.json()
  }
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const answers: unknown[] = []
    for (const call of Array.isArray(body) ? body : [body]) answers.push(await forward(call))
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the gate has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    switchAfter(calls) {
      seen = 0
      switchAt = calls
    },
    seen: () => seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Reader = ReturnType<typeof readerOf>['reader']

const questions: readonly (readonly [string, (reader: Reader) => Promise<unknown>])[] = [
  ['a deposit', (reader) => reader.readDeposits({ transactionId }, aSignal())],
  [
    'a payment',
    (reader) =>
      reader.readPayment(
        {
          transactionId,
          orderId: id,
          extraData: encodeFillExtraData(recipient),
          payments: [{ recipient, currency: recipient }],
        },
        aSignal(),
      ),
  ],
]

/** As text, without the names of endpoints. */
function plainFacts(facts: unknown): string {
  const { evidence, ...rest } = Object(facts)
  const { blockHash, blockNumber } = Object(evidence)
  return JSON.stringify({ ...rest, blockHash, blockNumber }, (_key, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
}

describe('a chain that changes between any two reads of one question', () => {
  test.each(questions)('%s is that of one block, or refused', async (_name, ask) => {
    const settings = { urls: [gate.url], limits: { finalEntriesMax: 0 } }
    const [first, second] = await Promise.all(forks.map((bed) => ask(readerOf(bed).reader)))
    expect(plainFacts(first)).not.toBe(plainFacts(second))

    gate.switchAfter(Number.POSITIVE_INFINITY)
    await ask(readerOf(forks[0], settings).reader)
    const calls = gate.seen()
    expect(calls).toBeGreaterThanOrEqual(3)
    const outcomes = { facts: 0, refused: 0 }
    for (let position = 0; position <= calls; position += 1) {
      gate.switchAfter(position)
      const outcome = await ask(readerOf(forks[0], settings).reader).then(
        plainFacts,
        (error: unknown) => error,
      )
      if (typeof outcome === 'string') {
        // The last call tells which chain is the node's: facts of the one that it left are not told.
        expect(outcome).toBe(plainFacts(position === calls ? first : second))
        outcomes.facts += 1
      } else {
        expect(outcome).toMatchObject({
          kind: expect.stringMatching(/^(upstream_unavailable|not_final|invalid_request)$/),
        })
        outcomes.refused += 1
      }
    }
    expect(outcomes.facts).toBeGreaterThanOrEqual(2)
  })
})

test('the state of a withdrawal is that of a block which one of the chains holds, or refused', async () => {
  const call = { to: recipient, data: '0x', value: 1n, allowFailure: false } as const
  const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })
  let told = 0
  for (let position = 0; position <= 4; position += 1) {
    gate.switchAfter(position)
    const { reader } = readerOf(forks[0], { urls: [gate.url] })
    const facts = await reader.readWithdrawal({ withdrawal, transactionId }, aSignal()).catch((error) => {
      // Blocks of the two chains that contradict each other, by the time that each was made.
      expect(error).toMatchObject({ kind: 'upstream_unavailable' })
    })
    if (facts === undefined) continue
    told += 1
    const { blockNumber, blockHash } = facts.evidence
    const height = `0x${(blockNumber ?? -1n).toString(16)}`
    const held = await Promise.all(forks.map((bed) => bed.node('eth_getBlockByNumber', [height, false])))
    expect(held.map((block) => Object(block).hash)).toContain(blockHash)
    expect(facts.status).toBe('pending')
  }
  // Readings of one chain alone, from the first call or to the last.
  expect(told).toBeGreaterThanOrEqual(2)
})

test('a transaction that is dropped before it is final never has facts, and has them where it comes again', async () => {
  const [bed] = forks
  const { user } = userOf(bed)
  const { reader } = readerOf(bed)
  const snapshot = await bed.node('evm_snapshot', [])
  const data = encodeDepositNative(recipient, id)
  const sent = await bed.send(user, bed.deployment.depository, data, 11n)
  await bed.mine(1)
  const ask = () => reader.readDeposits({ transactionId: sent.transactionId }, aSignal())
  await expect(ask()).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })

  await bed.node('evm_revert', [snapshot])
  await bed.mine(5)
  await expect(ask()).rejects.toMatchObject({ code: 'TRANSACTION_MISSING' })

  const again = await bed.send(user, bed.deployment.depository, data, 11n)
  expect(again.transactionId).toBe(sent.transactionId)
  await expect(ask()).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
  await bed.mine(2)
  const { evidence } = await ask()
  expect(evidence.blockNumber).toBe(again.blockNumber)
  expect(again.blockNumber).toBeGreaterThan(sent.blockNumber)
})

test('a reorganization of the node that moves an unfinal transaction moves its facts with it', async () => {
  const [bed] = forks
  const { user } = userOf(bed)
  const { reader } = readerOf(bed)
  const sent = await bed.send(user, bed.deployment.depository, encodeDepositNative(recipient, id), 13n)
  const before = await bed.chain.client.getBlock({ blockNumber: sent.blockNumber })
  await bed.node('anvil_reorg', [1, []])
  const ask = () => reader.readDeposits({ transactionId: sent.transactionId }, aSignal())
  await expect(ask()).rejects.toMatchObject({
    code: expect.stringMatching(/^TRANSACTION_(MISSING|NOT_FINAL)$/),
  })
  await bed.mine(3)
  const facts = await ask().catch((error: unknown) => error)
  if (facts instanceof Error) expect(facts).toMatchObject({ code: 'TRANSACTION_MISSING' })
  else expect(facts).not.toMatchObject({ evidence: { blockHash: before.hash } })
})
