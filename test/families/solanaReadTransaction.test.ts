// Goal: bytes of a transaction are read, unreadable or no answer, by name. Its payer's signature covers
// every byte of the message, so who pays could sign one message written in two ways: nodes run one of them.
import { createPrivateKey, sign } from 'node:crypto'
import { encodeBase58 } from '@causeway/core'
import { associatedTokenProgram, computeBudgetProgram, systemProgram } from '@causeway/families/rules'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemInstruction,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTransaction } from '../../packages/families/src/solana/reading/readTransaction.ts'
import type { SolanaTransactionAnswer } from '../../packages/families/src/solana/reading/transactionAnswer.ts'
import { MalformedAnswerError } from '../../packages/rpc/src/malformedAnswer.ts'
import { signVersion1 } from './solanaSupport/version1.ts'

const payer = Keypair.fromSeed(new Uint8Array(32).fill(7))
const to = Keypair.fromSeed(new Uint8Array(32).fill(8)).publicKey
const depository = Keypair.fromSeed(new Uint8Array(32).fill(9)).publicKey.toBase58()
const looked = [10, 11].map((seed) => Keypair.fromSeed(new Uint8Array(32).fill(seed)).publicKey)
const table = new AddressLookupTableAccount({
  key: Keypair.fromSeed(new Uint8Array(32).fill(12)).publicKey,
  state: {
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses: looked,
  },
})
const instructions = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 300 }),
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports: 5n }),
]
const blockhash = encodeBase58(new Uint8Array(32).fill(3))
const plan = (more: typeof instructions = []) =>
  new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [...instructions, ...more],
  })
const toLooked = looked.map((toPubkey) =>
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 6n }),
)

const config = { computeUnitLimit: 300, priorityFeeLamports: 7n, loadedAccountsDataSizeLimit: 9 }
/** All of it, as the library that writes them signs it; the other one reads it. */
const version1 = await signVersion1({ instructions, signers: [payer], blockhash, config })
const signatureBytes = 64
const version1Message = version1.subarray(0, -signatureBytes)

const messages = {
  legacy: plan().compileToLegacyMessage().serialize(),
  'version 0': plan().compileToV0Message().serialize(),
  'version 0 with a lookup table': plan(toLooked).compileToV0Message([table]).serialize(),
}

/** Any bytes, with the payer's signature over them, behind them where a message says that it is of such a version. */
function signed(message: Uint8Array): { readonly bytes: Uint8Array; readonly transactionId: string } {
  const pkcs8 = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    payer.secretKey.subarray(0, 32),
  ])
  const signature = sign(null, message, createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }))
  const bytes = message[0] === 0x81 ? [message, signature] : [Buffer.of(1), signature, message]
  return { bytes: Buffer.concat(bytes), transactionId: encodeBase58(signature) }
}

function read(message: Uint8Array, accountCount: number, own: Partial<SolanaTransactionAnswer> = {}) {
  const { bytes, transactionId } = signed(message)
  const lamports = Array.from({ length: accountCount }, () => 1n)
  const answer: SolanaTransactionAnswer = {
    slot: 5n,
    blockTimeSeconds: 6n,
    bytes,
    succeeded: true,
    loadedWritable: [],
    loadedReadonly: [],
    inner: [],
    tokensBefore: [],
    tokensAfter: [],
    lamportsBefore: lamports,
    lamportsAfter: lamports,
    ...own,
  }
  return readTransaction(answer, { transactionId, depository })
}
/** @throws Error where it was not read */
function readOf(outcome: Awaited<ReturnType<typeof read>>) {
  if (typeof outcome === 'string') throw new Error(`it is ${outcome}`)
  return outcome
}
const readAny = (message: Uint8Array) => {
  const { staticAccountKeys, addressTableLookups } = VersionedTransaction.deserialize(
    signed(message).bytes,
  ).message
  const loadedWritable = addressTableLookups.flatMap(({ writableIndexes }) =>
    writableIndexes.map((index) => looked[index]?.toBase58() ?? ''),
  )
  return read(message, staticAccountKeys.length + loadedWritable.length, { loadedWritable })
}

describe('is read', () => {
  test.each(Object.entries(messages))('a message: %s', async (_name, message) => {
    const transaction = readOf(await readAny(message))
    expect(transaction.signers).toEqual([payer.publicKey.toBase58()])
    const [budget, transfer] = transaction.instructions
    expect(budget?.program).toBe(computeBudgetProgram)
    expect(transfer).toMatchObject({
      program: systemProgram,
      accounts: [payer.publicKey.toBase58(), to.toBase58()],
      data: '0x020000000500000000000000',
    })
  })

  test('what lookup tables add, in the place that the message gives it', async () => {
    const transaction = readOf(await readAny(messages['version 0 with a lookup table']))
    expect(transaction.instructions.slice(2).map(({ accounts }) => accounts[1])).toEqual(
      looked.map((key) => key.toBase58()),
    )
  })
})

