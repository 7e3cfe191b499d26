// Goal: what was planned for Bitcoin is encoded as it was planned, or refused by name.

import { createBitcoinCodec } from '@causeway/core/encodings'
import { Psbt, Transaction } from 'bitcoinjs-lib'
import { describe, expect, test } from 'vitest'
import type { StepIdentity } from '../../../rules/encodedStep.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { KnownState, PlannedTransaction, SpendableOutput } from '../../../rules/plannedTransaction.ts'
import { BitcoinFees } from './bitcoinFees.ts'
import { bitcoinQuoting } from './bitcoinQuoting.ts'

const codec = createBitcoinCodec()
const depository = 'bc1qzmtn0q92ayejt2hpffvlktcpmyy7vvsd06sefu'
const user = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'
const scriptHash = 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3'
const quoting = bitcoinQuoting.bind({ chainId: 1, codec, depository })
const native = { address: codec.nativeCurrency, isNative: true, resetsAllowance: false }
const orderId = `0x${'3f'.repeat(32)}` as const
const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: undefined }
const fees = new BitcoinFees({ satPerKvb: 1_000n })
const script = '0x0014751e76e8199196d454941c45d1b3a323f1433bd6'
const paying = new Transaction()
paying.addInput(new Uint8Array(32).fill(7), 0)
paying.addOutput(Buffer.from(script.slice(2), 'hex'), 10_300n)
const output: SpendableOutput = {
  txid: paying.getId(),
  vout: 0,
  value: 10_300n,
  script,
  transaction: `0x${paying.toHex()}`,
}
const route: OriginRoute = {
  user,
  recipient: user,
  by: 'deposit',
  currencyIn: native,
  currencyOut: native,
  amountIn: 10_000n,
  amountInMax: 10_000n,
  amountOut: 1n,
  amountOutMin: 1n,
  swap: undefined,
  deposited: undefined,
}
const planOf = (change: Partial<OriginRoute> = {}, state: Partial<KnownState> = {}) =>
  quoting.plan({ ...route, ...change }, { allowance: undefined, spendable: [output], fees, ...state })
const encode = (planned: PlannedTransaction, change: Partial<StepIdentity> = {}) =>
  quoting.encode(planned, route, { identity: { ...identity, ...change }, fees })

describe('a plan', () => {
  test.each(['deposit', 'deposit-transfer'] as const)('by %s is one deposit', (by) => {
    const [planned, ...more] = planOf({ by })
    expect([planned?.kind, planned?.isNative, more.length]).toEqual(['deposit', true, 0])
  })

  test.each(['deposit', 'deposit-transfer'] as const)('by %s has no swap before it', (by) => {
    const swap = { trade: 'exactInput', from: native, hops: [], ticksCrossed: 0 } as const
    expect(() => planOf({ by, swap })).toThrow(`by ${by}`)
  })

  test('without enough outputs has no fee of its own', () => {
    const funding = { kind: 'short', spendable: 0n, needed: 10_187n, isOfTooMany: false }
    expect(planOf({}, { spendable: [] })).toStrictEqual([{ kind: 'deposit', isNative: true, funding }])
  })

  test('is made for nobody who cannot sign', () => {
    expect(() => planOf({ user: scriptHash })).toThrow('nobody signs for this account')
  })
})

describe('a step', () => {
  const bare = { kind: 'deposit', isNative: true } as const
  const chosen = { kind: 'chosen', inputs: [output], fee: 300n, change: 0n } as const

  test.each([
    ['has no change where nothing is left', 0n, [10_000n, 0n]],
    ['gives change where something is', 500n, [10_000n, 0n, 500n]],
  ])('%s', (_what, change, values) => {
    const { data } = encode({ ...bare, funding: { ...chosen, change } })
    expect(Psbt.fromHex(String(data['psbt'])).txOutputs.map(({ value }) => value)).toEqual(values)
  })

  test.each<[string, PlannedTransaction, Partial<StepIdentity>, string]>([
    ['of another family', bare, {}, 'planned by another family'],
    ['without an order', { ...bare, funding: chosen }, { orderId: undefined }, 'no deposit'],
    ['of another kind', { kind: 'swap', isNative: true, funding: chosen }, {}, 'no swap'],
  ])('%s is refused', (_what, planned, change, problem) => {
    expect(() => encode(planned, change)).toThrow(problem)
  })

  test('that the user cannot pay for says how much is there, and how much is needed', () => {
    const funding = { kind: 'short', spendable: 5n, needed: 7n, isOfTooMany: false } as const
    expect(() => encode({ ...bare, funding })).toThrow(
      expect.objectContaining({
        code: 'INSUFFICIENT_FUNDS',
        kind: 'invalid_request',
        data: { field: 'amount', availableAmount: '5', neededAmount: '7' },
      }),
    )
  })
})
