import { parseDecimal } from '@causeway/core'
import {
  MalformedAnswerError,
  parseAddress,
  parseBytes,
  parseHash,
  parseList,
  parseRecord,
} from '@causeway/rpc'
import type { HyperliquidWithdrawal } from '../rules/withdrawal.ts'
import type { LedgerEntry } from './ledgerPages.ts'

/**
 * Strict parsers of the exchange's HTTP API, for facts. An endpoint whose answer has another shape counts as one that
 * did not answer. Only members that facts need are checked.
 * @source Hyperliquid API, "Info endpoint"; github.com/nktkas/hyperliquid for the explorer
 */

/** A transfer that an account signed: payments, deposits and withdrawals are the same action. */
export type SendAction = HyperliquidWithdrawal

export type HyperliquidTransaction = {
  readonly hash: string
  /** Account that signed, in lower case. */
  readonly user: string
  readonly timeMs: bigint
  /** Absent in a transaction that the ledger of an account shows. */
  readonly blockNumber?: bigint
  readonly hasFailed: boolean
  /** `undefined` for every action that is no transfer. */
  readonly send: SendAction | undefined
}

/** A transfer as an account's ledger shows it: `token` is only a symbol, without the token's id. */
export type LedgerSend = Omit<HyperliquidTransaction, 'send' | 'blockNumber'> & {
  readonly send: Extract<SendAction, { type: 'SendAsset' }>
}

/** A token of the exchange. `decimals`: those of amounts that it moves (`szDecimals`). */
export type SpotToken = { readonly name: string; readonly tokenId: string; readonly decimals: number }

/** `undefined` when the exchange has no such transaction. @throws MalformedAnswerError */
export function parseTransaction(body: unknown, transactionId: string): HyperliquidTransaction | undefined {
  const requestName = 'txDetails'
  if (body === null) return undefined
  const { type, tx } = parseRecord(body, requestName)
  if (type !== requestName) throw new MalformedAnswerError(requestName)
  if (tx === null) return undefined
  const transaction = readTransaction(tx, requestName)
  if (transaction.hash !== transactionId) throw new MalformedAnswerError(requestName)
  return transaction
}

/** Transactions that `user` signed, among all that concern it. @throws MalformedAnswerError */
export function parseRecent(body: unknown, user: string): readonly HyperliquidTransaction[] {
  const requestName = 'userDetails'
  const { type, txs } = parseRecord(body, requestName)
  if (type !== requestName) throw new MalformedAnswerError(requestName)
  return parseList(txs, requestName)
    .filter((tx) => parseAddress(parseRecord(tx, requestName)['user'], requestName) === user)
    .map((tx) => readTransaction(tx, requestName))
}

/**
 * The transfer of that hash; `undefined` when the ledger shows none. A ledger lists only executed transfers.
 * @throws MalformedAnswerError, also for two of one hash
 */
export function parseLedgerSend(body: unknown, transactionId: string): LedgerSend | undefined {
  const requestName = 'userNonFundingLedgerUpdates'
  const [ledgerSend, ...more] = parseList(body, requestName).flatMap((entry) => {
    const { hash, time, delta } = parseRecord(entry, requestName)
    const move = parseRecord(delta, requestName)
    if (parseHash(hash, requestName) !== transactionId || move['type'] !== 'send') return []
    return [{ timeMs: parseInteger(time, requestName), move }]
  })
  if (more.length > 0) throw new MalformedAnswerError(requestName)
  if (ledgerSend === undefined) return undefined
  const { timeMs, move } = ledgerSend
  const user = parseAddress(move['user'], requestName)
  // Ledgers do not show these two, and facts do not need them.
  const unshown = { hyperliquidChain: '', fromSubAccount: '' }
  const send = readSendAsset({ ...move, ...unshown }, requestName)
  return { hash: transactionId, user, timeMs, hasFailed: false, send }
}

/** A transfer that an account made, as its ledger shows it. */
export type OwnSend = { readonly hash: string; readonly nonce: bigint; readonly destination: string }

/**
 * Transfers with nonces that `account` made, of a ledger's entries; destinations in lower case.
 * @throws MalformedAnswerError
 */
