// Goal: what a Solana origin plans, encodes and costs, from facts alone. Method: published vectors of the depository
// program, and the sizes of whole transactions. @source rules F-98, F-119

import { solanaCodec } from '@causeway/core/encodings'
import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import type { NetworkFees } from '../../../rules/networkFees.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import { solanaLibrary } from '../library.ts'
import { deriveProgramAddresses } from '../programAddresses.ts'
import { token2022Program } from '../programs.ts'
import { depositCoin, depositToken, libraryInstruction, sendCoin } from './instructions.ts'
import { SolanaFees } from './solanaFees.ts'
import { solanaQuoting, solanaStepData } from './solanaQuoting.ts'
import { checkSize, SolanaTransactionTooLargeError, transactionBytes } from './transactionSize.ts'

const depository = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
const user = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9'
const payer = 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'
const usdcMint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const orderId = '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a4' as const

const bound = { chainId: 792_703_809, chainKey: 'solana', codec: solanaCodec, depository }
const quoting = solanaQuoting.bind(bound)
const fees = new SolanaFees({
  lamportsPerSignature: 5_000n,
  microLamportsPerUnit: 200_000n,
  rentLamportsPerByte: 6_960n,
})
const sol = { address: solanaCodec.nativeCurrency, isNative: true, resetsAllowance: false }
const usdc = { address: usdcMint, isNative: false, resetsAllowance: false }

function routeOf(change: Partial<OriginRoute> = {}): OriginRoute {
  return {
    user,
    recipient: `0x${'22'.repeat(20)}`,
    by: 'deposit',
    currencyIn: sol,
    currencyOut: sol,
    amountIn: 1_000_000n,
    amountInMax: 1_000_000n,
    amountOut: 9n,
    amountOutMin: 8n,
    swap: undefined,
    deposited: { currency: sol, amount: 1_000_000n },
    ...change,
  }
}

function stepOf(route: OriginRoute) {
  const [planned] = quoting.plan(route, { allowance: undefined })
  if (planned === undefined) throw new Error('nothing is planned')
  const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: undefined }
  const { data } = quoting.encode(planned, route, { identity, fees })
  return { planned, ...solanaStepData.parse(data) }
}

const roles = (keys: readonly { isSigner: boolean; isWritable: boolean }[]) =>
  keys.map(({ isSigner, isWritable }) => `${isSigner ? 'S' : ''}${isWritable ? 'W' : ''}`)

/** As the public client compiles it. */
function bytesOf({ instructions }: ReturnType<typeof stepOf>, payerKey: string, withBudget = true): number {
  const compiled = instructions.slice(withBudget ? 0 : 2).map(
    ({ keys, programId, data }) =>
      new TransactionInstruction({
        keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
        programId: new PublicKey(programId),
        data: Buffer.from(data, 'hex'),
      }),
  )
  const message = new TransactionMessage({
    payerKey: new PublicKey(payerKey),
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: compiled,
  })
  return new VersionedTransaction(message.compileToV0Message()).serialize().length
}

test('F-98: who pays the network and has too few lamports for it is told before the first step', () => {
  const refusalOf = (route: OriginRoute, coin?: bigint) => {
    const known = { allowance: undefined, fees, ...(coin !== undefined && { feeFunds: { coin } }) }
    return quoting.plan(route, known)[0]?.refusal?.data
  }
  const ofToken = routeOf({ currencyIn: usdc, deposited: { currency: usdc, amount: 1_000_000n } })
  const [planned] = quoting.plan(ofToken, { allowance: undefined })
  if (planned === undefined) throw new Error('nothing is planned')
  const needed = fees.costOf(planned)
  expect(refusalOf(ofToken, needed - 1n)).toEqual({
    field: 'user',
    availableAmount: `${needed - 1n}`,
    neededAmount: `${needed}`,
  })
  expect(refusalOf({ ...ofToken, depositFeePayer: payer }, 0n)).toMatchObject({ field: 'depositFeePayer' })
  expect(refusalOf(routeOf({ depositFeePayer: payer }), 0n)).toMatchObject({ field: 'depositFeePayer' })
  // Coin that the user deposits is told by the balance of the input, and any wallet may pay an address.
  for (const [route, coin] of [
    [ofToken, needed],
    [ofToken, undefined],
    [routeOf(), 0n],
    [{ ...ofToken, by: 'pay-address' }, 0n],
  ] as const)
    expect(refusalOf(route, coin)).toBeUndefined()
})

