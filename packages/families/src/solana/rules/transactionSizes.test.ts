// Goal: whatever a quote has signed on Solana, and whatever the solver signs there, fits into a transaction of version
// 0: nobody needs the longer ones of version 1. Who gains by breaking it: whoever asks for a quote that no cluster
// takes, or has the solver plan a payment that it can never send. Method: each kind at its largest, signed by accounts
// that are all different, as the library writes it.

import { solanaCodec } from '@causeway/core/encodings'
import { type TransactionInstruction, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import type { OriginRoute, QuotedCurrency } from '../../rules/originRoute.ts'
import { solanaLibrary } from './library.ts'
import { sweepAddress, withdrawAddress } from './paying/addressInstructions.ts'
import { type MarkedTerms, markedInstructions } from './paying/paymentInstructions.ts'
import { deriveProgramAddresses } from './programAddresses.ts'
import { token2022Program } from './programs.ts'
import type { SolanaInstruction } from './quoting/instructions.ts'
import { SolanaFees } from './quoting/solanaFees.ts'
import { solanaQuoting, solanaStepData } from './quoting/solanaQuoting.ts'

const bytesMax = 1_232
const amount = 2n ** 64n - 1n
const word = `0x${'ff'.repeat(32)}` as const
const { PublicKey } = solanaLibrary()
const fresh = () => solanaLibrary().Keypair.generate().publicKey.toBase58()
const [depository, user, payer, recipient, mint] = [fresh(), fresh(), fresh(), fresh(), fresh()]

/** With all signatures. @throws RangeError where it is longer than what the library writes */
function bytesOf(payerKey: string, instructions: readonly TransactionInstruction[]): number {
  const message = new TransactionMessage({
    payerKey: new PublicKey(payerKey),
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: [...instructions],
  })
  return new VersionedTransaction(message.compileToV0Message()).serialize().length
}

describe('F-119: the largest step of a quote', () => {
  const ways: Readonly<Record<OriginRoute['by'], 'step' | 'none'>> = {
    deposit: 'step',
    'deposit-transfer': 'step',
    'pay-address': 'step',
    send: 'step',
    signature: 'none',
    permit2: 'none',
    swap: 'none',
    wrap: 'none',
    unwrap: 'none',
  }
  const quoting = solanaQuoting.bind({ chainId: 1, chainKey: 'solana', codec: solanaCodec, depository })
  const fees = new SolanaFees({
    lamportsPerSignature: 5_000n,
    microLamportsPerUnit: amount,
    rentLamportsPerByte: 6_960n,
  })
  const sol = { address: solanaCodec.nativeCurrency, isNative: true, resetsAllowance: false }
  const token = { ...sol, address: mint, isNative: false, tokenProgram: token2022Program }

  function routeOf(by: OriginRoute['by'], currencyIn: QuotedCurrency): OriginRoute {
    return {
      user,
      recipient,
      by,
      depositFeePayer: payer,
      currencyIn,
      currencyOut: sol,
      swap: undefined,
      amountIn: amount,
      amountInMax: amount,
      amountOut: amount,
      amountOutMin: amount,
      deposited: { currency: currencyIn, amount },
    }
  }
  const sizeOf = (route: OriginRoute): number => {
    const planned = quoting.plan(route, { allowance: undefined })
    expect(planned).toHaveLength(1)
    const identity = { requestId: word, orderId: word, deadlineSeconds: 0, depositAddress: recipient }
    const [transaction] = planned
    if (transaction === undefined) throw new Error('nothing is planned')
    const { data } = quoting.encode(transaction, route, { identity, fees })
    const instructions = solanaStepData.parse(data).instructions.map(({ keys, programId, data: text }) => ({
      keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey) })),
      programId: new PublicKey(programId),
      data: Buffer.from(text, 'hex'),
    }))
    return bytesOf(payer, instructions)
  }

  test.each(Object.entries(ways))('by %s: %s', (way, kind) => {
    // CAST: the entries of a record have its keys.
    const by = way as OriginRoute['by']
    for (const currency of [sol, token]) {
      const route = routeOf(by, currency)
      // The largest leaves a third of the packet.
      if (kind === 'step') expect(sizeOf(route)).toBeLessThan((bytesMax * 2) / 3)
      else expect(() => quoting.plan(route, { allowance: undefined })).toThrow('on this family')
    }
  })
})

describe('F-119: the largest transaction of the solver', () => {
  const program = {
    program: fresh(),
    depository: { program: depository, addresses: deriveProgramAddresses(depository) },
  }
  const token = { mint, tokenProgram: token2022Program }
  const terms = { orderSigner: `0x${'ff'.repeat(20)}`, sweeper: user, depositor: payer, nonce: word } as const
  const emptied = { address: fresh(), terms }
  const order = {
    version: word,
    solverChainId: word,
    solver: word,
    salt: word,
    inputs: word,
    output: word,
    fees: word,
  }
  const orderSignature = `0x${'ff'.repeat(65)}` as const
  const paid = { recipient, currency: mint, amount, token: { program: token2022Program, decimals: 9 } }
  const coin = { recipient, currency: solanaCodec.nativeCurrency, amount }

  const empties = (emptying: SolanaInstruction) => ({ mark: 'paid', payments: [], emptying }) as const

  test.each<[string, Omit<MarkedTerms, 'id'>]>([
    ['a fill with a top-up', { mark: 'paid', orderId: word, payments: [paid, coin] }],
    ['a refund', { mark: 'paid', orderId: word, makesNoState: true, payments: [paid] }],
    ['a closing', { mark: 'closed', payments: [] }],
    ['a sweep', empties(sweepAddress(program, emptied, { order, orderSignature, token }))],
    ['what gives an address back', empties(withdrawAddress(program, emptied, { caller: user, token }))],
  ])('is %s', (_what, marked) => {
    const bid = { units: 1_000_000n, microLamportsPerUnit: amount, markerRentLamports: amount }
    const bytes = bytesOf(user, markedInstructions(user, { id: word, ...marked }, bid))
    expect(bytes).toBeLessThanOrEqual(bytesMax)
  })
})
