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
  type FinalHeight,
  type FinalityRule,
  type Heads,
  headsOf,
  isTooYoung,
  pinFinalHeight,
  secondsToFinality,
} from './finality.ts'
import { headCalls, parseHeads, readHeader } from './headRound.ts'
import type { AccountCode } from './payments/paidTransaction.ts'

/** Effects of a final transaction, in a family whose contracts write logs. */
export type FinalExecution<Transaction> = {
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly blockTimestampSeconds: bigint
  /** The block at the pinned height; not read if the chain has only one endpoint. */
  readonly finalBlock: Pick<EvmHeader, 'number' | 'hash'> | undefined
  readonly logs: readonly EvmLog[]
  /** Read only when it was wanted. */
  readonly transaction: Transaction | undefined
  /** Kinds of code of accounts that were asked about; others are missing. */
  readonly code: ReadonlyMap<Hex, AccountCode>
}

export type FinalTransaction = FinalExecution<EvmTransaction> & { readonly transactionId: Hex }

/** Parts that are read beside the receipt; each function decides by the parts that were read before. */
export type WantedParts = {
  /** True if the transaction itself is needed; `always` reads it in the first round already. */
  readonly transaction: 'always' | ((logs: readonly EvmLog[]) => boolean)
  /** Accounts whose code decides what is proven. `transaction` is surely set only if it is read `always`. */
  readonly codeOf: (logs: readonly EvmLog[], transaction: EvmTransaction | undefined) => readonly Hex[]
}

/** True for the runtime code of a fill contract whose records this release can read. */
export type RecordsPayments = (code: Hex) => boolean

/** Parameters of one reading; `Parts` is the family's type of the parts that are read beside the receipt. */
export type ExecutionReading<Parts> = {
  /** As the nodes of the family write it. */
  readonly transactionId: string
  readonly wanted: Parts
  readonly rule: FinalityRule
  readonly threshold: number
  /** Voices of the chain. If there are several, each also shows its block at the pinned height, which must be equal. */
  readonly configured: number
  readonly logsMax: number
  readonly recordsPayments: RecordsPayments
}

type TransactionReading = ExecutionReading<WantedParts>

/** One endpoint's answers of the first round. */
type FirstRound = {
  readonly heads: Heads
  /** `too_large`: longer than the limit of an answer; `unreadable`: without a status; `undefined`: not found. */
  readonly receipt: EvmReceipt | 'too_large' | 'unreadable' | undefined
  readonly transaction: EvmTransaction | undefined
}

/**
 * The question for a final transaction, which each endpoint is asked in two rounds. First its heads and the receipt.
 * Then, with the agreed height: the header there and that of the transaction's block, both by number, so that they are
 * on the endpoint's canonical chain; and the transaction and code, if they are wanted.
 */
