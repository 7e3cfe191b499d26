import { decodeBase58Text } from '@causeway/core'
import type { RpcAnswer } from '@causeway/rpc'
import { MalformedAnswerError, parseList, parseRecord, resultOf } from '@causeway/rpc'

/**
 * Strict parsers of node answers; those of `getTransaction` are in `transactionAnswer.ts`. Anything but a method's
 * exact result, a node's own error included, throws `MalformedAnswerError`: the endpoint counts as silent. Only the
 * answer `null` means that something does not exist.
 * @source rule F-4; Solana JSON-RPC documentation
 */

export type SolanaBlock = { readonly hash: string; readonly timeSeconds: bigint | undefined }
export type SolanaAccount = { readonly owner: string; readonly data: Uint8Array }

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
export function parseInteger(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(subject)
  }
  return BigInt(value)
}

/** Base58 of 32 bytes: an address or a blockhash. @throws MalformedAnswerError */
export function parseKey(value: unknown, subject: string): string {
  const bytes = typeof value === 'string' && value.length <= keyTextMax ? decodeBase58Text(value) : undefined
  if (typeof value !== 'string' || bytes?.length !== keyBytes) throw new MalformedAnswerError(subject)
  return value
}

const keyBytes = 32
const keyTextMax = 44

export function parseTime(value: unknown, subject: string): bigint | undefined {
  return value === null || value === undefined ? undefined : parseInteger(value, subject)
}

/** Bytes of `[text, "base64"]`, whose text must be in canonical spelling. */
export function parseBase64(value: unknown, subject: string): Uint8Array {
  const [text, encoding] = parseList(value, subject)
  if (typeof text !== 'string' || encoding !== 'base64') throw new MalformedAnswerError(subject)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw new MalformedAnswerError(subject)
  return bytes
}

/** True for success: `err` is `null` then, and a text or an object otherwise. */
export function parseSuccess(meta: Readonly<Record<string, unknown>>, subject: string): boolean {
  const { err } = meta
  if (err === null) return true
  if (typeof err !== 'string' && (typeof err !== 'object' || err === undefined)) {
    throw new MalformedAnswerError(subject)
  }
  return false
}

/** Balances in the order of the accounts; `undefined` for a number that JSON does not hold exactly. */
export function parseLamports(value: unknown, subject: string): readonly (bigint | undefined)[] {
  return parseList(value, subject).map((lamports) => {
    if (typeof lamports !== 'number' || !Number.isInteger(lamports) || lamports < 0) {
      throw new MalformedAnswerError(subject)
    }
    return Number.isSafeInteger(lamports) ? BigInt(lamports) : undefined
  })
}

/** Account with slot and time of the newest block. @source Solana documentation, "Sysvar Cluster Data" */
export const clockAccount = 'SysvarC1ock11111111111111111111111111111111'
const timeAt = 32

/** Unix seconds. @throws MalformedAnswerError for what is no clock */
export function readClock(account: ShownAccount | undefined): bigint {
  if (account === undefined || account.data.length < timeAt + 8)
    throw new MalformedAnswerError('getMultipleAccounts')
  return Buffer.from(account.data).readBigInt64LE(timeAt)
}
