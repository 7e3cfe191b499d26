import {
  type AheadReader,
  ConfigurationError,
  type Evidence,
  type FinalBlocks,
  type Hex,
  type PaymentQuestion,
} from '@causeway/core'
import type { ChainEntry } from '@causeway/core/config'
import { ethereumCodec, mainNetwork } from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import { PaymentTooLargeError, TransactionTooLargeError } from '@causeway/rpc'
import {
  createFactsReader,
  type FamilyReader,
  type FoundDeposits,
  type FoundPayment,
  type WithdrawalReading,
} from '../../shared/createFactsReader.ts'
import { type ListedChain, type ListedPayers, listedPayers } from '../../shared/listedPayers.ts'
import { ethereumFamily } from '../rules/family.ts'
import { scanFinalBlocks } from './blockScan.ts'
import { readCodeSignature } from './codeSignature.ts'
import { type DepositRules, findDeposits, needsCalldata, wordBehindTransfer } from './deposits.ts'
import { readSolverNativeTransfer } from './events.ts'
import { ethereumFinalBlocks } from './finalBlocks.ts'
import { describeFinality, type FinalityRule, finalityRule } from './finality.ts'
import {
  createEthereumTransactions,
  type EthereumReaderLimits,
  type EthereumTransactions,
} from './finalTransactions.ts'
import type { AccountCode } from './payments/paidTransaction.ts'
import {
  accountsWhoseCodeMatters,
  proveAlone,
  provePayment,
  referencesOrder,
} from './payments/provePayment.ts'
import type { RecordsPayments, Wanted } from './readFinalTransaction.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
import { largePaymentQuestion } from './readLargePayment.ts'
import { solverSideOf, unlistedFillContract } from './solverSide.ts'
import { readWithdrawalTerms } from './withdrawals.ts'

export type EthereumFactsReaderOptions = {
  readonly chain: ListedChain & {
    readonly finality?: ChainEntry['finality'] | undefined
    readonly additionalData?: {
      readonly finalizationBlocks?: number | undefined
      readonly finalizationTime?: number | undefined
      readonly isZksyncStack?: boolean | undefined
    }
  }
  readonly quorum: QuorumClient
  readonly limits?: Partial<EthereumReaderLimits>
  /** Absent: no contract counts as a fill contract of ours, so no payment is proven by a record. */
  readonly recordsPayments?: RecordsPayments | undefined
}

/** Evidence with a block, which this family always has. */
type KnownBlock = Required<Pick<Evidence, 'blockHash' | 'blockNumber'>>

export interface EthereumFactsReader extends FamilyReader<KnownBlock> {
  readonly finalBlocks: FinalBlocks
  readonly ahead: AheadReader
}

type ReaderContext = {
  readonly rules: DepositRules
  readonly payers: ListedPayers
  readonly finality: FinalityRule
  /** Fill contracts whose code was found to be ours. Their code cannot change, so it is not read again. */
  readonly ownContracts: Set<string>
  readonly quorum: QuorumClient
  readonly transactions: EthereumTransactions
  readonly recordsPayments: RecordsPayments
}

const codec = ethereumCodec

/**
 * Reads facts of an `ethereum-vm` chain for services. Final transactions are remembered, in bounded memory; those that
 * are not final, missing or failed are not. Identical questions in flight share one reading.
 * @throws ConfigurationError when the chain has no depository, or lists what can pay no fill
 * @source rules P-21, P-107
 */
