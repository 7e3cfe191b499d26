import type { Evidence, PaymentQuestion } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import { PaymentTooLargeError, type QuorumClient, TransactionTooLargeError } from '@causeway/rpc'
import type { FoundPayment } from '../../shared/createFactsReader.ts'
import type { ListedPayers } from '../../shared/listedPayers.ts'
import { readSolverNativeTransfer } from './events.ts'
import { describeFinality, type FinalityRule } from './finality.ts'
import type { EthereumTransactions } from './finalTransactions.ts'
import type { AccountCode, PaymentTerms } from './payments/paidTransaction.ts'
import {
  accountsWhoseCodeMatters,
  proveAlone,
  provePayment,
  referencesOrder,
} from './payments/provePayment.ts'
import type { RecordsPayments, WantedParts } from './readFinalTransaction.ts'
import { largePaymentQuestion } from './readLargePayment.ts'
import { solverSideOf, unlistedFillContract } from './solverSide.ts'

/** Evidence with a block, which this family always has. */
export type KnownBlock = Required<Pick<Evidence, 'blockHash' | 'blockNumber'>>

/** One chain, as payments on it are read. */
export type PaymentContext = {
  readonly payers: ListedPayers
  readonly finality: FinalityRule
  /**
   * Fill contracts whose code was found to be ours. Their code cannot change, so it is not read again. An
   * unlisted one among them proves nothing: `provePayment` also asks whether the order chose the contract.
   */
  readonly ownContracts: Set<string>
  readonly quorum: QuorumClient
  readonly transactions: EthereumTransactions
  readonly recordsPayments: RecordsPayments
}

/**
 * Reads a payment and proves it, by the whole receipt of its transaction; if endpoints cannot answer with so long a
 * receipt, by the transaction and a few logs.
 * @throws PaymentTooLargeError, and what `QuorumClient.read` throws
 */
export async function readPayment(
  context: PaymentContext,
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  try {
    return await readPaymentByReceipt(context, question, signal)
  } catch (error) {
    if (!(error instanceof TransactionTooLargeError)) throw error
    return readLargePayment(context, question, signal)
  }
}

async function readPaymentByReceipt(
  { payers, transactions, ownContracts }: PaymentContext,
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const terms = termsOf(payers, question)
  const { orderId, side, targets } = terms
  // A call of a contract of ours is proven by its record, for which no account's code matters but the contract's.
  const codeOf: WantedParts['codeOf'] = (logs, transaction) =>
    transaction === undefined || ownContracts.has(transaction.to ?? '')
      ? []
      : accountsWhoseCodeMatters({ logs, transaction }, terms)
  const { final, evidence } = await transactions.read(
    {
      transactionId: question.transactionId,
      wanted: { transaction: 'always', codeOf },
      // Readings of equal purpose are shared, so it names all terms that `codeOf` depends on.
      purpose: `payment ${JSON.stringify([orderId, side.chosen, targets])}`,
    },
    signal,
  )
  const { transaction, logs, blockTimestampSeconds } = final
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  for (const [account, code] of final.code) if (code === 'fill_contract') ownContracts.add(account)
  // The code of our own contracts was not asked for again.
  const code = new Map<string, AccountCode>([
    ...final.code,
    ...[...ownContracts].map((account) => [account, 'fill_contract'] as const),
  ])
  const unlisted = unlistedFillContract(side, transaction)
  return {
    blockTimestampSeconds,
    evidence,
    referencesOrder: referencesOrder(transaction, orderId),
    ...provePayment({ logs, transaction, code }, terms),
    ...(unlisted !== undefined && { unlistedFillContract: unlisted }),
  }
}

/**
 * A payment whose receipt is too long for endpoints' answers, proven by its transaction and a few logs. It is not
 * remembered.
 */
async function readLargePayment(
  { quorum, finality: rule, payers, recordsPayments }: PaymentContext,
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const { chainId, threshold, configured } = quorum
  const terms = termsOf(payers, question)
  const { transactionId } = question
  const id = ethereumCodec.canonicalTransactionId(transactionId)
  const largeReading = { transactionId: id, wanted: terms, rule, threshold, configured, recordsPayments }
  const { facts, agreeingEndpoints } = await quorum.read({ ...largePaymentQuestion(largeReading), signal })
  const { transaction, logs, code, blockHash, blockNumber, blockTimestampSeconds } = facts
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  const proven = proveAlone({ logs, transaction, code }, terms)
  if (proven === undefined) throw new PaymentTooLargeError({ chainId, transactionId })
  return {
    blockTimestampSeconds,
    referencesOrder: referencesOrder(transaction, question.orderId),
    evidence: { chainId, blockHash, blockNumber, finalityRule: describeFinality(rule), agreeingEndpoints },
    ...proven,
  }
}

/** The order's terms, by which its payment is proven. */
function termsOf(
  payers: ListedPayers,
  { orderId, extraData, payments: targets, calls = [] }: PaymentQuestion,
): PaymentTerms {
  const side = solverSideOf(payers, extraData)
  return { orderId, side, targets, calls, nativeCurrency: ethereumCodec.nativeCurrency }
}

/** Bounds the accounts whose code `rememberPayment` reads: anybody can have a fill contract pay very many. */
const rememberedRecipientsMax = 20

/**
 * Reads a payment ahead, before its order is known: calldata, and the code of each account that could matter for an
 * order, so that the later reading is answered from memory.
 */
export async function rememberPayment(
  { payers, transactions, ownContracts }: PaymentContext,
  transactionId: string,
  signal: AbortSignal,
): Promise<void> {
  const codeOf: WantedParts['codeOf'] = (logs, transaction) => {
    const { to } = transaction ?? {}
    if (to === undefined || ownContracts.has(to)) return []
    const paid = logs.flatMap((log) => {
      const transfer = payers.fillContracts.has(log.address) ? readSolverNativeTransfer(log) : undefined
      return transfer === undefined ? [] : [transfer.to]
    })
    const called = payers.fillContracts.has(to) ? [to] : []
    return [...new Set([...called, ...paid])].slice(0, rememberedRecipientsMax)
  }
  const wanted: WantedParts = { transaction: 'always', codeOf }
  await transactions.read({ transactionId, wanted, purpose: 'ahead' }, signal)
}