test('F-1: a message of version 1 is read as the same one of version 0, from the bytes of the library that writes it', async () => {
  const same = plan().compileToV0Message()
  const [one, zero] = await Promise.all([read(version1Message, 4), read(same.serialize(), 4)])
  // Each library has an order of its own for accounts that nobody signs for and nobody writes to.
  const byName = (read: ReturnType<typeof readOf>) => ({
    ...read,
    balances: read.balances.toSorted((a, b) => (a.account < b.account ? -1 : 1)),
  })
  const [ofOne, ofZero] = [byName(readOf(one)), byName(readOf(zero))]
  expect(ofOne.transactionId).toBe(encodeBase58(version1.subarray(-signatureBytes)))
  expect(ofOne).toEqual({ ...ofZero, transactionId: ofOne.transactionId })
})

const at = { header: 1, mask: 4, instructions: 40, addresses: 41, keys: 42 } as const
const withBytes = (position: number, ...values: readonly number[]) => {
  const changed = Uint8Array.from(version1Message)
  changed.set(values, position)
  return changed
}
/** Four keys of 32 bytes, and four config values. */
const headersAt = at.keys + 4 * 32 + 4 * 4

describe('F-2: of version 1', () => {
  test.each<[string, Uint8Array]>([
    ['an unknown bit of the config mask', withBytes(at.mask, 0x2f)],
    ['the highest bit of the config mask', withBytes(at.mask + 3, 0x80)],
    ['half a priority fee', withBytes(at.mask, 0x0d)],
    ['a config value more than there are', withBytes(at.mask, 0x1f)],
    ['a config value less than there are', withBytes(at.mask, 0x07)],
    ['a priority fee of more lamports than there are', withBytes(at.keys + 4 * 32, ...Array(8).fill(0xff))],
    ['an account more than there are', withBytes(at.addresses, 5)],
    ['255 accounts', withBytes(at.addresses, 255)],
    ['an instruction more than there are', withBytes(at.instructions, 3)],
    ['an instruction less than there are', withBytes(at.instructions, 1)],
    ['an account of an instruction more than there are', withBytes(headersAt + 1, 1)],
    ['data of an instruction that end behind the message', withBytes(headersAt + 6, 0xff, 0xff)],
    ['a tail', Buffer.concat([version1Message, Buffer.of(0)])],
  ])('%s is unreadable, whoever shows it', async (_name, message) => {
    expect(await read(message, 4)).toBe('unreadable')
  })

  test.each<[string, Uint8Array]>([
    ['a program that is no account', withBytes(headersAt, 9)],
    ['an account of an instruction that is none', withBytes(headersAt + 8 + 5, 9)],
    ['the payer twice', withBytes(at.keys + 32, ...version1Message.subarray(at.keys, at.keys + 32))],
    ['another number of signatures', withBytes(at.header, 2)],
    ['no signature', withBytes(at.header, 0)],
    ['255 signatures', withBytes(at.header, 255)],
    ['more than 4,096 bytes', Buffer.concat([version1Message, Buffer.alloc(4_096)])],
  ])('%s is no answer', async (_name, message) => {
    await expect(read(message, 4)).rejects.toThrow(MalformedAnswerError)
  })

  test('its signatures before it are no answer, though the library reads them', async () => {
    const { bytes, transactionId } = signed(version1Message)
    const first = Buffer.concat([Buffer.of(1), bytes.subarray(-signatureBytes), version1Message])
    expect(VersionedTransaction.deserialize(first).version).toBe(1)
    await expect(read(version1Message, 4, { bytes: first })).rejects.toThrow(MalformedAnswerError)
    expect(readOf(await read(version1Message, 4, { bytes })).transactionId).toBe(transactionId)
  })

  test('bytes that the payer did not sign are no answer', async () => {
    const { bytes } = signed(version1Message)
    for (const at of [1, 9, 50, headersAt + 9, bytes.length - 1]) {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 1
      await expect(read(version1Message, 4, { bytes: changed })).rejects.toThrow(MalformedAnswerError)
    }
  })

  test('cut at any byte it is unreadable or no answer', async () => {
    for (let length = 1; length < version1Message.length; length += 1) {
      const outcome = await read(version1Message.subarray(0, length), 4).catch((error: unknown) => error)
      expect(outcome === 'unreadable' || outcome instanceof MalformedAnswerError).toBe(true)
      await expect(
        read(version1Message, 4, { bytes: signed(version1Message).bytes.subarray(0, length) }),
      ).rejects.toThrow(MalformedAnswerError)
    }
  })

  test.each<[string, Uint8Array]>([
    ['version 2', Buffer.concat([Buffer.of(0x82), version1.subarray(1)])],
    ['version 127', Buffer.concat([Buffer.of(0xff), version1.subarray(1)])],
    ['version 127 behind its signatures', Buffer.concat([Buffer.of(1), Buffer.alloc(64), Buffer.of(0xff)])],
    ['one byte of version 127', Buffer.of(0xff)],
  ])('a transaction of %s is unreadable', async (_name, bytes) => {
    expect(await read(version1Message, 4, { bytes })).toBe('unreadable')
  })

  test('any bytes, signed or not, are read, unreadable or no answer, and no other error', async () => {
    const bases = [version1Message, messages.legacy, messages['version 0 with a lookup table']]
    const change = fc.record({
      base: fc.constantFrom(...bases),
      flips: fc.array(fc.tuple(fc.nat({ max: 400 }), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }),
      cut: fc.option(fc.nat({ max: 400 })),
      tail: fc.uint8Array({ maxLength: 20 }),
      isSigned: fc.boolean(),
      count: fc.integer({ min: 0, max: 8 }),
    })
    await fc.assert(
      fc.asyncProperty(change, async ({ base, flips, cut, tail, isSigned, count }) => {
        const message = Buffer.concat([base.subarray(0, cut ?? base.length), tail])
        for (const [position, value] of flips) if (position < message.length) message[position] = value
        const outcome = await (isSigned
          ? read(message, count)
          : read(version1Message, count, { bytes: message })
        ).catch((error: unknown) => error)
        const isRead = typeof outcome === 'object' && outcome !== null && 'instructions' in outcome
        expect(isRead || outcome === 'unreadable' || outcome instanceof MalformedAnswerError).toBe(true)
      }),
      { numRuns: process.env['CAUSEWAY_FAULTS'] === '1' ? 50_000 : 500 },
    )
  })
})