describe('the depository', () => {
  test('derives its state, its vault and where the vault holds a mint', () => {
    const { state, vault, vaultTokenAccount } = deriveProgramAddresses(depository)
    expect([state, vault]).toEqual([
      'Dodg2HifwU8rmaVVyMyUZDGTRbqAJTyVYxXPwcbNpBKc',
      '7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ',
    ])
    const token = { mint: usdcMint, tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' }
    expect(vaultTokenAccount(token)).toBe('4nvJ5zWdVspxJiNZzB127U6amPH98SFFkBx2JZrAduia')
  })
})

describe('a deposit', () => {
  test('of SOL is the limit and price of its units, then one instruction with amount and order', () => {
    const { instructions, addressLookupTableAddresses, planned } = stepOf(routeOf())
    const deposit = instructions[2]
    expect(instructions).toHaveLength(3)
    expect(addressLookupTableAddresses).toEqual([])
    expect(deposit?.programId).toBe(depository)
    expect(deposit?.data).toBe(`0d9e0ddf5fd51c0640420f0000000000${orderId.slice(2)}`)
    expect(roles(deposit?.keys ?? [])).toEqual(['', 'SW', '', 'W', ''])
    expect(deposit?.keys.map(({ pubkey }) => pubkey).slice(1, 3)).toEqual([user, user])
    expect(fees.costOf(planned)).toBe(5_000n + 12_000n)
  })

  test('bids as the library does', () => {
    const data = ({ data: bytes }: TransactionInstruction) => bytes.toString('hex')
    const { instructions } = stepOf(routeOf())
    expect(instructions.slice(0, 2).map((one) => [one.programId, one.data])).toEqual(
      [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 60_000 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 200_000n }),
      ].map((one) => [one.programId.toBase58(), data(one)]),
    )
  })

  test('of a token names ten accounts, of which the vault is not written', () => {
    const { instructions, planned } = stepOf(routeOf({ currencyIn: usdc }))
    const deposit = instructions[2]
    expect(deposit?.data.slice(0, 16)).toBe('0b9c60da27a3b413')
    expect(roles(deposit?.keys ?? [])).toEqual(['', 'SW', '', '', '', 'W', 'W', '', '', ''])
    expect(fees.costOf(planned)).toBe(5_000n + 18_000n)
  })

  test('of a Token-2022 mint names its program, and other accounts for it', () => {
    const of = (tokenProgram: string | undefined) =>
      stepOf(routeOf({ currencyIn: { ...usdc, tokenProgram } })).instructions[2]?.keys ?? []
    expect(of(token2022Program)[7]?.pubkey).toBe(token2022Program)
    expect(of(token2022Program)[6]?.pubkey).not.toBe(of(undefined)[6]?.pubkey)
  })

  test('whose fee somebody else pays has two signatures, and the account of the vault at his cost before it', () => {
    const { instructions, planned } = stepOf(routeOf({ currencyIn: usdc, depositFeePayer: payer }))
    const [, , account, deposit] = instructions
    expect(roles(account?.keys ?? [])).toEqual(['SW', 'W', '', '', '', ''])
    expect(account).toMatchObject({ programId: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL', data: '01' })
    expect([account?.keys[0]?.pubkey, deposit?.keys[1]?.pubkey]).toEqual([payer, user])
    expect(fees.costOf(planned)).toBe(10_000n + 18_000n)
  })

  test.each<[string, Partial<OriginRoute>, string, number]>([
    ['SOL', {}, user, 320],
    ['SOL, another payer', { depositFeePayer: payer }, payer, 416],
    ['a token', { currencyIn: usdc }, user, 485],
  ])('has its published size: %s', (_what, change, payerKey, bytes) => {
    const step = stepOf(routeOf(change))
    expect(bytesOf(step, payerKey, false)).toBe(bytes)
    expect(bytesOf(step, payerKey)).toBe(bytes + 52)
  })
})

// Adversary: a cached size of another form, which makes a quote that no cluster accepts.
describe('the size of a transaction', () => {
  const program = { program: depository, addresses: deriveProgramAddresses(depository) }
  const token = { mint: usdcMint, tokenProgram: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' }
  const deposit = { sender: user, amount: 1n, orderId }
  const coins = (recipients: readonly string[]) =>
    recipients.map((to) => sendCoin({ from: user, to, amount: 1n }))
  const fresh = (count: number) =>
    Array.from({ length: count }, () => solanaLibrary().Keypair.generate().publicKey.toBase58())

  test('is told by form: payers, accounts and data that differ are not taken for each other', () => {
    const same = fresh(1)[0] ?? ''
    const asked = () => [
      transactionBytes(user, [depositCoin(program, deposit)]),
      transactionBytes(payer, [depositCoin(program, deposit)]),
      transactionBytes(user, [depositToken(program, token, deposit)]),
      transactionBytes(user, coins([same, same])),
      transactionBytes(user, coins(fresh(2))),
      transactionBytes(same, coins([same, ...fresh(1)])),
    ]
    const sizes = asked()
    expect(sizes.slice(0, 3)).toEqual([320, 416, 485])
    const [, , , one = 0, two = 0, paid = 0] = sizes
    expect([two - one, paid - two]).toEqual([32, 64])
    expect(asked()).toEqual(sizes)
  })

  test('is what the library writes, as long as it can', () => {
    const { PublicKey, TransactionMessage, VersionedTransaction } = solanaLibrary()
    for (const count of [1, 2, 7, 18, 19, 20, 21, 22]) {
      const sent = coins(fresh(count))
      const message = new TransactionMessage({
        payerKey: new PublicKey(user),
        recentBlockhash: PublicKey.default.toBase58(),
        instructions: sent.map(libraryInstruction),
      })
      const written = () => new VersionedTransaction(message.compileToV0Message()).serialize().length
      const bytes = transactionBytes(user, sent)
      const signatureBytes = 65
      if (bytes - signatureBytes <= 1_232) expect(bytes).toBe(written())
      else expect(written).toThrow(RangeError)
    }
  })

  test('is refused above what a cluster takes, with both figures', () => {
    expect(() => checkSize(user, coins(fresh(20)))).not.toThrow()
    expect(() => checkSize(user, coins(fresh(30)))).toThrow(SolanaTransactionTooLargeError)
    expect(() => checkSize(user, coins(fresh(30)))).toThrow(/more than a cluster takes/)
  })
})

describe('a deposit address', () => {
  const program = '7uTT8Xi5RWXzy7h9XL244GRgEycDYDhLjr3ZyNdXi8pZ'
  const withAddresses = solanaQuoting.bind({ ...bound, depositAddressProgram: program })
  const { depositAddresses } = withAddresses
  const made = () =>
    depositAddresses?.make({
      orderSigner: `0x${'Ab'.repeat(20)}`,
      fillWallet: payer,
      depositor: user,
      nonce: `0x${'01'.repeat(32)}`,
    })

  test('is made where the chain names a program, the same for every spelling of its signer', () => {
    expect(quoting.depositAddresses).toBeUndefined()
    const address = made()
    expect(address?.terms).toMatchObject({
      orderSigner: `0x${'ab'.repeat(20)}`,
      sweeper: payer,
      depositor: user,
    })
    expect(PublicKey.isOnCurve(new PublicKey(address?.address ?? '').toBytes())).toBe(false)
    const bytes = new PublicKey(address?.address ?? '').toBuffer().subarray(0, 20).toString('hex')
    expect(depositAddresses?.nameOf(address?.address ?? '')).toBe(`0x${bytes}`)
    expect(() => solanaQuoting.bind({ ...bound, depositAddressProgram: 'no program' })).toThrow(
      'chains.solana.depositAddressProgram is no address',
    )
  })

  test.each([
    ['SOL is a transfer', sol, 1],
    ['a token is a transfer behind the account that it makes', usdc, 2],
  ] as const)('paid in %s', (_what, currencyIn, count) => {
    const { address = '' } = made() ?? {}
    const route = routeOf({ by: 'pay-address', currencyIn })
    const [planned] = withAddresses.plan(route, { allowance: undefined })
    if (planned === undefined) throw new Error('a payment is planned')
    expect(planned).toMatchObject({ kind: 'pay-address', signatures: 1 })
    const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: address }
    const { instructions } = solanaStepData.parse(
      withAddresses.encode(planned, route, { identity, fees }).data,
    )
    const moving = instructions.slice(2)
    expect(moving).toHaveLength(count)
    // A token goes to the address's own account of it.
    const named = moving.flatMap(({ keys }) => keys.map(({ pubkey }) => pubkey))
    expect(named).toContain(address)
    // Nothing but the payer signs, so that any wallet can send it.
    const signers = moving.flatMap(({ keys }) =>
      keys.filter(({ isSigner }) => isSigner).map(({ pubkey }) => pubkey),
    )
    expect(new Set(signers)).toEqual(new Set([user]))
  })

  test('costs its sweep a fee, and the rent of the mark that keeps it from being signed for twice', () => {
    expect(fees.costOf({ kind: 'sweep', isNative: true })).toBe(35_000n + 129n * 6_960n)
  })
})

describe('fees', () => {
  test('rent is the rate for the bytes of an account and those that it counts beside them', () => {
    expect([0, 165, 170, 182].map((stateBytes) => fees.rentOf({ stateBytes }))).toEqual([
      0n,
      2_039_280n,
      2_074_080n,
      2_157_600n,
    ])
  })

  test('a price below a lamport for all units is charged as one', () => {
    const cheap = new SolanaFees({
      lamportsPerSignature: 5_000n,
      microLamportsPerUnit: 1n,
      rentLamportsPerByte: 6_960n,
    })
    // And the rent of a marker of one byte, which nobody gets back.
    expect(cheap.costOf({ kind: 'fill', isNative: true })).toBe(5_001n + 129n * 6_960n)
    expect(cheap.costOf({ kind: 'deposit', isNative: true })).toBe(5_001n)
  })

  test('a top-up adds its units to the fill that it is a part of', () => {
    expect(fees.costOf({ kind: 'fill-topup', isNative: true })).toBe(600n)
  })

  test('a fill that makes a token account asks for more units', () => {
    const fill = { kind: 'fill', isNative: false } as const
    expect([fees.costOf(fill), fees.costOf({ ...fill, lack: { stateBytes: 165 } })]).toEqual([
      23_000n + 129n * 6_960n,
      29_000n + 129n * 6_960n,
    ])
  })

  test.each(['sweep-swap', 'permit-permit2', 'execute', 'fill-swap', 'swap', 'approve'] as const)(
    '%s is no transaction of this family',
    (kind) => {
      expect(() => fees.costOf({ kind, isNative: false })).toThrow(kind)
    },
  )
})

describe('what does not belong to the family', () => {
  test('accounts as 20 bytes, swaps, and fees of another family are refused', () => {
    expect(() => quoting.hexAddress(user)).toThrow('20 bytes')
    expect(() => quoting.plan(routeOf({ by: 'swap' }), { allowance: undefined })).toThrow('swap')
    const other: NetworkFees = {
      costOf: () => 0n,
      gasOf: () => undefined,
      rentOf: () => 0n,
      leastPayment: () => 0n,
      equals: () => false,
    }
    const identity = { requestId: orderId, orderId, deadlineSeconds: 0, depositAddress: undefined }
    expect(() =>
      quoting.encode({ kind: 'deposit', isNative: true }, routeOf(), { identity, fees: other }),
    ).toThrow('own family')
  })

  test('nobody is the system program, whatever the case of a text that is another key', () => {
    expect(quoting.isNobody(solanaCodec.nativeCurrency)).toBe(true)
    expect(quoting.isNobody(user.toLowerCase())).toBe(false)
  })
})
