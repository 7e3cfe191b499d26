// Goal: what a user sends alone, or to a deposit address, makes the account that it needs at the right party's cost, and
// is not offered to somebody who cannot pay the network for it.

import { solanaCodec } from '@causeway/core/encodings'
import { describe, expect, test } from 'vitest'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { KnownState } from '../../../rules/plannedTransaction.ts'
import { associatedTokenAccount } from '../programAddresses.ts'
import { associatedTokenProgram, systemProgram, token2022Program, tokenProgram } from '../programs.ts'
import { SolanaFees } from './solanaFees.ts'
import { solanaQuoting, solanaStepData } from './solanaQuoting.ts'

const depository = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const user = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9'
const payer = 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'
const recipient = 'Dodg2HifwU8rmaVVyMyUZDGTRbqAJTyVYxXPwcbNpBKc'
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const orderId = `0x${'3f'.repeat(32)}` as const
const quoting = solanaQuoting.bind({ chainId: 1, chainKey: 'solana', codec: solanaCodec, depository })
const fees = new SolanaFees({
  lamportsPerSignature: 5_000n,
  microLamportsPerUnit: 1_000_000n,
  rentLamportsPerByte: 10n,
})
const sol = { address: solanaCodec.nativeCurrency, isNative: true, resetsAllowance: false }
const token = { address: mint, isNative: false, resetsAllowance: false }
const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: recipient }
const tokenBytes = { lack: { stateBytes: 165 } }

function routeOf(change: Partial<OriginRoute>): OriginRoute {
  return {
    user,
    recipient,
    by: 'send',
    currencyIn: token,
    currencyOut: token,
    amountIn: 258n,
    amountInMax: 258n,
    amountOut: 1n,
    amountOutMin: 1n,
    swap: undefined,
    deposited: undefined,
    ...change,
  }
}
const planOf = (change: Partial<OriginRoute>, state: Partial<KnownState> = {}) => {
  const [planned] = quoting.plan(routeOf(change), { allowance: undefined, ...state })
  if (planned === undefined) throw new Error('something is planned')
  return planned
}
const stepsOf = (change: Partial<OriginRoute>) =>
  solanaStepData
    .parse(quoting.encode(planOf(change), routeOf(change), { identity, fees }).data)
    .instructions.slice(2)
    .map(({ programId, data, keys }) => ({
      programId,
      data,
      keys: keys.map(
        ({ pubkey, isSigner, isWritable }) =>
          `${pubkey}${isSigner ? ' signs' : ''}${isWritable ? ' written' : ''}`,
      ),
    }))

describe('what is planned', () => {
  test.each<[string, Partial<OriginRoute>, Partial<KnownState>, object]>([
    ['coin lacks nothing', { currencyIn: sol }, {}, { kind: 'send-input', isNative: true, signatures: 1 }],
    [
      'a token may lack an account',
      {},
      {},
      { kind: 'send-input', isNative: false, signatures: 1, ...tokenBytes },
    ],
    [
      'one that is there is not made',
      {},
      { recipientLack: {} },
      { kind: 'send-input', isNative: false, signatures: 1, lack: {} },
    ],
    [
      'another payer signs too',
      { depositFeePayer: payer },
      {},
      { kind: 'send-input', isNative: false, signatures: 2, ...tokenBytes },
    ],
    [
      'an address has no account yet',
      { by: 'pay-address' },
      {},
      { kind: 'pay-address', isNative: false, signatures: 1, ...tokenBytes },
    ],
    [
      'and needs none for coin',
      { by: 'pay-address', currencyIn: sol },
      {},
      { kind: 'pay-address', isNative: true, signatures: 1 },
    ],
    [
      'a deposit finds the account of the vault',
      { by: 'deposit-transfer' },
      {},
      { kind: 'deposit', isNative: false, signatures: 1 },
    ],
  ])('%s', (_what, change, state, planned) => {
    expect(planOf(change, state)).toEqual(planned)
  })

  test.each(['deposit', 'deposit-transfer'] as const)('has no swap before a %s', (by) => {
    const swap = { trade: 'exactInput', from: token, hops: [], ticksCrossed: 0 } as const
    expect(() => planOf({ by, swap })).toThrow('nothing is swapped')
  })
})

describe('what is sent', () => {
  test('is coin, from account to account', () => {
    expect(stepsOf({ currencyIn: sol })).toEqual([
      {
        programId: systemProgram,
        data: '020000000201000000000000',
        keys: [`${user} signs written`, `${recipient} written`],
      },
    ])
  })

  test.each([
    ['the user', undefined, user],
    ['another', payer, payer],
  ])('is a token, whose account %s pays for', (_who, depositFeePayer, pays) => {
    const held = { mint, tokenProgram }
    expect(stepsOf({ depositFeePayer })).toEqual([
      {
        programId: associatedTokenProgram,
        data: '01',
        keys: [
          `${pays} signs written`,
          `${associatedTokenAccount(recipient, held)} written`,
          recipient,
          mint,
          systemProgram,
          tokenProgram,
        ],
      },
      {
        programId: tokenProgram,
        data: '030201000000000000',
        keys: [
          `${associatedTokenAccount(user, held)} written`,
          `${associatedTokenAccount(recipient, held)} written`,
          `${user} signs`,
        ],
      },
    ])
  })

  test('is a token of another program by that program', () => {
    const [, sent] = stepsOf({ currencyIn: { ...token, tokenProgram: token2022Program } })
    expect(sent?.programId).toBe(token2022Program)
  })
})

describe('F-98: the network is paid', () => {
  const refusalOf = (coin: bigint, change: Partial<OriginRoute> = {}) =>
    planOf(change, { fees, feeFunds: { coin } }).refusal?.data

  // 120,000 units at a lamport, a signature, and the rent of 165 bytes and those beside them.
  const needed = 120_000n + 5_000n + 2_930n

  test('with the rent of what a payment makes', () => {
    expect(refusalOf(needed)).toBeUndefined()
    expect(refusalOf(needed - 1n)).toEqual({
      field: 'user',
      availableAmount: `${needed - 1n}`,
      neededAmount: `${needed}`,
    })
  })

  test('by nobody who is asked before there are fees', () => {
    expect(planOf({}, { feeFunds: { coin: 0n } }).refusal).toBeUndefined()
  })
})

test.each([
  ['a deposit without an order', { kind: 'deposit', isNative: true }, { orderId: undefined }],
  ['a payment to no address', { kind: 'pay-address', isNative: true }, { depositAddress: undefined }],
  ['what another family planned', { kind: 'wrap', isNative: true }, {}],
] as const)('%s is not encoded', (_what, planned, change) => {
  const bid = { ...identity, ...change }
  const encoding = new SolanaFees({
    lamportsPerSignature: 1n,
    microLamportsPerUnit: 1n,
    rentLamportsPerByte: 1n,
  })
  expect(() =>
    quoting.encode(planned, routeOf({ by: 'deposit' }), { identity: bid, fees: encoding }),
  ).toThrow(`no ${planned.kind}`)
})
