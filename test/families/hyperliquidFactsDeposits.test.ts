import { nonceMappingId } from '@causeway/core'
// Goal: a transfer to a depository is one deposit in the currency it arrives in, for the order that the hub
// names. Method: transactions of the stand-in and entries of a constructed hub, read over HTTP.
import { hyperliquidBodies } from '@causeway/localnet/standIns/hyperliquid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  account,
  aSignal,
  depository,
  type HyperliquidBed,
  hype,
  native,
  noOrder,
  orderId,
  otherDepository,
  readerOf,
  sendAsset,
  sender,
  startHyperliquidBed,
  timeMs,
  timeSeconds,
  usdc,
  usdSend,
} from './hyperliquidSupport/hyperliquidBed.ts'

const { failure } = hyperliquidBodies

let bed: HyperliquidBed
beforeAll(async () => {
  bed = await startHyperliquidBed()
})
afterAll(() => bed?.stop())
beforeEach(() => bed.reset())

const read = (transactionId: string) => readerOf(bed).readDeposits({ transactionId }, aSignal())

describe('a deposit', () => {
  test('F-151: by usdSend is native, of 8 decimals, for the order that the hub names', async () => {
    bed.map({})
    const transactionId = bed.list(usdSend())
    expect(await read(transactionId)).toEqual({
      kind: 'deposits',
      transactionId,
      blockTimestampSeconds: timeSeconds,
      deposits: [
        {
          onchainIndex: '0',
          depository,
          depositId: orderId,
          depositor: sender,
          currency: native,
          amount: 1_250_000_000n,
        },
      ],
      evidence: {
        chainId: 'hyperliquid',
        blockNumber: 700n,
        agreeingEndpoints: ['h1'],
        finalityRule: 'shown in a block',
      },
    })
  })

  test.each<[string, Parameters<typeof sendAsset>[0], string, bigint]>([
    ['spot', {}, usdc, 1_250_000_000n],
    ['spot of a token of two decimals', { token: `HYPE:${hype}`, amount: '7.25' }, hype, 725n],
    ['spot with a part of a unit', { token: `HYPE:${hype}`, amount: '7.259' }, hype, 725n],
    [
      'spot with an id in upper case',
      { token: `HYPE:0x${hype.slice(2).toUpperCase()}`, amount: '1' },
      hype,
      100n,
    ],
    ['the first perps dex', { sourceDex: '', destinationDex: '' }, native, 1_250_000_000n],
    ['another dex', { sourceDex: 'xyz', destinationDex: 'xyz' }, `${usdc}78797a`, 1_250_000_000n],
    ['spot, from the first perps dex', { sourceDex: '' }, usdc, 1_250_000_000n],
    ['the first perps dex, from spot', { destinationDex: '' }, native, 1_250_000_000n],
    ['spot, above what a float holds', { amount: '90071992.54740993' }, usdc, 9_007_199_254_740_993n],
  ])('F-151: by sendAsset to %s has its currency', async (_dex, change, currency, amount) => {
    bed.map({})
    const { deposits } = await read(bed.list(sendAsset(change)))
    expect(deposits).toMatchObject([{ currency, amount, depositId: orderId }])
  })

  test('may go to an additional depository, in any case', async () => {
    bed.map({})
    const destination = `0x${otherDepository.slice(2).toUpperCase()}`
    const { deposits } = await read(bed.list(usdSend({ destination })))
    expect(deposits).toMatchObject([{ depository: otherDepository }])
  })

  test('is of the depositor that the entry names', async () => {
    const depositor = account('77')
    bed.map({ data: `${orderId}${depositor.slice(2)}` })
    expect((await read(bed.list(usdSend()))).deposits).toMatchObject([{ depositor, depositId: orderId }])
  })

  test('is of its sender where the entry names the zero account', async () => {
    bed.map({ data: `${orderId}${'0'.repeat(40)}` })
    expect((await read(bed.list(usdSend()))).deposits).toMatchObject([{ depositor: sender }])
  })
})

