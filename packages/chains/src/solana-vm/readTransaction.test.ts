// What of a transaction's bytes is read and what is no answer, by name. Its payer's signature covers every
// byte of the message, so who pays could sign one message written in two ways: nodes run one of them.
import { createPrivateKey, sign } from 'node:crypto'
import { associatedTokenProgram, computeBudgetProgram, encodeBase58, systemProgram } from '@causeway/core'
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
import { describe, expect, test } from 'vitest'
import { MalformedAnswerError } from '../rpc/malformedAnswer.ts'
import type { SolanaTransactionAnswer } from './answers.ts'
import { readTransaction } from './readTransaction.ts'

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
const plan = (more: typeof instructions = []) =>
  new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: encodeBase58(new Uint8Array(32).fill(3)),
    instructions: [...instructions, ...more],
  })
const toLooked = looked.map((toPubkey) =>
  SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports: 6n }),
)

const messages = {
  legacy: plan().compileToLegacyMessage().serialize(),
  'version 0': plan().compileToV0Message().serialize(),
  'version 0 with a lookup table': plan(toLooked).compileToV0Message([table]).serialize(),
}

/** Any bytes, with the payer's signature over them. */
function signed(message: Uint8Array): { readonly bytes: Uint8Array; readonly transactionId: string } {
  const pkcs8 = Buffer.concat([
    Buffer.from('302e020100300506032b657004220420', 'hex'),
    payer.secretKey.subarray(0, 32),
  ])
  const signature = sign(null, message, createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }))
  return { bytes: Buffer.concat([Buffer.of(1), signature, message]), transactionId: encodeBase58(signature) }
}

function read(message: Uint8Array, accountCount: number, own: Partial<SolanaTransactionAnswer> = {}) {
  const { bytes, transactionId } = signed(message)
  const lamports = Array.from({ length: accountCount }, () => 1n)
  const answer: SolanaTransactionAnswer = {
    ...{ slot: 5n, blockTimeSeconds: 6n, bytes, succeeded: true },
    ...{ loadedWritable: [], loadedReadonly: [], inner: [], tokensBefore: [], tokensAfter: [] },
    ...{ lamportsBefore: lamports, lamportsAfter: lamports },
    ...own,
  }
  return readTransaction(answer, { transactionId, depository })
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
    const transaction = await readAny(message)
    expect(transaction?.signers).toEqual([payer.publicKey.toBase58()])
    const [budget, transfer] = transaction?.instructions ?? []
    expect(budget?.program).toBe(computeBudgetProgram)
    expect(transfer).toMatchObject({
      program: systemProgram,
      accounts: [payer.publicKey.toBase58(), to.toBase58()],
      data: '0x020000000500000000000000',
    })
  })

  test('what lookup tables add, in the place that the message gives it', async () => {
    const transaction = await readAny(messages['version 0 with a lookup table'])
    expect(transaction?.instructions.slice(2).map(({ accounts }) => accounts[1])).toEqual(
      looked.map((key) => key.toBase58()),
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
    ['version 1', Buffer.concat([Buffer.of(0x81), noLookups.subarray(1)])],
    ['version 127', Buffer.concat([Buffer.of(0xff), noLookups.subarray(1)])],
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
    [
      'more signatures than there are',
      (bytes) => Buffer.concat([Buffer.of(0xff, 0xff, 3), bytes.subarray(1)]),
    ],
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
