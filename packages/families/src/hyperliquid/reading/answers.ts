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
 * Answers of the exchange's HTTP API read strictly: another shape makes the endpoint one that did not
 * answer. Only members that facts are made of are looked at.
 * @source Hyperliquid API, "Info endpoint"; oracle-protocol.md 5.4 for the explorer
 */

/** A transfer that an account signed: the same action whether it pays, deposits or withdraws. */
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

/** A transfer as an account's ledger shows it: its token is a symbol. */
export type LedgerSend = Omit<HyperliquidTransaction, 'send' | 'blockNumber'> & {
  readonly send: Extract<SendAction, { type: 'SendAsset' }>
}

export type SpotToken = { readonly name: string; readonly tokenId: string; readonly decimals: number }

/** `undefined` when the exchange has no such transaction. @throws MalformedAnswerError */
export function parseTransaction(body: unknown, transactionId: string): HyperliquidTransaction | undefined {
  const what = 'txDetails'
  if (body === null) return undefined
  const { type, tx } = parseRecord(body, what)
  if (type !== what) throw new MalformedAnswerError(what)
  if (tx === null) return undefined
  const transaction = readTransaction(tx, what)
  if (transaction.hash !== transactionId) throw new MalformedAnswerError(what)
  return transaction
}

/** Transactions that `user` signed, among all that concern it. @throws MalformedAnswerError */
export function parseRecent(body: unknown, user: string): readonly HyperliquidTransaction[] {
  const what = 'userDetails'
  const { type, txs } = parseRecord(body, what)
  if (type !== what) throw new MalformedAnswerError(what)
  return parseList(txs, what)
    .filter((tx) => parseAddress(parseRecord(tx, what)['user'], what) === user)
    .map((tx) => readTransaction(tx, what))
}

/**
 * The transfer of that hash; `undefined` when the ledger shows none.
 * @throws MalformedAnswerError, also for two of one hash
 */
export function parseLedgerSend(body: unknown, transactionId: string): LedgerSend | undefined {
  const what = 'userNonFundingLedgerUpdates'
  const [found, ...more] = parseList(body, what).flatMap((entry) => {
    const { hash, time, delta } = parseRecord(entry, what)
    const move = parseRecord(delta, what)
    if (parseHash(hash, what) !== transactionId || move['type'] !== 'send') return []
    return [{ timeMs: parseInteger(time, what), move }]
  })
  if (more.length > 0) throw new MalformedAnswerError(what)
  if (found === undefined) return undefined
  const { timeMs, move } = found
  const user = parseAddress(move['user'], what)
  const route = { hyperliquidChain: '', fromSubAccount: '' }
  const send = readSendAsset({ ...move, ...route }, what)
  return { hash: transactionId, user, timeMs, hasFailed: false, send }
}

/** A transfer that an account made, as its ledger shows it. */
export type OwnSend = { readonly hash: string; readonly nonce: bigint; readonly destination: string }

/**
 * Transfers with nonces that `account` made, of a ledger's entries; destinations in lower case.
 * @throws MalformedAnswerError
 */
export function parseOwnSends(entries: readonly LedgerEntry[], account: string): readonly OwnSend[] {
  const what = 'userNonFundingLedgerUpdates'
  return entries.flatMap(({ hash, delta }) => {
    if (delta['type'] !== 'send' || parseAddress(delta['user'], what) !== account) return []
    const destination = parseAddress(delta['destination'], what)
    return [{ hash, nonce: parseInteger(delta['nonce'], what), destination }]
  })
}

/** Exchange's answer to a submitted action. @throws MalformedAnswerError */
export function parseActionOutcome(body: unknown): { readonly refusal: string | undefined } {
  const what = 'exchange'
  const { status, response } = parseRecord(body, what)
  if (status === 'ok') return { refusal: undefined }
  if (status !== 'err') throw new MalformedAnswerError(what)
  return { refusal: parseText(response, what).slice(0, refusalCharactersMax) }
}

const refusalCharactersMax = 200

/** @throws MalformedAnswerError */
export function parseSpotTokens(body: unknown): readonly SpotToken[] {
  const what = 'spotMeta'
  return parseList(parseRecord(body, what)['tokens'], what).map((entry) => {
    const { name, tokenId, szDecimals } = parseRecord(entry, what)
    const id = parseBytes(tokenId, what)
    const decimals = Number(parseInteger(szDecimals, what))
    if (id.length !== 34 || decimals > decimalsMax) throw new MalformedAnswerError(what)
    return { name: parseText(name, what), tokenId: id, decimals }
  })
}

/** True when the exchange knows the account. @throws MalformedAnswerError */
export function parseHasAccount(body: unknown): boolean {
  const what = 'userRole'
  return parseText(parseRecord(body, what)['role'], what) !== 'missing'
}

/** Decimals of the longest decimal text. */
export const decimalsMax = 78

function readTransaction(value: unknown, what: string): HyperliquidTransaction {
  const { action, block, error, hash, time, user } = parseRecord(value, what)
  if (error !== null && typeof error !== 'string') throw new MalformedAnswerError(what)
  return {
    hash: parseHash(hash, what),
    user: parseAddress(user, what),
    timeMs: parseInteger(time, what),
    blockNumber: parseInteger(block, what),
    hasFailed: error !== null,
    send: readAction(parseRecord(action, what), what),
  }
}

function readAction(action: Readonly<Record<string, unknown>>, what: string): SendAction | undefined {
  switch (parseText(action['type'], what)) {
    case 'usdSend':
      return {
        type: 'UsdSend',
        hyperliquidChain: parseText(action['hyperliquidChain'], what),
        destination: parseDestination(action['destination'], what),
        amount: parseAmount(action['amount'], what),
        time: parseInteger(action['time'], what),
      }
    case 'sendAsset':
      return readSendAsset(action, what)
    default:
      return undefined
  }
}

function readSendAsset(action: Readonly<Record<string, unknown>>, what: string): LedgerSend['send'] {
  const text = (name: string) => parseText(action[name], what)
  return {
    ...{ type: 'SendAsset', hyperliquidChain: text('hyperliquidChain') },
    destination: parseDestination(action['destination'], what),
    ...{ sourceDex: text('sourceDex'), destinationDex: text('destinationDex'), token: text('token') },
    amount: parseAmount(action['amount'], what),
    fromSubAccount: text('fromSubAccount'),
    nonce: parseInteger(action['nonce'], what),
  }
}

/** Texts of actions are hashed as they were signed: nothing is folded. */
function parseDestination(value: unknown, what: string): string {
  const destination = parseText(value, what)
  parseAddress(destination, what)
  return destination
}

function parseAmount(value: unknown, what: string): string {
  const amount = parseText(value, what)
  if (parseDecimal(amount, decimalsMax) === undefined) throw new MalformedAnswerError(what)
  return amount
}

const textCharactersMax = 4_096

function parseText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value.length > textCharactersMax) throw new MalformedAnswerError(what)
  return value
}

/** A JSON number that is exact and not negative. */
function parseInteger(value: unknown, what: string): bigint {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(what)
  }
  return BigInt(value)
}
