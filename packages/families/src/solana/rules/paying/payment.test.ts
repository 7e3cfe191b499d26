// Goal: a fill wallet's transaction on Solana pays each recipient once, names its order, and is of the form that the
// programs read. Attacks: an id that is paid twice; a token account that was given away after the look; an account with
// data that stands where a marker would.

import type { Hex } from '@causeway/core'
import { hexToBytes } from '@causeway/core'
import { SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { describe, expect, test } from 'vitest'
import { solanaLibrary } from '../library.ts'
import { associatedTokenAccount } from '../programAddresses.ts'
import {
  associatedTokenProgram,
  computeBudgetProgram,
  memoProgram,
  systemProgram,
  token2022Program,
  tokenProgram,
} from '../programs.ts'
import { libraryInstruction, sendCoin } from '../quoting/instructions.ts'
import { type MarkedTerms, markedInstructions } from './paymentInstructions.ts'
import { markPayment, paymentMarkerAddress, readPaymentMark } from './paymentMarker.ts'

const { PublicKey } = solanaLibrary()
const wallet = 'AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9'
const recipient = 'CbKGgVKLJFb8bBrf58DnAkdryX6ubewVytn7X957YwNr'
const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const orderId: Hex = `0x${'3a'.repeat(32)}`
const id: Hex = `0x${'b1'.repeat(32)}`
const bid = { units: 90_000n, microLamportsPerUnit: 7n, markerRentLamports: 897_840n }
const coin = { recipient, currency: systemProgram, amount: 5n }
const tokens = { recipient, currency: mint, amount: 258n, token: { program: token2022Program, decimals: 6 } }
const held = { mint, tokenProgram: token2022Program }

const made = (terms: Partial<MarkedTerms>) =>
  markedInstructions(wallet, { id, mark: 'paid', orderId, payments: [], ...terms }, bid)
const programsOf = (instructions: readonly TransactionInstruction[]) =>
  instructions.map(({ programId }) => programId.toBase58())
const keysOf = (instruction: TransactionInstruction | undefined) =>
  (instruction?.keys ?? []).map(
    ({ pubkey, isSigner, isWritable }) =>
      `${pubkey.toBase58()}${isSigner ? ' signs' : ''}${isWritable ? ' written' : ''}`,
  )
const marking = [computeBudgetProgram, computeBudgetProgram, systemProgram, systemProgram]

describe('a payment', () => {
  test('of coin follows bid, mark and memo', () => {
    const instructions = made({ payments: [coin] })
    expect(programsOf(instructions)).toEqual([...marking, memoProgram, systemProgram])
    expect(instructions.at(-2)?.data.toString()).toBe(orderId)
    const transfer = SystemProgram.transfer({
      fromPubkey: new PublicKey(wallet),
      toPubkey: new PublicKey(recipient),
      lamports: 5,
    })
    expect(instructions.at(-1)).toEqual(transfer)
  })

  test('of a token makes the account of its recipient, and states the decimals', () => {
    const instructions = made({ payments: [tokens] })
    expect(programsOf(instructions)).toEqual([
      ...marking,
      associatedTokenProgram,
      memoProgram,
      token2022Program,
    ])
    const transfer = instructions.at(-1)
    // 12, eight bytes of the amount from the lowest on, the decimals.
    expect(transfer?.data.toString('hex')).toBe('0c020100000000000006')
    expect(keysOf(transfer)).toEqual([
      `${associatedTokenAccount(wallet, held)} written`,
      mint,
      `${associatedTokenAccount(recipient, held)} written`,
      `${wallet} signs`,
    ])
    expect(keysOf(instructions[4])).toEqual([
      `${wallet} signs written`,
      `${associatedTokenAccount(recipient, held)} written`,
      recipient,
      mint,
      systemProgram,
      token2022Program,
    ])
    expect(instructions[4]?.data.toString('hex')).toBe('01')
  })

  test('that may make no state names the recipient as the payer, who does not sign', () => {
    const [, , , , check] = made({ payments: [tokens], makesNoState: true })
    expect(keysOf(check)[0]).toBe(`${recipient} written`)
  })

  test('of both pays tokens first, right behind the memo, and makes no account for coin', () => {
    const instructions = made({ payments: [coin, tokens] })
    expect(programsOf(instructions).slice(4)).toEqual([
      associatedTokenProgram,
      memoProgram,
      token2022Program,
      systemProgram,
    ])
  })
})

test('a closing only marks, and says nothing of an order', () => {
  expect(programsOf(made({ mark: 'closed', orderId: undefined }))).toEqual(marking)
})

test('a sweep empties its address behind the mark', () => {
  const emptying = sendCoin({ from: recipient, to: wallet, amount: 9n })
  const instructions = made({ orderId: undefined, emptying })
  expect(programsOf(instructions)).toEqual([...marking, systemProgram])
  expect(instructions.at(-1)).toEqual(libraryInstruction(emptying))
})

describe('the mark of an id', () => {
  const seed = () => {
    const [allocate] = markPayment(wallet, id, { mark: 'paid', rentLamports: 1n })
    // Instruction of four bytes, base of 32, length of the seed in eight.
    return allocate?.data.subarray(44, 76).toString() ?? ''
  }

  test('is allocated at the address that the wallet and a hash of the id give, as the library does it', async () => {
    const marker = paymentMarkerAddress(wallet, id)
    const derived = await PublicKey.createWithSeed(new PublicKey(wallet), seed(), SystemProgram.programId)
    expect(marker).toBe(derived.toBase58())
    for (const [mark, space] of [
      ['paid', 1],
      ['closed', 2],
    ] as const) {
      const [allocate, rent] = markPayment(wallet, id, { mark, rentLamports: 897_840n })
      if (allocate === undefined || rent === undefined) throw new Error('a mark takes two instructions')
      expect(libraryInstruction(allocate)).toEqual(
        SystemProgram.allocate({
          accountPubkey: derived,
          basePubkey: new PublicKey(wallet),
          seed: seed(),
          space,
          programId: SystemProgram.programId,
        }),
      )
      expect(rent).toEqual(sendCoin({ from: wallet, to: marker, amount: 897_840n }))
    }
  })

  test('is another one for another wallet and for another id, and none of a wallet that is no account', () => {
    const other: Hex = `0x${'b2'.repeat(32)}`
    const markers = [
      paymentMarkerAddress(wallet, id),
      paymentMarkerAddress(recipient, id),
      paymentMarkerAddress(wallet, other),
    ]
    expect(new Set(markers).size).toBe(3)
    expect(() => paymentMarkerAddress('nobody', id)).toThrow()
  })

  test.each<[string, { readonly owner: string; readonly data: Uint8Array } | undefined, string | undefined]>([
    ['no account is there', undefined, 'open'],
    ['somebody sent lamports to it', { owner: systemProgram, data: new Uint8Array() }, 'open'],
    ['it has one byte', { owner: systemProgram, data: new Uint8Array(1) }, 'paid'],
    ['it has two', { owner: systemProgram, data: new Uint8Array(2) }, 'closed'],
    ['it has three', { owner: systemProgram, data: new Uint8Array(3) }, undefined],
    ['it is another program\u2019s', { owner: tokenProgram, data: new Uint8Array(1) }, undefined],
  ])('is read where %s', (_what, account, mark) => {
    expect(readPaymentMark(account)).toBe(mark)
  })
})

test('bytes of an id decide its mark, and not how its digits are spelled', () => {
  const upper: Hex = `0x${'B1'.repeat(32)}`
  expect(hexToBytes(upper)).toEqual(hexToBytes(id))
  expect(paymentMarkerAddress(wallet, upper)).toBe(paymentMarkerAddress(wallet, id))
})
