import { createPublicKey, verify } from 'node:crypto'
import { bytesToHex, decodeBase58Text, encodeBase58, memoProgram, solanaLibrary } from '@causeway/core'
import type { VersionedMessage, VersionedTransaction } from '@solana/web3.js'
import { MalformedAnswerError } from '../rpc/malformedAnswer.ts'
import type { InnerInstruction, SolanaTransactionAnswer, TokenBalanceAnswer } from './answers.ts'
import type { LamportBalance, SolanaInstruction, SolanaTransaction, TokenBalance } from './transaction.ts'

const what = 'getTransaction'
const signatureBytes = 64
/** More than any instruction that a rule reads; decoding takes time quadratic in it. */
const innerDataTextMax = 1_024

/**
 * The transaction whose id is its payer's signature over the bytes in `answer`: no endpoint can make up
 * what was signed. What the run added (inner instructions, balances, lookups) is the endpoint's word.
 * @returns `undefined` when inner instructions are longer than one attestation reads
 * @throws MalformedAnswerError
 */
export async function readTransaction(
  answer: SolanaTransactionAnswer,
  { transactionId, depository }: { readonly transactionId: string; readonly depository: string },
): Promise<SolanaTransaction | undefined> {
  const message = await decodeSignedMessage(answer.bytes, transactionId)
  const accounts = accountsOf(message, answer)
  if (answer.lamportsBefore.length !== accounts.length || answer.lamportsAfter.length !== accounts.length) {
    throw new MalformedAnswerError(what)
  }
  const topLevel = message.compiledInstructions.map((instruction) => ({
    program: pick(accounts, instruction.programIdIndex),
    accounts: instruction.accountKeyIndexes.map((index) => pick(accounts, index)),
    data: bytesToHex(instruction.data),
  }))
  if (answer.inner.some(({ parent }) => parent >= topLevel.length)) throw new MalformedAnswerError(what)
  const inner = answer.inner
    .flatMap(({ instructions }) => instructions)
    .map((instruction) => innerInstruction(instruction, accounts, depository))
  if (inner.some((instruction) => instruction === undefined)) return undefined
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

async function decodeSignedMessage(bytes: Uint8Array, transactionId: string): Promise<VersionedMessage> {
  const { signatures, message } = deserialise(bytes)
  const [signature] = signatures
  const [payer] = message.staticAccountKeys
  if (signature === undefined || payer === undefined || signatures.length > 127) {
    throw new MalformedAnswerError(what)
  }
  // One byte counts up to 127 signatures.
  const signed = bytes.subarray(1 + signatureBytes * signatures.length)
  const isSigned =
    encodeBase58(signature) === transactionId && isSignatureOf({ signed, signature, key: payer.toBytes() })
  if (!isSigned || !isWrittenAs(message, signed)) throw new MalformedAnswerError(what)
  return message
}

/**
 * The library reads past a tail, reads what was cut as if zeros or nothing followed, and takes lengths in
 * any form: it writes a message in the one way that nodes run.
 */
function isWrittenAs(message: VersionedMessage, signed: Uint8Array): boolean {
  try {
    return Buffer.compare(message.serialize(), signed) === 0
  } catch {
    // It writes no message above the length of a packet, which no node takes either.
    return false
  }
}

/** @throws MalformedAnswerError */
function deserialise(bytes: Uint8Array): VersionedTransaction {
  const { VersionedTransaction } = solanaLibrary()
  try {
    return VersionedTransaction.deserialize(bytes)
  } catch {
    // The library has no error class of its own for bytes that are no transaction.
    throw new MalformedAnswerError(what)
  }
}

/** Ed25519. */
function isSignatureOf(args: {
  readonly signed: Uint8Array
  readonly signature: Uint8Array
  readonly key: Uint8Array
}): boolean {
  const x = Buffer.from(args.key).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, args.signed, key, args.signature)
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
    throw new MalformedAnswerError(what)
  }
  const own = message.staticAccountKeys.map((key) => encodeBase58(key.toBytes()))
  const accounts = [...own, ...loadedWritable, ...loadedReadonly]
  if (new Set(accounts).size < accounts.length) throw new MalformedAnswerError(what)
  return accounts
}

function innerInstruction(
  { programIndex, accountIndexes, dataText }: InnerInstruction,
  accounts: readonly string[],
  depository: string,
): SolanaInstruction | undefined {
  const program = pick(accounts, programIndex)
  const named = accountIndexes.map((index) => pick(accounts, index))
  if (!readsInnerInstructions(program, depository)) return { program, accounts: named, data: '0x' }
  if (dataText.length > innerDataTextMax) return undefined
  const data = decodeBase58Text(dataText)
  if (data === undefined) throw new MalformedAnswerError(what)
  return { program, accounts: named, data: bytesToHex(data) }
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
  if (account === undefined) throw new MalformedAnswerError(what)
  return account
}

/** Programs whose inner instructions matter; a direct transfer into the vault is top-level. */
function readsInnerInstructions(program: string, depository: string): boolean {
  return program === depository || program === memoProgram
}
