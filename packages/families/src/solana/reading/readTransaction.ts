import { createPublicKey, verify } from 'node:crypto'
import { bytesToHex, decodeBase58Text, encodeBase58 } from '@causeway/core'
import type { RefusalReason, RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError } from '@causeway/rpc'
import type { VersionedMessage, VersionedTransaction } from '@solana/web3.js'
import { solanaLibrary } from '../rules/library.ts'
import { memoProgram } from '../rules/programs.ts'
import {
  type InnerInstruction,
  parseTransactionAnswer,
  type SolanaTransactionAnswer,
  type TokenBalanceAnswer,
} from './answers.ts'
import type { LamportBalance, SolanaInstruction, SolanaTransaction, TokenBalance } from './transaction.ts'

const requestName = 'getTransaction'
const signatureBytes = 64
const keyBytes = 32
/** Nodes take none that is longer. @source SIMD-0296; Solana documentation, "Transactions" */
const bytesMax = { older: 1_232, version1: 4_096 } as const
/** A first byte, or the first of a message, from which on the rest of it is a version. */
const versioned = 0x80
/** Behind version, header, mask of config values, blockhash and two numbers. @source SIMD-0385 */
const version1KeysAt = 42
/** More than any instruction that a rule reads; decoding takes time quadratic in it. */
const innerDataTextMax = 1_024

type TransactionQuestion = { readonly transactionId: string; readonly depository: string }

/** Why a transaction that a node shows is not read: its content, whoever shows it. */
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
 * The transaction whose id is its payer's signature over the bytes in `answer`: no endpoint can make up
 * what was signed. What the run added (inner instructions, balances, lookups) is the endpoint's word.
 * @returns `too_large` when inner instructions are longer than one attestation reads; `unreadable` for a later version,
 * and for bytes of version 1 that the payer signed and the library does not read
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

/** Legacy and version 0: the signatures come first, behind their number. */
function decodeOlder(bytes: Uint8Array, transactionId: string): VersionedMessage | 'unreadable' {
  // One byte counts up to 127 signatures.
  const signed = bytes.subarray(1 + signatureBytes * (bytes[0] ?? 0))
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
 * The signatures come last, and every number has a width of its own, so that there is one way to write a message. What
 * its payer signed and the library does not read is no fault of the endpoint.
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
 * The library reads past a tail, reads what was cut as if zeros or nothing followed, and takes lengths in
 * any form: it writes a message in the one way that nodes run. It also reads one of version 1 whose signatures come
 * first, and writes none.
 */
function isWrittenAs(message: VersionedMessage, signed: Uint8Array): boolean {
  try {
    return Buffer.compare(message.serialize(), signed) === 0
  } catch {
    // It writes no message above the length of a packet, which no node takes either.
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
  const count = (indexes: readonly (readonly number[])[]) =>
    indexes.reduce((sum, { length }) => sum + length, 0)
  if (
    loadedWritable.length !== count(lookups.map(({ writableIndexes }) => writableIndexes)) ||
    loadedReadonly.length !== count(lookups.map(({ readonlyIndexes }) => readonlyIndexes))
  ) {
    throw new MalformedAnswerError(requestName)
  }
  const own = message.staticAccountKeys.map((key) => encodeBase58(key.toBytes()))
  const accounts = [...own, ...loadedWritable, ...loadedReadonly]
  if (new Set(accounts).size < accounts.length) throw new MalformedAnswerError(requestName)
  return accounts
}

function innerInstruction(
  { programIndex, accountIndexes, dataText }: InnerInstruction,
  accounts: readonly string[],
  depository: string,
): SolanaInstruction | undefined {
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

/** One account, closed and made anew for another mint within the transaction, is two balances. */
function perMint(
  account: string,
  before: TokenBalanceAnswer | undefined,
  after: TokenBalanceAnswer | undefined,
): readonly TokenBalance[] {
  const balance = (mint: string, was = before, is = after): TokenBalance => ({
    account,
    mint,
    ownerBefore: was?.owner,
    ownerAfter: is?.owner,
    before: was?.amount ?? 0n,
    after: is?.amount ?? 0n,
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

/** Programs whose inner instructions matter; a direct transfer into the vault is top-level. */
function readsInnerInstructions(program: string, depository: string): boolean {
  return program === depository || program === memoProgram
}
