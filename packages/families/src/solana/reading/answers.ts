import { decodeBase58Text } from '@causeway/core'
import type { RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf } from '@causeway/rpc'
import { newestVersion } from './requests.ts'

/**
 * Strict parsers of node answers. Anything but a method's exact result, a node's own error included, throws
 * `MalformedAnswerError`: the endpoint counts as silent. Only the answer `null` means that something does not exist.
 * @source oracle-protocol.md 10; Solana JSON-RPC documentation
 */

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

export type SolanaBlock = { readonly hash: string; readonly timeSeconds: bigint | undefined }
export type SolanaAccount = { readonly owner: string; readonly data: Uint8Array }

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

/** False when the node never saw the transaction. @throws MalformedAnswerError */
export function isKnownStatus(answer: RpcAnswer | undefined): boolean {
  const requestName = 'getSignatureStatuses'
  const [status, ...others] = parseList(
    parseRecord(resultOf(answer, requestName), requestName)['value'],
    requestName,
  )
  if (status === undefined || others.length > 0) throw new MalformedAnswerError(requestName)
  if (status === null) return false
  const { confirmationStatus } = parseRecord(status, requestName)
  if (!statuses.includes(String(confirmationStatus))) throw new MalformedAnswerError(requestName)
  return true
}

const statuses: readonly string[] = ['processed', 'confirmed', 'finalized']

/** The newest final slot. @throws MalformedAnswerError */
export function parseHead(answer: RpcAnswer | undefined): bigint {
  return parseInteger(resultOf(answer, 'getSlot'), 'getSlot')
}

/** Block of a slot that has one. @throws MalformedAnswerError, also on `null` */
export function parseBlock(answer: RpcAnswer | undefined): SolanaBlock {
  const requestName = 'getBlock'
  const block = parseRecord(resultOf(answer, requestName), requestName)
  return {
    hash: parseKey(block['blockhash'], requestName),
    timeSeconds: parseTime(block['blockTime'], requestName),
  }
}

/** @source Agave, rpc-client-api custom_error.rs: SlotSkipped, LongTermStorageSlotSkipped */
const skippedCodes: ReadonlySet<number> = new Set([-32_007, -32_009])

/**
 * Block of a slot; `undefined` if none was made in it. @throws MalformedAnswerError, also if the node lacks the block
 */
export function parseBlockAt(answer: RpcAnswer | undefined): SolanaBlock | undefined {
  if (answer?.ok === false && skippedCodes.has(answer.code)) return undefined
  return parseBlock(answer)
}

/** A transaction in an account's list. */
export type ListedTransaction = {
  readonly transactionId: string
  readonly slot: bigint
  readonly succeeded: boolean
  readonly isFinal: boolean
}

/** A page of an account's list, the newest first. @throws MalformedAnswerError, also for another order */
export function parseSignatures(answer: RpcAnswer | undefined): readonly ListedTransaction[] {
  const requestName = 'getSignaturesForAddress'
  const listed = parseList(resultOf(answer, requestName), requestName).map((entry) => {
    const record = parseRecord(entry, requestName)
    return {
      transactionId: parseSignature(record['signature'], requestName),
      slot: parseInteger(record['slot'], requestName),
      succeeded: parseSuccess(record, requestName),
      isFinal: record['confirmationStatus'] === 'finalized',
    }
  })
  const isOrdered = listed.every(({ slot }, index) => slot <= (listed[index - 1]?.slot ?? slot))
  if (!isOrdered) throw new MalformedAnswerError(requestName)
  return listed
}

/** Base58 of 64 bytes. @throws MalformedAnswerError */
function parseSignature(value: unknown, subject: string): string {
  const bytes =
    typeof value === 'string' && value.length <= signatureTextMax ? decodeBase58Text(value) : undefined
  if (typeof value !== 'string' || bytes?.length !== signatureBytes) throw new MalformedAnswerError(subject)
  return value
}

const signatureBytes = 64
const signatureTextMax = 88

/**
 * `undefined` when there is no such account at a slot of at least `slotMin`.
 * @throws MalformedAnswerError, also when the node shows an older state
 */
export function parseAccount(answer: RpcAnswer | undefined, slotMin: bigint): SolanaAccount | undefined {
  const requestName = 'getAccountInfo'
  const { context, value } = parseRecord(resultOf(answer, requestName), requestName)
  if (parseInteger(parseRecord(context, requestName)['slot'], requestName) < slotMin)
    throw new MalformedAnswerError(requestName)
  if (value === null) return undefined
  const account = parseRecord(value, requestName)
  return { owner: parseKey(account['owner'], requestName), data: parseBase64(account['data'], requestName) }
}

/** An account at a node's own newest slot. */
export type ShownAccount = SolanaAccount & {
  /** A balance above `exactLamportsMax` is `exactLamportsMax + 1`: JSON does not hold it exactly. */
  readonly lamports: bigint
  readonly isExecutable: boolean
}

/** Nine million SOL; JSON holds no larger number of lamports exactly. */
export const exactLamportsMax = BigInt(Number.MAX_SAFE_INTEGER)

/** Accounts in the order of the question; `undefined` for a missing one. @throws MalformedAnswerError */
export function parseAccounts(
  answer: RpcAnswer | undefined,
  count: number,
): readonly (ShownAccount | undefined)[] {
  return parseAccountsAt(answer, count).accounts
}

/** Accounts and the slot at which they had this state. @throws MalformedAnswerError */
export function parseAccountsAt(
  answer: RpcAnswer | undefined,
  count: number,
): { readonly slot: bigint; readonly accounts: readonly (ShownAccount | undefined)[] } {
  const { slot, list } = listAccounts(answer, count)
  return { slot, accounts: list.map(parseListedAccount) }
}

