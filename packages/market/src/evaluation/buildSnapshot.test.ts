// Goal: a snapshot tells where its values come from, and shows a price that is refused for an hour.
// Method: readings made by hand and a clock that the test moves; no I/O.
import type { AgreementReport } from '@causeway/families'
import { describe, expect, test } from 'vitest'
import { baseReading, blockHash, ethFeed, quoteFile, usdcFeed } from '../../test/support/fixtures.ts'
import { createManualClock } from '../../test/support/manualClock.ts'
import type { AgreedKind, ChainReading, FeeReading } from '../chain/chainReading.ts'
import { defaultLimits } from '../limits.ts'
import { planMarket } from '../plan.ts'
import { oneUsdX18 } from '../prices/guards.ts'
import type { AgreementOf } from './buildSnapshot.ts'
import { createMarketState } from './marketState.ts'

function setUp(agreementOf?: AgreementOf) {
  const clock = createManualClock()
  const state = createMarketState({
    plan: planMarket(quoteFile()),
    limits: defaultLimits,
    clock,
    ...(agreementOf !== undefined && { agreementOf }),
  })
  const read = (change: Partial<ChainReading> = {}, block = 100) => {
    const value = { ...baseReading({ nowMs: clock.now(), block }), ...change }
    state.putChain('base', { value, asOfMs: clock.now() })
  }
  return { clock, state, read }
}

describe('Q-177: the last price', () => {
  test('is shown for an hour after its sources were read, though it is refused', async () => {
    const { clock, state, read } = setUp()
    read()
    await clock.advance(3_600_000)
    read({ feeds: new Map() }, 101)
    expect(state.snapshot().price('ETH/USD')).toEqual({ reason: 'no_source' })
    expect(state.snapshot().lastPrice('ETH/USD')).toMatchObject({ usdX18: 2_000n * oneUsdX18 })
    await clock.advance(1)
    read({ feeds: new Map() }, 102)
    expect(state.snapshot().lastPrice('ETH/USD')).toBeUndefined()
  })

  test('is none before the first, and none of a price that is not listed', () => {
    const { state, read } = setUp()
    expect(state.snapshot().lastPrice('ETH/USD')).toBeUndefined()
    read()
    expect(state.snapshot().lastPrice('XYZ/USD')).toBeUndefined()
  })
})

describe('the witnesses of a price', () => {
  test('are its fresh feeds and services, with the block of what was read on a chain, and no pool', () => {
    const { clock, state, read } = setUp()
    const nowMs = clock.now()
    read({ contractsAt: { block: 90n, timestampSeconds: nowMs / 1_000 - 1 } })
    const quote = { usdX18: 2_001n * oneUsdX18, updatedAtMs: nowMs - 5, freshUntilMs: nowMs + 600_000 }
    const quotes = new Map([['coingecko:ethereum', quote]])
    state.putHttp('defillama', { kind: 'http', quotes, readAtMs: nowMs })
    expect(state.snapshot().witnesses('ETH/USD')).toStrictEqual([
      {
        source: `feed base ${ethFeed}`,
        usdX18: 2_000n * oneUsdX18,
        updatedAtMs: nowMs - 11_000,
        block: 90n,
      },
      { source: 'http defillama', usdX18: 2_001n * oneUsdX18, updatedAtMs: nowMs - 5 },
    ])
  })

  test('are none once their values are too old, and none of a price that is not listed', async () => {
    const { clock, state, read } = setUp()
    expect(state.snapshot().witnesses('USDC/USD')).toEqual([])
    read()
    expect(state.snapshot().witnesses('USDC/USD')).toMatchObject([{ source: `feed base ${usdcFeed}` }])
    await clock.advance(20_000)
    expect(state.snapshot().witnesses('USDC/USD')).toEqual([])
    expect(state.snapshot().witnesses('XYZ/USD')).toEqual([])
  })
})

describe('the basis of a chain', () => {
  const report: AgreementReport = { agreed: 2, required: 2, configured: 3, dissenting: [] }
  const heard = (...kinds: readonly AgreedKind[]) => {
    const reports = new Map(kinds.map((kind, index) => [kind, { ...report, configured: 3 + index }]))
    return (key: string) => (key === 'base' ? reports : undefined)
  }
  const basisWith = (agreementOf: AgreementOf | undefined, change: Partial<ChainReading> = {}) => {
    const { state, read } = setUp(agreementOf)
    read(change)
    return state.snapshot().basis(8_453)
  }
  const networkFee = '1000000 wei per gas'
  const head = { block: 100n, hash: blockHash(100) }

  test('is its block, its fee and how many endpoints agreed on its state, or on its head alone', () => {
    const agreed = { ...head, networkFee, agreed: 2, configured: 4 }
    expect(basisWith(heard('head', 'state'))).toStrictEqual(agreed)
    expect(basisWith(heard('head'))).toStrictEqual({ ...agreed, configured: 3 })
  })

  test('leaves out what is not known: endpoints that agree, the fee, a hash where none is compared', () => {
    expect(basisWith(undefined)).toStrictEqual({ ...head, networkFee })
    const fees: FeeReading = { fees: { reason: 'gas_disputed' }, shown: undefined }
    expect(basisWith(undefined, { fees })).toStrictEqual(head)
    const unhashed = { number: 7n, timestampSeconds: 1_799_999_999 }
    expect(basisWith(undefined, { head: unhashed })).toStrictEqual({ block: 7n, networkFee })
  })

  test.each<[string, NonNullable<FeeReading['shown']>]>([
    [
      '5 micro-lamports per compute unit',
      { microLamportsPerUnit: '5', ceilingMicroLamportsPerUnit: '9', priceFrom: 'median' },
    ],
    ['6 satoshi per thousand virtual bytes', { satPerKvb: '6', ceilingSatPerKvb: '9', priceFrom: 'median' }],
    [
      '7 sun per energy',
      { sunPerEnergy: '7', sunPerByte: '1', ceilingSunPerEnergy: '9', energyFrom: 'median' },
    ],
    ['8 for each transfer', { transferFee: '8', ceilingTransferFee: '9', feeFrom: 'agreed' }],
  ])('says its fee in the unit of its family: %s', (text, shown) => {
    const { fees } = baseReading({ nowMs: 1_800_000_000_000 }).fees
    expect(basisWith(undefined, { fees: { fees, shown } })?.networkFee).toBe(text)
  })

  test('is none before its first reading, and none of a chain that is not listed', () => {
    const { state, read } = setUp()
    expect(state.snapshot().basis(8_453)).toBeUndefined()
    read()
    expect(state.snapshot().basis(10)).toBeUndefined()
    expect(state.snapshot().basis(1)).toBeUndefined()
  })
})
