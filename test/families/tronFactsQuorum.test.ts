// Goal: endpoints are counted, solidity and finality are those of enough of them, and reading costs few
// requests. Method: several stand-ins of one chain that see it differently; requests counted at them.

import type { Hex } from '@causeway/core'
import { encodeDepositNative, encodeEvmWithdrawal, encodeTransfer } from '@causeway/families/rules'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import { concatHex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  accountOf,
  aSignal,
  type ReaderSettings,
  readerOf,
  startTronBed,
  type TronBed,
  trx,
} from './tronSupport/tronBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient = accountOf('41')
const call = { to: recipient.bytes, data: '0x', value: 1n, allowFailure: false } as const
const withdrawal = encodeEvmWithdrawal({ calls: [call], nonce: 1n, expiration: 4_000_000_000n })

let bed: TronBed
let facades: readonly FaultyService[]
let deposit: string
let direct: string
let payment: string

beforeAll(async () => {
  bed = await startTronBed()
  const { depository, tokens } = bed.evm.deployment
  deposit = (await trigger(depository, encodeDepositNative(recipient.bytes, id), 7n)).transactionId
  direct = (await trigger(tokens.USDC, concatHex([encodeTransfer(depository, 9n), id]))).transactionId
  const sent = await bed.ledger.submit(bed.user, { kind: 'transfer', to: recipient.bytes, amount: 5n }, id)
  payment = sent.transactionId
  await bed.evm.mine(20)
  facades = await Promise.all([bed.startFacade(), bed.startFacade(), bed.startFacade()])
})
afterAll(async () => {
  await Promise.all((facades ?? []).map((facade) => facade.stop()))
  await bed?.stop()
})
beforeEach(() => {
  for (const facade of facades) {
    facade.set({ kind: 'none' })
    facade.resetCounters()
  }
})

function trigger(to: Hex, data: Hex, callValue = 0n) {
  return bed.ledger.submit(bed.user, { kind: 'trigger', to, data, callValue })
}

function reader(settings: ReaderSettings = {}, count = 3) {
  return readerOf(bed, { urls: facades.slice(0, count).map(({ url }) => url), ...settings }).reader
}

const toRecipient = { recipient: recipient.base58, currency: trx }
const askPayment = (one: ReturnType<typeof reader>) =>
  one.readPayment(
    { transactionId: payment, orderId: id, extraData: '0x', payments: [toRecipient] },
    aSignal(),
  )

const requests = (facade: FaultyService | undefined) =>
  Object.values(facade?.counters() ?? {}).reduce((sum, count) => sum + count, 0)

describe('a cold question takes, in two rounds', () => {
  test.each<[string, (one: ReturnType<typeof reader>) => Promise<unknown>, number, number]>([
    ['a deposit event', (one) => one.readDeposits({ transactionId: deposit }, aSignal()), 5, 6],
    ['a transfer with an id', (one) => one.readDeposits({ transactionId: direct }, aSignal()), 6, 7],
    ['a payment', askPayment, 6, 7],
    ['a withdrawal', (one) => one.readWithdrawal({ withdrawal }, aSignal()), 4, 4],
    [
      'a withdrawal with a transaction that does not execute it',
      (one) => one.readWithdrawal({ withdrawal, transactionId: deposit }, aSignal()),
      5,
      5,
    ],
  ])(
    '%s: so many requests to one endpoint, and so many to each of three',
    async (_name, ask, alone, each) => {
      await ask(reader({}, 1))
      expect(requests(facades[0])).toBe(alone)
      facades[0]?.resetCounters()
      await ask(reader({ threshold: 3 }))
      expect(facades.map(requests)).toEqual([each, each, each])
    },
  )

  test('nothing again once it is final, and everything again after it was told to forget', async () => {
    const one = reader({}, 1)
    const first = await one.readDeposits({ transactionId: deposit }, aSignal())
    expect(await one.readDeposits({ transactionId: `0x${deposit.toUpperCase()}` }, aSignal())).toEqual(first)
    expect(requests(facades[0])).toBe(5)
    one.forget()
    await one.readDeposits({ transactionId: deposit }, aSignal())
    expect(requests(facades[0])).toBe(10)
  })

  test('no more for a hundred identical questions at once', async () => {
    const one = reader({}, 1)
    await Promise.all(
      Array.from({ length: 100 }, () => one.readDeposits({ transactionId: deposit }, aSignal())),
    )
    expect(requests(facades[0])).toBe(5)
  })
})