const accountsMethod = 'getMultipleAccounts'

/** The accounts of an answer, unparsed: a malformed one does not spoil others. @throws MalformedAnswerError */
export function listAccounts(
  answer: RpcAnswer | undefined,
  count: number,
): { readonly slot: bigint; readonly list: readonly unknown[] } {
  const { context, value } = parseRecord(resultOf(answer, accountsMethod), accountsMethod)
  const slot = parseInteger(parseRecord(context, accountsMethod)['slot'], accountsMethod)
  const list = parseList(value, accountsMethod)
  if (list.length !== count) throw new MalformedAnswerError(accountsMethod)
  return { slot, list }
}

/** One account of a list; `undefined` for a missing one. @throws MalformedAnswerError */
export function parseListedAccount(value: unknown): ShownAccount | undefined {
  if (value === null) return undefined
  const account = parseRecord(value, accountsMethod)
  return {
    owner: parseKey(account['owner'], accountsMethod),
    data: parseBase64(account['data'], accountsMethod),
    lamports: parseLamports([account['lamports']], accountsMethod)[0] ?? exactLamportsMax + 1n,
    isExecutable: account['executable'] === true,
  }
}

/** Millionths of a lamport per compute unit, one value per slot. @throws MalformedAnswerError */
export function parsePriorityFees(answer: RpcAnswer | undefined): readonly bigint[] {
  const requestName = 'getRecentPrioritizationFees'
  return parseList(resultOf(answer, requestName), requestName).map((slot) =>
    parseInteger(parseRecord(slot, requestName)['prioritizationFee'], requestName),
  )
}

/** @source Solana documentation, "Rent": what an account without data counts as */
const emptyAccountBytes = 128n

/** Lamports that each byte of an account costs. @throws MalformedAnswerError */
export function parseRentRate(answer: RpcAnswer | undefined): bigint {
  const requestName = 'getMinimumBalanceForRentExemption'
  const lamports = parseInteger(resultOf(answer, requestName), requestName)
  if (lamports % emptyAccountBytes !== 0n) throw new MalformedAnswerError(requestName)
  return lamports / emptyAccountBytes
}

/** The hash of the first block. @throws MalformedAnswerError */
export function parseGenesis(answer: RpcAnswer | undefined): string {
  return parseKey(resultOf(answer, 'getGenesisHash'), 'getGenesisHash')
}

/** True when the account can be called. @throws MalformedAnswerError */
export function parseIsProgram(answer: RpcAnswer | undefined): boolean {
  const requestName = 'getAccountInfo'
  const { value } = parseRecord(resultOf(answer, requestName), requestName)
  return value !== null && parseRecord(value, requestName)['executable'] === true
}

/** Version that the node reports. @throws MalformedAnswerError */
export function parseVersion(answer: RpcAnswer | undefined): string {
  const requestName = 'getVersion'
  const version = parseRecord(resultOf(answer, requestName), requestName)['solana-core']
  if (typeof version !== 'string') throw new MalformedAnswerError(requestName)
  return version
}

/** A whole number that JSON holds exactly. @throws MalformedAnswerError */
function parseInteger(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(subject)
  }
  return BigInt(value)
}

/** Base58 of 32 bytes: an address or a blockhash. @throws MalformedAnswerError */
function parseKey(value: unknown, subject: string): string {
  const bytes = typeof value === 'string' && value.length <= keyTextMax ? decodeBase58Text(value) : undefined
  if (typeof value !== 'string' || bytes?.length !== keyBytes) throw new MalformedAnswerError(subject)
  return value
}

const keyBytes = 32
const keyTextMax = 44

function parseTime(value: unknown, subject: string): bigint | undefined {
  return value === null || value === undefined ? undefined : parseInteger(value, subject)
}

/** Bytes of `[text, "base64"]`, whose text must be in canonical spelling. */
function parseBase64(value: unknown, subject: string): Uint8Array {
  const [text, encoding] = parseList(value, subject)
  if (typeof text !== 'string' || encoding !== 'base64') throw new MalformedAnswerError(subject)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new MalformedAnswerError(subject)
  return bytes
}

/** True for success: `err` is `null` then, and a text or an object otherwise. */
function parseSuccess(meta: Readonly<Record<string, unknown>>, subject: string): boolean {
  const { err } = meta
  if (err === null) return true
  if (typeof err !== 'string' && (typeof err !== 'object' || err === undefined)) {
    throw new MalformedAnswerError(subject)
  }
  return false
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

/** Balances in the order of the accounts; `undefined` for a number that JSON does not hold exactly. */
function parseLamports(value: unknown, subject: string): readonly (bigint | undefined)[] {
  return parseList(value, subject).map((lamports) => {
    if (typeof lamports !== 'number' || !Number.isInteger(lamports) || lamports < 0) {
      throw new MalformedAnswerError(subject)
    }
    return Number.isSafeInteger(lamports) ? BigInt(lamports) : undefined
  })
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

/** Account with slot and time of the newest block. @source Solana documentation, "Sysvar Cluster Data" */
export const clockAccount = 'SysvarC1ock11111111111111111111111111111111'
const timeAt = 32

/** Unix seconds. @throws MalformedAnswerError for what is no clock */
export function readClock(account: ShownAccount | undefined): bigint {
  if (account === undefined || account.data.length < timeAt + 8)
    throw new MalformedAnswerError('getMultipleAccounts')
  return Buffer.from(account.data).readBigInt64LE(timeAt)
}