/** The count at a position, in a longer form: the library reads it as the same number. */
const longer = (message: Uint8Array, at: number) =>
  Buffer.concat([message.subarray(0, at), Buffer.of((message[at] ?? 0) | 0x80, 0), message.subarray(at + 1)])
const keyCountAt = { legacy: 3, 'version 0': 4, 'version 0 with a lookup table': 4 } as const

describe('is no answer', () => {
  const hostile = Object.entries(messages).flatMap(([name, message]): [string, Uint8Array][] => {
    const at = name === 'legacy' ? keyCountAt.legacy : keyCountAt['version 0']
    const keys = message[at] ?? 0
    const instructionsAt = at + 1 + 32 * (keys + 1)
    return [
      [`${name}, with a tail`, Buffer.concat([message, Buffer.of(0)])],
      [`${name}, with another message as a tail`, Buffer.concat([message, message])],
      [`${name}, with a long number of accounts`, longer(message, at)],
      [`${name}, with a long number of instructions`, longer(message, instructionsAt)],
      [`${name}, with a long number of an instruction's accounts`, longer(message, instructionsAt + 2)],
      [`${name}, with a long length of data`, longer(message, instructionsAt + 3)],
    ]
  })
  const lookups = messages['version 0 with a lookup table']
  const noLookups = messages['version 0']
  test.each<[string, Uint8Array]>([
    ...hostile,
    ['a long number of lookup tables', longer(noLookups, noLookups.length - 1)],
    ['a long number of looked-up accounts', longer(lookups, lookups.length - 1)],
    ['nothing', new Uint8Array()],
  ])('%s', async (_name, message) => {
    // As many accounts as each of the messages has: none of them may be read.
    for (const [count, loaded] of [
      [4, []],
      [4, looked],
      [6, looked],
    ] as const) {
      const loadedWritable = loaded.map((key) => key.toBase58())
      await expect(read(message, count, { loadedWritable })).rejects.toThrow(MalformedAnswerError)
    }
  })

  test.each(Object.entries(messages))('%s, cut at any byte', async (_name, message) => {
    for (let length = 0; length < message.length; length += 1) {
      await expect(read(message.subarray(0, length), 4)).rejects.toThrow(MalformedAnswerError)
    }
  })

  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    [
      'a number of signatures in two bytes',
      (bytes) => Buffer.concat([Buffer.of(0x81, 0), bytes.subarray(1)]),
    ],
    ['more signatures than there are', (bytes) => Buffer.concat([Buffer.of(127), bytes.subarray(1)])],
    ['no signature', (bytes) => Buffer.concat([Buffer.of(0), bytes.subarray(65)])],
    [
      'a second signature',
      (bytes) => Buffer.concat([Buffer.of(2), bytes.subarray(1, 65), bytes.subarray(1)]),
    ],
    ['a changed signature', (bytes) => Buffer.from(bytes).fill(1, 1, 2)],
  ])('%s', async (_name, change) => {
    const bytes = change(signed(messages.legacy).bytes)
    await expect(read(messages.legacy, 4, { bytes })).rejects.toThrow(MalformedAnswerError)
  })
})

test('the names of programs and the data of a transfer are the library’s', () => {
  expect(systemProgram).toBe(SystemProgram.programId.toBase58())
  expect(computeBudgetProgram).toBe(ComputeBudgetProgram.programId.toBase58())
  expect(new PublicKey(associatedTokenProgram).toBytes()).toHaveLength(32)
  const [, transfer] = instructions
  if (transfer === undefined || !('programId' in transfer)) throw new Error('no transfer was made')
  expect(SystemInstruction.decodeTransfer(transfer).lamports).toBe(5n)
})
