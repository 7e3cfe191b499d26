// Goal: solidity and finality are those of enough endpoints. Method: several stand-ins of one chain that see it differently.

import type { Hex } from '@causeway/core'
import { encodeDepositNative } from '@causeway/families/rules'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  accountOf,
  aSignal,
  type ReaderSettings,
  readerOf,
  startTronBed,
  type TronBed,
} from './tronSupport/tronBed.ts'

const id: Hex = `0x${'ab'.repeat(32)}`
const recipient = accountOf('41')

let bed: TronBed
let facades: readonly FaultyService[]

beforeAll(async () => {
  bed = await startTronBed()
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
  }
})

function trigger(to: Hex, data: Hex, callValue = 0n) {
  return bed.ledger.submit(bed.user, { kind: 'trigger', to, data, callValue })
}

function reader(settings: ReaderSettings = {}, count = 3) {
  return readerOf(bed, { urls: facades.slice(0, count).map(({ url }) => url), ...settings }).reader
}

describe('of three endpoints', () => {
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