export function createEthereumFactsReader(options: EthereumFactsReaderOptions): EthereumFactsReader {
  const { chain, quorum, limits = {}, recordsPayments = () => false } = options
  if (chain.depository === undefined) throw new ConfigurationError(`chain ${chain.id} has no depository`)
  const finality = finalityRule(chain)
  const transactions = createEthereumTransactions({ quorum, rule: finality, limits, recordsPayments })
  const reading: ReaderContext = {
    recordsPayments,
    rules: {
      depository: codec.canonicalAddress(chain.depository),
      isZksyncStack: chain.additionalData?.isZksyncStack === true,
    },
    payers: listedPayers(chain, codec),
    ownContracts: new Set(),
    finality,
    quorum,
    transactions,
  }
  const reader = createFactsReader({
    chainId: chain.id,
    network: mainNetwork('ethereum-vm'),
    finalityRule: describeFinality(finality),
    forget: transactions.forget,
    readDeposits: (transactionId, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(reading, withdrawal),
    withdrawRequest: ethereumFamily.withdrawRequest,
  })
  return {
    ...reader,
    finalBlocks: ethereumFinalBlocks(quorum, finality),
    readCodeSignature: (question, { signal }) => readCodeSignature(reading, question, signal),
    ahead: {
      scan: (start, { signal }) => scanFinalBlocks({ ...reading, rule: finality }, start, signal),
      rememberPayment: (transactionId, { signal }) => rememberPayment(reading, transactionId, signal),
    },
  }
}

async function readDeposits(
  { rules, transactions }: ReaderContext,
  transactionId: string,
  signal: AbortSignal,
): Promise<FoundDeposits<KnownBlock>> {
  const wanted: Wanted = {
    transaction: (logs) => needsCalldata(logs, rules),
    codeOf: () => [],
  }
  const { final, evidence } = await transactions.read({ transactionId, wanted, purpose: 'deposits' }, signal)
  const { blockTimestampSeconds, logs, transaction } = final
  const deposits = findDeposits(logs, rules, transaction && wordBehindTransfer(transaction, rules))
  return { blockTimestampSeconds, deposits, evidence }
}

async function readPayment(
  reading: ReaderContext,
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  try {
    return await readPaymentByReceipt(reading, question, signal)
  } catch (error) {
    if (!(error instanceof TransactionTooLargeError)) throw error
    return readLargePayment(reading, question, signal)
  }
}

/**
 * A payment whose receipt is too long for endpoints' answers, proven by its transaction and a few logs. It is not
 * remembered.
 */
async function readLargePayment(
  { quorum, finality: rule, payers, recordsPayments }: ReaderContext,
  { transactionId, orderId, extraData, payments: targets, calls = [] }: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const { chainId, threshold, configured } = quorum
  const side = solverSideOf(payers, extraData)
  const terms = { orderId, side, targets, calls, nativeCurrency: codec.nativeCurrency }
  const id = codec.canonicalTransactionId(transactionId)
  const largeReading = { transactionId: id, wanted: terms, rule, threshold, configured, recordsPayments }
  const { facts, agreeingEndpoints } = await quorum.read({ ...largePaymentQuestion(largeReading), signal })
  const { transaction, logs, code, blockHash, blockNumber, blockTimestampSeconds } = facts
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  const proven = proveAlone({ logs, transaction, code }, terms)
  if (proven === undefined) throw new PaymentTooLargeError({ chainId, transactionId })
  return {
    blockTimestampSeconds,
    referencesOrder: referencesOrder(transaction, orderId),
    evidence: { chainId, blockHash, blockNumber, finalityRule: describeFinality(rule), agreeingEndpoints },
    ...proven,
  }
}

async function readPaymentByReceipt(
  reading: ReaderContext,
  { transactionId, orderId, extraData, payments: targets, calls = [] }: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const { payers, transactions, ownContracts } = reading
  const side = solverSideOf(payers, extraData)
  const terms = { orderId, side, targets, calls, nativeCurrency: codec.nativeCurrency }
  const codeOf: Wanted['codeOf'] = (logs, transaction) =>
    transaction === undefined || ownContracts.has(transaction.to ?? '')
      ? []
      : accountsWhoseCodeMatters({ logs, transaction }, terms)
  const { final, evidence } = await transactions.read(
    {
      transactionId,
      wanted: { transaction: 'always', codeOf },
      purpose: `payment ${JSON.stringify([orderId, side.chosen, targets])}`,
    },
    signal,
  )
  const { transaction, logs, blockTimestampSeconds } = final
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  for (const [account, code] of final.code) if (code === 'fill_contract') ownContracts.add(account)
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

/** Bounds the reads of `rememberPayment`: anybody can have a fill contract pay very many recipients. */
const rememberedRecipientsMax = 20

/**
 * Reads a payment ahead, before its order is known: calldata, and the code of each account that could matter for an
 * order, so that the later reading is answered from memory.
 */
async function rememberPayment(
  { payers, transactions, ownContracts }: ReaderContext,
  transactionId: string,
  signal: AbortSignal,
): Promise<void> {
  const codeOf: Wanted['codeOf'] = (logs, transaction) => {
    const { to } = transaction ?? {}
    if (to === undefined || ownContracts.has(to)) return []
    const paid = logs.flatMap((log) => {
      const transfer = payers.fillContracts.has(log.address) ? readSolverNativeTransfer(log) : undefined
      return transfer === undefined ? [] : [transfer.to]
    })
    const called = payers.fillContracts.has(to) ? [to] : []
    return [...new Set([...called, ...paid])].slice(0, rememberedRecipientsMax)
  }
  const wanted: Wanted = { transaction: 'always', codeOf }
  await transactions.read({ transactionId, wanted, purpose: 'ahead' }, signal)
}

function prepareWithdrawal(
  { rules: { depository }, finality: rule, quorum }: ReaderContext,
  withdrawal: Hex,
): WithdrawalReading<FinalWithdrawal> {
  const { threshold } = quorum
  const terms = readWithdrawalTerms(withdrawal)
  const { withdrawalId, currency, amount, recipient } = terms
  return {
    withdrawalId,
    read(transactionId, signal) {
      const question = withdrawalQuestion({ terms, depository, transactionId, rule, threshold })
      return quorum.read({ ...question, transactionId, signal })
    },
    describe: ({ status, isExecuting, finalBlock: { number, hash } }, transactionId) => ({
      depository,
      status,
      currency,
      amount,
      recipient,
      ...(isExecuting && transactionId !== undefined && { executingTransactionId: transactionId }),
      shownIn: { blockHash: hash, blockNumber: number },
    }),
  }
}
