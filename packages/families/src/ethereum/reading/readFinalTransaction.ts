import type { Hex } from '@causeway/core'
import type { ChainQuestion, EndpointView, RpcAnswer, RpcCall, Sighting } from '@causeway/rpc'
import { EndpointFailure, MalformedAnswerError } from '@causeway/rpc'
import {
  codeCall,
  type EvmHeader,
  type EvmLog,
  type EvmReceipt,
  type EvmTransaction,
  headerCall,
  parseCode,
  parseHeader,
  parseReceipt,
  parseTransaction,
  receiptCall,
  transactionCall,
} from './answers.ts'
import {
  type FinalityRule,
  type FinalPin,
  type Heads,
  headsOf,
  isTooYoung,
  pinFinalHeight,
  secondsToFinality,
} from './finality.ts'
import type { AccountCode } from './payments/paidTransaction.ts'

/** Effects of a final transaction, in a family whose contracts write logs. */
export type FinalExecution<Transaction> = {
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly blockTimestampSeconds: bigint
  /** The block of the pinned height; with one endpoint there is nothing to pin. */
  readonly finalBlock: Pick<EvmHeader, 'number' | 'hash'> | undefined
  readonly logs: readonly EvmLog[]
  /** Read only when it was wanted. */
  readonly transaction: Transaction | undefined
  /** Kinds of code of accounts that were asked about; others are missing. */
  readonly code: ReadonlyMap<Hex, AccountCode>
}

export type FinalTransaction = FinalExecution<EvmTransaction> & { readonly transactionId: Hex }

/** Readings beside the receipt; each is decided by the data read before it. */
export type Wanted = {
  readonly transaction: 'always' | ((logs: readonly EvmLog[]) => boolean)
  /** Accounts whose code decides what the transaction proves. */
  readonly codeOf: (logs: readonly EvmLog[], transaction: EvmTransaction | undefined) => readonly Hex[]
}

/** True for the runtime code of a fill contract whose records this release can read. */
export type RecordsPayments = (code: Hex) => boolean

/** One reading of a transaction; `What` is read beside the receipt. */
export type ExecutionReading<What> = {
  /** As the nodes of the family write it. */
  readonly transactionId: string
  readonly wanted: What
  readonly rule: FinalityRule
  readonly threshold: number
  /** Endpoints of the chain: with several, the pinned height is read back from each. */
  readonly configured: number
  readonly logsMax: number
  readonly recordsPayments: RecordsPayments
}

type TransactionReading = ExecutionReading<Wanted>

type OwnView = {
  readonly heads: Heads
  /** `too_large`: longer than what an endpoint is heard for; `unreadable`: it does not say what became of it. */
  readonly receipt: EvmReceipt | 'too_large' | 'unreadable' | undefined
  readonly transaction: EvmTransaction | undefined
}

/**
 * The two rounds of one endpoint. First: its heads and the receipt. Then, at the height that all agreed
 * on: the header there and the header of the transaction's block, by number, so that both are on the
 * endpoint's canonical chain; calldata or a trace when the logs do not decide.
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<OwnView, FinalPin, FinalTransaction>, 'signal'> {
  const { transactionId, rule, threshold } = reading
  return {
    transactionId,
    first: (view, signal) => readOwnView(view, reading, signal),
    pin: (views) => pinFinalHeight(rule, threshold, views.map(headsOf)),
    second: (view, own, pin, signal) => judge(view, { ...reading, own, pin }, signal),
    key: transactionKey,
    confirms: isOnChain,
  }
}

async function isOnChain(
  view: EndpointView,
  { blockNumber, blockHash }: FinalTransaction,
  signal: AbortSignal,
): Promise<boolean> {
  const [answer] = await view.ask([headerCall(blockNumber)], signal)
  return parseHeader(answer, blockNumber).hash === blockHash
}

export function headCalls(rule: FinalityRule): readonly RpcCall[] {
  return rule.mode === 'tag' ? [headerCall('latest'), headerCall(rule.tag)] : [headerCall('latest')]
}

/** @throws MalformedAnswerError */
export function parseHeads(rule: FinalityRule, answers: readonly RpcAnswer[]): Heads {
  const [latest, tagged] = answers
  return { latest: parseHeader(latest), tagged: rule.mode === 'tag' ? parseHeader(tagged) : undefined }
}

async function readOwnView(
  view: EndpointView,
  { transactionId, wanted, rule }: TransactionReading,
  signal: AbortSignal,
): Promise<OwnView> {
  const wantsTransaction = wanted.transaction === 'always'
  const calls = wantsTransaction
    ? [receiptCall(transactionId), transactionCall(transactionId)]
    : [receiptCall(transactionId)]
  const answers = await view.ask([...calls, ...headCalls(rule)], signal).catch(unlessOversize)
  if (answers === undefined) return readLargeView(view, { transactionId, rule }, signal)
  const receipt = parseReceipt(answers[0], transactionId)
  return {
    heads: parseHeads(rule, answers.slice(calls.length)),
    receipt,
    transaction:
      wantsTransaction && typeof receipt === 'object' ? parseTransaction(answers[1], receipt) : undefined,
  }
}