describe('of three endpoints', () => {
  test('the facts name those that agree and the block they agree on', async () => {
    const { evidence } = await reader({ threshold: 3 }).readDeposits({ transactionId: deposit }, aSignal())
    expect(evidence).toMatchObject({
      chainId: 'tron',
      agreeingEndpoints: ['t1', 't2', 't3'],
      finalityRule: 'solidified',
    })
    expect(BigInt(String(evidence.blockHash).slice(0, 18))).toBe(evidence.blockNumber)
  })

  test.each([
    ['dead', { kind: 'reset' }],
    ['failing', { kind: 'http', status: 500 }],
    ['telling of an error inside', { kind: 'nodeError' }],
    [
      'without the transaction',
      { kind: 'lie', rewrite: (path: string, body: unknown) => (path.includes('info') ? {} : body) },
    ],
  ] as const)('one that is %s is outvoted', async (_name, fault) => {
    facades[0]?.set(fault)
    expect(await reader().readDeposits({ transactionId: deposit }, aSignal())).toMatchObject({
      deposits: [{ amount: 7n, depositId: id, depositor: recipient.base58 }],
      evidence: { agreeingEndpoints: ['t2', 't3'] },
    })
  })

  test('two that fail leave too few to say anything', async () => {
    facades[0]?.set({ kind: 'http', status: 503 })
    facades[1]?.set({ kind: 'reset' })
    await expect(askPayment(reader())).rejects.toMatchObject({
      kind: 'upstream_unavailable',
      retryable: true,
    })
  })

  test('three that contradict each other say nothing', async () => {
    const word = (amount: number) => amount.toString(16).padStart(64, '0')
    for (const [index, facade] of facades.slice(1).entries()) {
      const rewrite = (_path: string, body: unknown) =>
        JSON.parse(JSON.stringify(body).replaceAll(word(7), word(8 + index)))
      facade.set({ kind: 'lie', rewrite })
    }
    await expect(reader().readDeposits({ transactionId: deposit }, aSignal())).rejects.toMatchObject({
      code: 'UPSTREAM_DISAGREEMENT',
      kind: 'upstream_disagreement',
    })
  })

  test('one that has solidified more than the others moves nothing', async () => {
    const eager = await bed.startFacade({ solidAfter: 0 })
    const young = await trigger(bed.evm.deployment.depository, encodeDepositNative(recipient.bytes, id), 3n)
    const urls = [eager.url, ...facades.slice(0, 2).map(({ url }) => url)]
    const ask = () => readerOf(bed, { urls }).reader.readDeposits(young, aSignal())
    await expect(ask()).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL', retryable: true })
    await bed.evm.mine(2)
    expect(await ask()).toMatchObject({ deposits: [{ amount: 3n }] })
    await eager.stop()
  })
})

describe('finality', () => {
  const newDeposit = () =>
    trigger(bed.evm.deployment.depository, encodeDepositNative(recipient.bytes, id), 2n)
  const ask = (transactionId: string, settings: ReaderSettings) =>
    reader(settings, 1).readDeposits({ transactionId }, aSignal())

  test('of the default rule is solidity, ten blocks and sixty seconds', async () => {
    const { transactionId } = await newDeposit()
    const byDefault: ReaderSettings = { finality: undefined }
    await bed.evm.mine(2)
    await expect(ask(transactionId, byDefault)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    await bed.evm.mine(8)
    await expect(ask(transactionId, byDefault)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    const { timestamp } = await bed.evm.chain.client.getBlock()
    await bed.evm.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 60n })
    await bed.evm.mine(1)
    const facts = await ask(transactionId, byDefault)
    expect(facts.evidence.finalityRule).toBe('solidified, 10 blocks and 60 seconds')
  })

  test.each([
    ['depth', { mode: 'depth', blocks: 0 }],
    ['time', { mode: 'time', seconds: 0 }],
  ] as const)('F-127: of mode %s never comes before solidity', async (_mode, finality) => {
    const { transactionId } = await newDeposit()
    await expect(ask(transactionId, { finality })).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    await bed.evm.mine(1)
    await expect(ask(transactionId, { finality })).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    await bed.evm.mine(1)
    expect(await ask(transactionId, { finality })).toMatchObject({ deposits: [{ amount: 2n }] })
  })

  test('of the older settings counts as on ethereum-vm', async () => {
    const { transactionId } = await newDeposit()
    const older = { finality: undefined, additionalData: { finalizationBlocks: 3, finalizationTime: 0 } }
    await bed.evm.mine(2)
    await expect(ask(transactionId, older)).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    await bed.evm.mine(1)
    expect(await ask(transactionId, older)).toMatchObject({ deposits: [{ amount: 2n }] })
  })

  test('never comes for a transaction that the chain drops before', async () => {
    const snapshot = await bed.evm.node('evm_snapshot', [])
    const { transactionId } = await newDeposit()
    await bed.evm.mine(1)
    await expect(ask(transactionId, {})).rejects.toMatchObject({ code: 'TRANSACTION_NOT_FINAL' })
    await bed.evm.node('evm_revert', [snapshot])
    await bed.evm.mine(5)
    await expect(ask(transactionId, {})).rejects.toMatchObject({ code: 'TRANSACTION_MISSING' })
  })
})

describe('final blocks', () => {
  test.each([{ mode: 'tag' }, { mode: 'depth', blocks: 0 }, { mode: 'time', seconds: 0 }] as const)(
    'by rule %j the newest is the one that enough endpoints have solidified',
    async (finality) => {
      const { finalBlocks } = reader({ finality })
      const newest = await finalBlocks.readNewest(aSignal())
      const head = BigInt(String(await bed.evm.node('eth_blockNumber', [])))
      expect(newest.number).toBe(head - 2n)
      expect(await finalBlocks.readHash(newest.number, aSignal())).toBe(newest.hash)
      expect(await finalBlocks.readHash(head + 1_000n, aSignal())).toBeUndefined()
    },
  )

  test('one that is another block now has another hash', async () => {
    const { finalBlocks } = reader()
    const snapshot = await bed.evm.node('evm_snapshot', [])
    await bed.evm.mine(3)
    const before = await finalBlocks.readNewest(aSignal())
    await bed.evm.node('evm_revert', [snapshot])
    const { timestamp } = await bed.evm.chain.client.getBlock()
    await bed.evm.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 900n })
    await bed.evm.mine(3)
    expect(await finalBlocks.readHash(before.number, aSignal())).not.toBe(before.hash)
  })
})

test('a caller that gives up is told so, and the others are answered', async () => {
  const shared = reader({}, 1)
  const impatient = new AbortController()
  const refused = shared.readDeposits({ transactionId: deposit }, { signal: impatient.signal })
  const answered = shared.readDeposits({ transactionId: deposit }, aSignal())
  impatient.abort()
  await expect(refused).rejects.toMatchObject({ code: 'REQUEST_TIMED_OUT' })
  await expect(answered).resolves.toMatchObject({ kind: 'deposits' })
})