export function transactionQuestion(
  reading: TransactionReading,
): Omit<ChainQuestion<FirstRound, FinalHeight, FinalTransaction>, 'signal'> {
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

/** True if the facts' block is on the endpoint's chain; asked if enough endpoints lack the transaction. */
async function isOnChain(
  view: EndpointView,
  { blockNumber, blockHash }: FinalTransaction,
  signal: AbortSignal,
): Promise<boolean> {
  return (await readHeader(view, blockNumber, signal)).hash === blockHash
}

async function readOwnView(
  view: EndpointView,
  { transactionId, wanted, rule }: TransactionReading,
  signal: AbortSignal,
): Promise<FirstRound> {
  const wantsTransaction = wanted.transaction === 'always'
  const calls = wantsTransaction
    ? [receiptCall(transactionId), transactionCall(transactionId)]
    : [receiptCall(transactionId)]
  const answers = await view.ask([...calls, ...headCalls(rule)], signal).catch(undefinedIfOversize)
  if (answers === undefined) return readLargeView(view, { transactionId, rule }, signal)
  const receipt = parseReceipt(answers[0], transactionId)
  return {
    heads: parseHeads(rule, answers.slice(calls.length)),
    receipt,
    transaction:
      wantsTransaction && typeof receipt === 'object' ? parseTransaction(answers[1], receipt) : undefined,
  }
}

function undefinedIfOversize(error: unknown): undefined {
  if (error instanceof EndpointFailure && error.reason === 'oversize') return undefined
  throw error
}

/**
 * After a batch that was too long: asks for the receipt alone, since the excess may have come from other calls in the
 * same batch. If the receipt alone is short enough, the endpoint counts as failed, and the caller asks again.
 */
async function readLargeView(
  view: EndpointView,
  { transactionId, rule }: Pick<TransactionReading, 'transactionId' | 'rule'>,
  signal: AbortSignal,
): Promise<FirstRound> {
  const [heads, answer] = await Promise.all([
    view.ask(headCalls(rule), signal),
    view.askAlone(receiptCall(transactionId), signal).catch(undefinedIfOversize),
  ])
  if (answer !== undefined) throw new MalformedAnswerError('eth_getTransactionReceipt')
  return { heads: parseHeads(rule, heads), receipt: 'too_large', transaction: undefined }
}

/** `own`: the endpoint's first round; `pin`: the height that was agreed from all first rounds. */
type JudgeInput = TransactionReading & { readonly own: FirstRound; readonly pin: FinalHeight }

/** One endpoint's vote, from both rounds. */
async function judge(
  view: EndpointView,
  judging: JudgeInput,
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

  const { header, ...restOfFacts } = await readSecondRound(view, { ...judging, receipt }, signal)
  const { timestampSeconds } = header
  if (isTooYoung(rule, pin, timestampSeconds)) {
    return { kind: 'not_final', waitSeconds: secondsToFinality(rule, pin, { number, timestampSeconds }) }
  }
  const { transactionId, blockHash, logs } = receipt
  return {
    kind: 'final',
    facts: {
      transactionId,
      blockHash,
      blockNumber: number,
      blockTimestampSeconds: timestampSeconds,
      logs,
      ...restOfFacts,
    },
  }
}

type SecondRound = Pick<FinalTransaction, 'transaction' | 'finalBlock' | 'code'> & {
  readonly header: EvmHeader
}

async function readSecondRound(
  view: EndpointView,
  judging: JudgeInput & { readonly receipt: EvmReceipt },
  signal: AbortSignal,
): Promise<SecondRound> {
  const { own, receipt, wanted, pin, configured, transactionId, recordsPayments } = judging
  const wantsTransaction = wanted.transaction !== 'always' && wanted.transaction(receipt.logs)
  const accounts = wanted.codeOf(receipt.logs, own.transaction)
  const transactionCalls = wantsTransaction ? [transactionCall(transactionId)] : []
  const calls = [
    ...transactionCalls,
    ...accounts.flatMap((account) => codeCalls(account, receipt.blockNumber, pin.height)),
    // Its hash is part of the vote, so that only endpoints of one branch agree.
    ...(configured > 1 ? [headerCall(pin.height)] : []),
    // The header is read last, so that it shows the chain on which the endpoint was after the other answers.
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
    code: readCodes(accounts, answers.slice(transactionCalls.length), recordsPayments),
  }
}

/** Code at the transaction's block, and at the final block, whose state every node still has. */
function codeCalls(account: Hex, block: bigint, finalBlock: bigint): readonly RpcCall[] {
  return [codeCall(account, block), codeCall(account, finalBlock)]
}

/** @param answers begin with those to `codeCalls` of each account, in order */
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

/** Classifies the code of an account for proofs of payments. */
export function accountCode(code: Hex, recordsPayments: RecordsPayments): AccountCode {
  return code === '0x' ? 'none' : recordsPayments(code) ? 'fill_contract' : 'other'
}

/** Text that is equal for equal facts, to count votes. Written by hand, since generic JSON takes longer than parsing. */
export function transactionKey(facts: FinalTransaction): string {
  const { blockHash, blockNumber, blockTimestampSeconds, finalBlock, logs, transaction } = facts
  const { code } = facts
  return [
    `${blockHash} ${blockNumber} ${blockTimestampSeconds} ${finalBlock?.hash}`,
    transaction && `${transaction.from} ${transaction.to} ${transaction.value} ${transaction.input}`,
    ...[...code].map(([account, kind]) => `${account} ${kind}`),
    // Marks where the accounts end and the logs begin.
    'logs',
    ...logs.map(({ logIndex, address, topics, data }) => `${logIndex} ${address} ${topics.join()} ${data}`),
  ].join('\n')
}