function unlessOversize(error: unknown): undefined {
  if (error instanceof EndpointFailure && error.reason === 'oversize') return undefined
  throw error
}

/** Calls of one moment travel together: asked alone, one shows whether its own answer was too long. */
async function readLargeView(
  view: EndpointView,
  { transactionId, rule }: Pick<TransactionReading, 'transactionId' | 'rule'>,
  signal: AbortSignal,
): Promise<OwnView> {
  const [heads, answer] = await Promise.all([
    view.ask(headCalls(rule), signal),
    view.askAlone(receiptCall(transactionId), signal).catch(unlessOversize),
  ])
  if (answer !== undefined) throw new MalformedAnswerError('eth_getTransactionReceipt')
  return { heads: parseHeads(rule, heads), receipt: 'too_large', transaction: undefined }
}

type Judging = TransactionReading & { readonly own: OwnView; readonly pin: FinalPin }

async function judge(
  view: EndpointView,
  judging: Judging,
  signal: AbortSignal,
): Promise<Sighting<FinalTransaction>> {
  const { own, pin, rule, logsMax } = judging
  const { receipt } = own
  if (receipt === undefined) return { kind: 'refused', reason: 'missing' }
  if (typeof receipt === 'string') return { kind: 'refused', reason: receipt }
  if (!receipt.succeeded) return { kind: 'refused', reason: 'reverted' }
  if (receipt.logs.length > logsMax) return { kind: 'refused', reason: 'too_large' }
  const { blockNumber: number } = receipt
  if (number > pin.height) return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number }) }

  const { header, ...rest } = await readRest(view, { ...judging, receipt }, signal)
  const { timestampSeconds } = header
  if (isTooYoung(rule, pin, timestampSeconds)) {
    return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number, timestampSeconds }) }
  }
  const { transactionId, blockHash, logs } = receipt
  return {
    kind: 'final',
    facts: {
      ...{ transactionId, blockHash, blockNumber: number, blockTimestampSeconds: timestampSeconds, logs },
      ...rest,
    },
  }
}

type Rest = Pick<FinalTransaction, 'transaction' | 'finalBlock' | 'code'> & {
  readonly header: EvmHeader
}

async function readRest(
  view: EndpointView,
  judging: Judging & { readonly receipt: EvmReceipt },
  signal: AbortSignal,
): Promise<Rest> {
  const { own, receipt, wanted, pin, configured, transactionId, recordsPayments } = judging
  const wantsTransaction = wanted.transaction !== 'always' && wanted.transaction(receipt.logs)
  const accounts = wanted.codeOf(receipt.logs, own.transaction)
  const calls = [
    ...(wantsTransaction ? [transactionCall(transactionId)] : []),
    ...accounts.flatMap((account) => codeCalls(account, receipt.blockNumber, pin.height)),
    ...(configured > 1 ? [headerCall(pin.height)] : []),
    // Last: what was read before belongs to the chain that this header is on.
    headerCall(receipt.blockNumber),
  ]
  const answers = await view.ask(calls, signal)
  const pinned = configured > 1 ? parseHeader(answers.at(-2), pin.height) : undefined
  const header = parseHeader(answers.at(-1), receipt.blockNumber)
  if (header.hash !== receipt.blockHash) throw new MalformedAnswerError('eth_getBlockByNumber')
  return {
    header,
    finalBlock: pinned && { number: pinned.number, hash: pinned.hash },
    transaction: wantsTransaction ? parseTransaction(answers[0], receipt) : own.transaction,
    code: readCodes(accounts, answers.slice(wantsTransaction ? 1 : 0), recordsPayments),
  }
}

/** At the transaction's own block, and where a node keeps the state surely. */
function codeCalls(account: Hex, block: bigint, finalBlock: bigint): readonly RpcCall[] {
  return [codeCall(account, block), codeCall(account, finalBlock)]
}

function readCodes(
  accounts: readonly Hex[],
  answers: readonly RpcAnswer[],
  recordsPayments: RecordsPayments,
): ReadonlyMap<Hex, AccountCode> {
  return new Map(
    accounts.map((account, index): readonly [Hex, AccountCode] => {
      const code = parseCode(answers[2 * index], answers[2 * index + 1])
      return [account, accountCode(code, recordsPayments)]
    }),
  )
}

/** Tells what code at an account means for payments. */
export function accountCode(code: Hex, recordsPayments: RecordsPayments): AccountCode {
  return code === '0x' ? 'none' : recordsPayments(code) ? 'fill_contract' : 'other'
}

/** Equal for endpoints that say the same. Written by hand: generic JSON costs more than reading the logs. */
export function transactionKey(facts: FinalTransaction): string {
  const { blockHash, blockNumber, blockTimestampSeconds, finalBlock, logs, transaction } = facts
  const { code } = facts
  return [
    `${blockHash} ${blockNumber} ${blockTimestampSeconds} ${finalBlock?.hash}`,
    transaction && `${transaction.from} ${transaction.to} ${transaction.value} ${transaction.input}`,
    ...[...code].map(([account, is]) => `${account} ${is}`),
    'logs',
    ...logs.map(({ logIndex, address, topics, data }) => `${logIndex} ${address} ${topics.join()} ${data}`),
  ].join('\n')
}
