import { createPublicKey, verify } from 'node:crypto'
import { bytesToHex, decodeBase58Text, encodeBase58 } from '@causeway/core'
import type { RefusalReason, RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import type { VersionedMessage, VersionedTransaction } from '@solana/web3.js'
import { solanaLibrary } from '../rules/library.ts'
import { memoProgram } from '../rules/programs.ts'
import type { LamportBalance, SeenInstruction, SolanaTransaction, TokenBalance } from './transaction.ts'
import {
  type InnerInstruction,
  parseTransactionAnswer,
  type SolanaTransactionAnswer,
  type TokenBalanceAnswer,
} from './transactionAnswer.ts'

const requestName = 'getTransaction'
const signatureBytes = 64
const keyBytes = 32
/** Longest transactions that nodes accept. @source SIMD-0296; Solana documentation, "Transactions" */
const bytesMax = { older: 1_232, version1: 4_096 } as const
/** A message's first byte from this value on is 0x80 plus its version; a lower one belongs to a legacy message. */
const versioned = 0x80
/** Offset of the account keys: version, header, config mask, blockhash and two counts come before. @source SIMD-0385 */
const version1KeysAt = 42
/** Limit of base58 text that is decoded, in time quadratic in its length: more than any rule needs. */
const innerDataTextMax = 1_024

type TransactionQuestion = { readonly transactionId: string; readonly depository: string }

/** Why a transaction cannot be read. The reason lies in its content, so no other endpoint helps. */
type UnreadReason = Extract<RefusalReason, 'too_large' | 'unreadable'>

/** The transaction that an answer to `getTransaction` shows. @throws MalformedAnswerError */
export async function seeTransaction(
  answer: RpcAnswer | undefined,
  question: TransactionQuestion,
): Promise<SolanaTransaction | UnreadReason | 'missing'> {
  const parsed = parseTransactionAnswer(answer)
  return typeof parsed === 'string' ? parsed : readTransaction(parsed, question)
}

/**
 * Decodes a transaction and checks that its id is the payer's signature over its bytes: no endpoint can make up what
 * was signed. What execution added (inner instructions, balances, lookups) is the endpoint's claim.
 * @returns `too_large` when inner instructions are longer than one attestation reads; `unreadable` for a later
 * version, and for bytes of version 1 that the payer signed and the library does not read
 * @throws MalformedAnswerError
 */
export async function readTransaction(
  answer: SolanaTransactionAnswer,
  { transactionId, depository }: TransactionQuestion,
): Promise<SolanaTransaction | UnreadReason> {
  const message = decodeSignedMessage(answer.bytes, transactionId)
  if (message === 'unreadable') return message
  const accounts = accountsOf(message, answer)
  if (answer.lamportsBefore.length !== accounts.length || answer.lamportsAfter.length !== accounts.length) {
    throw new MalformedAnswerError(requestName)
  }
  const topLevel = message.compiledInstructions.map((instruction) => ({
    program: pick(accounts, instruction.programIdIndex),
    accounts: instruction.accountKeyIndexes.map((index) => pick(accounts, index)),
    data: bytesToHex(instruction.data),
  }))
  if (answer.inner.some(({ parent }) => parent >= topLevel.length))
    throw new MalformedAnswerError(requestName)
  const inner = answer.inner
    .flatMap(({ instructions }) => instructions)
    .map((instruction) => innerInstruction(instruction, accounts, depository))
  if (inner.some((instruction) => instruction === undefined)) return 'too_large'
  return {
    transactionId,
    slot: answer.slot,
    blockTimeSeconds: answer.blockTimeSeconds,
    succeeded: answer.succeeded,
    signers: accounts.slice(0, message.header.numRequiredSignatures),
    // A deposit's position in this list is a part of its id on the chain, so the order must never change.
    instructions: [...topLevel, ...inner.filter((instruction) => instruction !== undefined)],
    balances: lamportBalances(accounts, answer),
    tokenBalances: tokenBalances(accounts, answer),
  }
}

function decodeSignedMessage(bytes: Uint8Array, transactionId: string): VersionedMessage | 'unreadable' {
  const [first = 0] = bytes
  if (first < versioned) return decodeOlder(bytes, transactionId)
  return first === versioned + 1 ? decodeVersion1(bytes, transactionId) : 'unreadable'
}

/** Legacy and version 0: the number of signatures comes first, then the signatures, then the message. */
function decodeOlder(bytes: Uint8Array, transactionId: string): VersionedMessage | 'unreadable' {
  // The number is one byte, because it is below 128.
  const signed = bytes.subarray(1 + signatureBytes * (bytes[0] ?? 0))
  // A later version. One of version 1 whose signatures come first is refused by `isWrittenAs`.
  if ((signed[0] ?? 0) > versioned + 1) return 'unreadable'
  const { signatures, message } = deserialise(bytes, bytesMax.older) ?? {}
  const [signature] = signatures ?? []
  const [payer] = message?.staticAccountKeys ?? []
  if (message === undefined || signature === undefined || payer === undefined) {
    throw new MalformedAnswerError(requestName)
  }
  requireSignature({ signed, signature, key: payer.toBytes() }, transactionId)
  if (!isWrittenAs(message, signed)) throw new MalformedAnswerError(requestName)
  return message
}

/**
 * Version 1: the second byte is the number of signatures, which come last. Numbers have fixed widths, so a message has
 * only one encoding. Bytes that the payer signed but the library cannot decode are `unreadable`, and no fault of the
 * endpoint.
 */
function decodeVersion1(bytes: Uint8Array, transactionId: string): VersionedMessage | 'unreadable' {
  const end = bytes.length - signatureBytes * (bytes[1] ?? 0)
  const signature = bytes.subarray(end, end + signatureBytes)
  const key = bytes.subarray(version1KeysAt, version1KeysAt + keyBytes)
  if (end < version1KeysAt + keyBytes || bytes.length > bytesMax.version1) {
    throw new MalformedAnswerError(requestName)
  }
  requireSignature({ signed: bytes.subarray(0, end), signature, key }, transactionId)
  return deserialise(bytes, bytesMax.version1)?.message ?? 'unreadable'
}

/** Ed25519. @throws MalformedAnswerError where the id is not the payer's signature over the message */
function requireSignature(
  args: { readonly signed: Uint8Array; readonly signature: Uint8Array; readonly key: Uint8Array },
  transactionId: string,
): void {
  if (encodeBase58(args.signature) === transactionId) {
    const x = Buffer.from(args.key).toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    if (verify(null, args.signed, key, args.signature)) return
  }
  throw new MalformedAnswerError(requestName)
}

/**
 * True if the message is encoded exactly as `signed`. The library ignores bytes after the end, fills missing ones up
 * and accepts lengths in any form, but it encodes only in the form that nodes accept. It also decodes messages of
 * version 1 whose signatures come first, which it cannot encode.
 */
function isWrittenAs(message: VersionedMessage, signed: Uint8Array): boolean {
  try {
    return Buffer.compare(message.serialize(), signed) === 0
  } catch {
    // The library encodes no message longer than a packet; nodes accept none either.
    return false
  }
}

/** `undefined` for what the library does not read. */
function deserialise(bytes: Uint8Array, lengthMax: number): VersionedTransaction | undefined {
  const { VersionedTransaction } = solanaLibrary()
  try {
    return bytes.length > lengthMax ? undefined : VersionedTransaction.deserialize(bytes)
  } catch {
    // The library has no error class of its own for bytes that are no transaction.
    return undefined
  }
}

/** The message's own accounts, then what its lookup tables contributed. */
function accountsOf(message: VersionedMessage, answer: SolanaTransactionAnswer): readonly string[] {
  const { loadedWritable, loadedReadonly } = answer
  const lookups = message.addressTableLookups
  const countAll = (indexLists: readonly (readonly number[])[]) =>
    indexLists.reduce((sum, { length }) => sum + length, 0)
  if (
    loadedWritable.length !== countAll(lookups.map(({ writableIndexes }) => writableIndexes)) ||
    loadedReadonly.length !== countAll(lookups.map(({ readonlyIndexes }) => readonlyIndexes))
  ) {
    throw new MalformedAnswerError(requestName)
  }
  const own = message.staticAccountKeys.map((key) => encodeBase58(key.toBytes()))
  const accounts = [...own, ...loadedWritable, ...loadedReadonly]
  if (new Set(accounts).size < accounts.length) throw new MalformedAnswerError(requestName)
  return accounts
}

/** An inner instruction with data only if a rule reads its program; undefined if the data is too long. */
function innerInstruction(
  { programIndex, accountIndexes, dataText }: InnerInstruction,
  accounts: readonly string[],
  depository: string,
): SeenInstruction | undefined {
  const program = pick(accounts, programIndex)
  const instructionAccounts = accountIndexes.map((index) => pick(accounts, index))
  if (!readsInnerInstructions(program, depository))
    return { program, accounts: instructionAccounts, data: '0x' }
  if (dataText.length > innerDataTextMax) return undefined
  const data = decodeBase58Text(dataText)
  if (data === undefined) throw new MalformedAnswerError(requestName)
  return { program, accounts: instructionAccounts, data: bytesToHex(data) }
}

function lamportBalances(
  accounts: readonly string[],
  { lamportsBefore, lamportsAfter }: SolanaTransactionAnswer,
): readonly LamportBalance[] {
  return accounts.map((account, index) => ({
    account,
    before: lamportsBefore[index],
    after: lamportsAfter[index],
  }))
}

function tokenBalances(
  accounts: readonly string[],
  { tokensBefore, tokensAfter }: SolanaTransactionAnswer,
): readonly TokenBalance[] {
  const indexes = new Set([...tokensBefore, ...tokensAfter].map(({ accountIndex }) => accountIndex))
  return [...indexes]
    .sort((a, b) => a - b)
    .flatMap((index) => {
      const before = tokensBefore.find(({ accountIndex }) => accountIndex === index)
      const after = tokensAfter.find(({ accountIndex }) => accountIndex === index)
      return perMint(pick(accounts, index), before, after)
    })
}

/** Balances of one account: two if it was closed and created again for another mint within the transaction. */
function perMint(
  account: string,
  before: TokenBalanceAnswer | undefined,
  after: TokenBalanceAnswer | undefined,
): readonly TokenBalance[] {
  const balance = (mint: string): TokenBalance => ({
    account,
    mint,
    ownerBefore: before?.owner,
    ownerAfter: after?.owner,
    before: before?.amount ?? 0n,
    after: after?.amount ?? 0n,
  })
  if (before !== undefined && after !== undefined && before.mint !== after.mint) {
    return [
      { ...balance(before.mint), ownerAfter: undefined, after: 0n },
      { ...balance(after.mint), ownerBefore: undefined, before: 0n },
    ]
  }
  const mint = after?.mint ?? before?.mint
  return mint === undefined ? [] : [balance(mint)]
}

function pick(accounts: readonly string[], index: number): string {
  const account = accounts[index]
  if (account === undefined) throw new MalformedAnswerError(requestName)
  return account
}

/**
 * True for programs whose inner instructions rules read; direct transfers into the vault are read only at top level.
 */
function readsInnerInstructions(program: string, depository: string): boolean {
  return program === depository || program === memoProgram
}