describe('no deposit is', () => {
  test.each<[string, () => string]>([
    ['a transfer to somebody else', () => bed.list(usdSend({ destination: account('99') }))],
    ['an asset sent to somebody else', () => bed.list(sendAsset({ destination: account('99') }))],
    ['F-151: an action of another kind', () => bed.list({ type: 'order' })],
    ['a transfer of a depository to itself', () => bed.list(sendAsset(), { user: depository })],
    ['a transfer between depositories', () => bed.list(usdSend(), { user: otherDepository })],
    ['a transfer of less than a unit', () => bed.list(sendAsset({ token: `HYPE:${hype}`, amount: '0.001' }))],
  ])('%s', async (_what, list) => {
    bed.map({})
    expect((await read(list())).deposits).toEqual([])
  })
})

describe('is refused:', () => {
  test.each<[string, () => string, string]>([
    ['a transaction that failed', () => bed.list(usdSend(), { error: failure.body }), 'TRANSACTION_REVERTED'],
    [
      'another token than USDC on the first perps dex',
      () => bed.list(sendAsset({ destinationDex: '', token: `HYPE:${hype}` })),
      'PERPS_TOKEN_UNSUPPORTED',
    ],
    [
      'a token that the exchange does not list',
      () => bed.list(sendAsset({ token: `X:0x${'01'.repeat(16)}` })),
      'CURRENCY_DECIMALS_UNKNOWN',
    ],
  ])('%s', async (_what, list, code) => {
    bed.map({})
    await expect(read(list())).rejects.toMatchObject({ code })
  })
})

describe('the nonce mapping', () => {
  const hour = 3_600n

  test('is asked for by the published id', () => {
    expect(nonceMappingId(1_761_563_890_702n)).toBe(
      '0x44ec8783eee06c285b5fb4d7d8f3c2e92e60213d81f4be35610a86532b71d222',
    )
  })

  test('F-152: that is missing within the hour is waited for', async () => {
    await expect(read(bed.list(usdSend()))).rejects.toMatchObject({
      code: 'NONCE_MAPPING_MISSING',
      kind: 'not_final',
      retryable: true,
      retryAfterSeconds: 30,
      message: `No nonce mapping found for nonce ${timeMs} and depositor ${sender}.`,
    })
  })

  test.each<[string, Parameters<HyperliquidBed['map']>[0], string | undefined]>([
    [
      'missing at the last second',
      { data: '0x', createdAtSeconds: 0n, readAtSeconds: timeSeconds + hour },
      undefined,
    ],
    [
      'missing one second later',
      { data: '0x', createdAtSeconds: 0n, readAtSeconds: timeSeconds + hour + 1n },
      noOrder,
    ],
    ['written at the last second', { createdAtSeconds: timeSeconds + hour }, orderId],
    ['written one second later', { createdAtSeconds: timeSeconds + hour + 1n }, noOrder],
    ['written before the transfer', { createdAtSeconds: timeSeconds - 5n }, orderId],
    ['of 31 bytes', { data: `0x${'ab'.repeat(31)}` }, noOrder],
    ['of 53 bytes', { data: `0x${'ab'.repeat(53)}` }, noOrder],
    ['empty', { data: '0x' }, noOrder],
    ['of another nonce', { nonce: 5n, readAtSeconds: timeSeconds + 2n * hour }, undefined],
    ['of another sender', { user: account('99') }, undefined],
  ])('F-152: that is %s decides for itself', async (_what, entry, depositId) => {
    bed.map(entry)
    const reading = read(bed.list(usdSend()))
    if (depositId === undefined)
      await expect(reading).rejects.toMatchObject({ code: 'NONCE_MAPPING_MISSING' })
    else expect((await reading).deposits).toMatchObject([{ depositId, depositor: sender }])
  })

  test('of an asset send is that of its own nonce, whatever its time', async () => {
    bed.map({ nonce: 7n })
    expect((await read(bed.list(sendAsset({ nonce: 7n })))).deposits).toMatchObject([{ depositId: orderId }])
  })
})