export function parseOwnSends(entries: readonly LedgerEntry[], account: string): readonly OwnSend[] {
  const requestName = 'userNonFundingLedgerUpdates'
  return entries.flatMap(({ hash, delta }) => {
    if (delta['type'] !== 'send' || parseAddress(delta['user'], requestName) !== account) return []
    const destination = parseAddress(delta['destination'], requestName)
    return [{ hash, nonce: parseInteger(delta['nonce'], requestName), destination }]
  })
}

/** Exchange's answer to a submitted action. @throws MalformedAnswerError */
export function parseActionOutcome(body: unknown): { readonly refusal: string | undefined } {
  const requestName = 'exchange'
  const { status, response } = parseRecord(body, requestName)
  if (status === 'ok') return { refusal: undefined }
  if (status !== 'err') throw new MalformedAnswerError(requestName)
  return { refusal: parseText(response, requestName).slice(0, refusalCharactersMax) }
}

const refusalCharactersMax = 200
const tokenIdBytes = 16

/** @throws MalformedAnswerError */
export function parseSpotTokens(body: unknown): readonly SpotToken[] {
  const requestName = 'spotMeta'
  return parseList(parseRecord(body, requestName)['tokens'], requestName).map((entry) => {
    const { name, tokenId, szDecimals } = parseRecord(entry, requestName)
    const id = parseBytes(tokenId, requestName)
    const decimals = Number(parseInteger(szDecimals, requestName))
    if (id.length !== 2 + 2 * tokenIdBytes || decimals > decimalsMax)
      throw new MalformedAnswerError(requestName)
    return { name: parseText(name, requestName), tokenId: id, decimals }
  })
}

/** True when the exchange knows the account. @throws MalformedAnswerError */
export function parseHasAccount(body: unknown): boolean {
  const requestName = 'userRole'
  return parseText(parseRecord(body, requestName)['role'], requestName) !== 'missing'
}

/** Most decimals of an amount or token: a uint256 has 78 digits. */
export const decimalsMax = 78

function readTransaction(value: unknown, subject: string): HyperliquidTransaction {
  const { action, block, error, hash, time, user } = parseRecord(value, subject)
  if (error !== null && typeof error !== 'string') throw new MalformedAnswerError(subject)
  return {
    hash: parseHash(hash, subject),
    user: parseAddress(user, subject),
    timeMs: parseInteger(time, subject),
    blockNumber: parseInteger(block, subject),
    hasFailed: error !== null,
    send: readAction(parseRecord(action, subject), subject),
  }
}

function readAction(action: Readonly<Record<string, unknown>>, subject: string): SendAction | undefined {
  switch (parseText(action['type'], subject)) {
    case 'usdSend':
      return {
        type: 'UsdSend',
        hyperliquidChain: parseText(action['hyperliquidChain'], subject),
        destination: parseDestination(action['destination'], subject),
        amount: parseAmount(action['amount'], subject),
        time: parseInteger(action['time'], subject),
      }
    case 'sendAsset':
      return readSendAsset(action, subject)
    default:
      return undefined
  }
}

function readSendAsset(action: Readonly<Record<string, unknown>>, subject: string): LedgerSend['send'] {
  const text = (name: string) => parseText(action[name], subject)
  return {
    type: 'SendAsset',
    hyperliquidChain: text('hyperliquidChain'),
    destination: parseDestination(action['destination'], subject),
    sourceDex: text('sourceDex'),
    destinationDex: text('destinationDex'),
    token: text('token'),
    amount: parseAmount(action['amount'], subject),
    fromSubAccount: text('fromSubAccount'),
    nonce: parseInteger(action['nonce'], subject),
  }
}

/** A destination keeps its spelling, because actions are hashed as they were signed. */
function parseDestination(value: unknown, subject: string): string {
  const destination = parseText(value, subject)
  parseAddress(destination, subject)
  return destination
}

function parseAmount(value: unknown, subject: string): string {
  const amount = parseText(value, subject)
  if (parseDecimal(amount, decimalsMax) === undefined) throw new MalformedAnswerError(subject)
  return amount
}

const textCharactersMax = 4_096

function parseText(value: unknown, subject: string): string {
  if (typeof value !== 'string' || value.length > textCharactersMax) throw new MalformedAnswerError(subject)
  return value
}

/** A JSON number that is exact and not negative. */
function parseInteger(value: unknown, subject: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(subject)
  }
  return BigInt(value)
}
