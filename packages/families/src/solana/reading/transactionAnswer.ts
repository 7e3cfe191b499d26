import type { RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf } from '@causeway/rpc'
import { parseBase64, parseInteger, parseKey, parseLamports, parseSuccess, parseTime } from './answers.ts'
import { newestVersion } from './requests.ts'

/** A transaction as `getTransaction` returns it, before its bytes are decoded. */
export type SolanaTransactionAnswer = {
  readonly slot: bigint
  /** Unix seconds; nodes may lack it. */
  readonly blockTimeSeconds: bigint | undefined
  readonly bytes: Uint8Array
  readonly succeeded: boolean
  /** Accounts from lookup tables, writable ones first. */
  readonly loadedWritable: readonly string[]
  readonly loadedReadonly: readonly string[]
  readonly inner: readonly InnerInstructions[]
  /**
   * By position of the account. `undefined` where JSON cannot hold the number exactly: above 2^53 − 1
   * lamports, nine million SOL.
   */
  readonly lamportsBefore: readonly (bigint | undefined)[]
  readonly lamportsAfter: readonly (bigint | undefined)[]
  readonly tokensBefore: readonly TokenBalanceAnswer[]
  readonly tokensAfter: readonly TokenBalanceAnswer[]
}

/** Instructions that one top-level instruction ran, in order. `parent`: index of that instruction. */
export type InnerInstructions = {
  readonly parent: number
  readonly instructions: readonly InnerInstruction[]
}
export type InnerInstruction = {
  readonly programIndex: number
  readonly accountIndexes: readonly number[]
  /** Base58, not decoded: only few are looked at. */
  readonly dataText: string
}
export type TokenBalanceAnswer = {
  readonly accountIndex: number
  readonly mint: string
  /** Absent in answers of very old nodes. */
  readonly owner: string | undefined
  readonly amount: bigint
}

/** @source Agave, rpc-client-api custom_error.rs: UnsupportedTransactionVersion */
const unsupportedVersionCode = -32_015

/**
 * `missing`: the node knows no final transaction of that id. `unreadable`: its version is later than `newestVersion`.
 * @throws MalformedAnswerError
 */
export function parseTransactionAnswer(
  answer: RpcAnswer | undefined,
): SolanaTransactionAnswer | 'missing' | 'unreadable' {
  const requestName = 'getTransaction'
  if (answer?.ok === false && answer.code === unsupportedVersionCode) return 'unreadable'
  const result = resultOf(answer, requestName)
  if (result === null) return 'missing'
  const body = parseRecord(result, requestName)
  const { version } = body
  if (typeof version === 'number' && version > newestVersion) return 'unreadable'
  const meta = parseRecord(body['meta'], requestName)
  const loaded = parseLoaded(meta['loadedAddresses'], requestName)
  return {
    slot: parseInteger(body['slot'], requestName),
    blockTimeSeconds: parseTime(body['blockTime'], requestName),
    bytes: parseBase64(body['transaction'], requestName),
    succeeded: parseSuccess(meta, requestName),
    ...loaded,
    inner: parseInner(meta['innerInstructions'], requestName),
    lamportsBefore: parseLamports(meta['preBalances'], requestName),
    lamportsAfter: parseLamports(meta['postBalances'], requestName),
    tokensBefore: parseTokenBalances(meta['preTokenBalances'], requestName),
    tokensAfter: parseTokenBalances(meta['postTokenBalances'], requestName),
  }
}

/** Lamports that the payer was charged; `undefined` for a missing transaction. @throws MalformedAnswerError */
export function parseFee(answer: RpcAnswer | undefined): bigint | undefined {
  const requestName = 'getTransaction'
  const result = resultOf(answer, requestName)
  if (result === null) return undefined
  return parseInteger(parseRecord(parseRecord(result, requestName)['meta'], requestName)['fee'], requestName)
}

/** Accounts from lookup tables: none where nodes leave the member out, for legacy transactions. */
function parseLoaded(
  value: unknown,
  subject: string,
): Pick<SolanaTransactionAnswer, 'loadedWritable' | 'loadedReadonly'> {
  if (value === undefined || value === null) return { loadedWritable: [], loadedReadonly: [] }
  const { writable, readonly } = parseRecord(value, subject)
  return {
    loadedWritable: parseList(writable, subject).map((key) => parseKey(key, subject)),
    loadedReadonly: parseList(readonly, subject).map((key) => parseKey(key, subject)),
  }
}

/** Refuses `null`: the node did not record inner instructions, so nothing is known about them. */
function parseInner(value: unknown, subject: string): readonly InnerInstructions[] {
  const groups = parseList(value, subject).map((entry) => {
    const group = parseRecord(entry, subject)
    return {
      parent: parseIndex(group['index'], subject),
      instructions: parseList(group['instructions'], subject).map((one) => parseInstruction(one, subject)),
    }
  })
  for (const [index, { parent }] of groups.entries()) {
    const previous = groups[index - 1]
    if (previous !== undefined && previous.parent >= parent) throw new MalformedAnswerError(subject)
  }
  return groups
}

function parseInstruction(value: unknown, subject: string): InnerInstruction {
  const { programIdIndex, accounts, data } = parseRecord(value, subject)
  if (typeof data !== 'string') throw new MalformedAnswerError(subject)
  return {
    programIndex: parseIndex(programIdIndex, subject),
    accountIndexes: parseList(accounts, subject).map((index) => parseIndex(index, subject)),
    dataText: data,
  }
}

/** Index of an account or instruction in a transaction: one byte. */
function parseIndex(value: unknown, subject: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 255) {
    throw new MalformedAnswerError(subject)
  }
  return value
}

function parseTokenBalances(value: unknown, subject: string): readonly TokenBalanceAnswer[] {
  const balances = parseList(value, subject).map((entry) => {
    const { accountIndex, mint, owner, uiTokenAmount } = parseRecord(entry, subject)
    const { amount } = parseRecord(uiTokenAmount, subject)
    if (typeof amount !== 'string' || !amountPattern.test(amount)) throw new MalformedAnswerError(subject)
    return {
      accountIndex: parseIndex(accountIndex, subject),
      mint: parseKey(mint, subject),
      owner: owner === undefined || owner === null || owner === '' ? undefined : parseKey(owner, subject),
      amount: BigInt(amount),
    }
  })
  if (new Set(balances.map(({ accountIndex }) => accountIndex)).size < balances.length) {
    throw new MalformedAnswerError(subject)
  }
  return balances
}

const amountPattern = /^(?:0|[1-9][0-9]{0,19})$/
