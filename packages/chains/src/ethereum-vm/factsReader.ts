import {
  type ChainEntry,
  ConfigurationError,
  type DepositFacts,
  ethereumCodec,
  type FactsReader,
  type FinalBlocks,
  type InBlock,
  mainNetwork,
  normaliseWithdrawRequest,
  type PaymentFacts,
  type PaymentQuestion,
  type WithdrawalFacts,
  type WithdrawalQuestion,
} from '@causeway/core'
import { type ListedPayers, listedPayers } from '../config/listedPayers.ts'
import { OneFlight } from '../rpc/oneFlight.ts'
import type { AgreedFacts, QuorumClient } from '../rpc/quorumClient.ts'
import { runAsOne } from '../rpc/runAsOne.ts'
import { type DepositRules, findDeposits, needsCalldata, wordBehindTransfer } from './deposits.ts'
import { ethereumFinalBlocks } from './finalBlocks.ts'
import { describeFinality, type FinalityRule, finalityRule } from './finality.ts'
import {
  createFinalTransactions,
  type EthereumReaderLimits,
  type KnownTransaction,
  type TransactionRequest,
} from './finalTransactions.ts'
import { executedCalls, needsTrace, paidWithoutTrace, referencesOrder, sumTransfers } from './payments.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
import { sideOf } from './solverSide.ts'
import { readWithdrawalTerms } from './withdrawals.ts'

export type EthereumFactsReaderOptions = {
  readonly chain: Pick<
    ChainEntry,
    'id' | 'depository' | 'additionalDepositories' | 'fillContracts' | 'fillPayers' | 'finality'
  > & {
    readonly additionalData?: {
      readonly finalizationBlocks?: number | undefined
      readonly finalizationTime?: number | undefined
      readonly isZksyncStack?: boolean | undefined
      /** Native payments that no event shows are looked for in a trace. */
      readonly traceInternalTransfers?: boolean | undefined
    }
  }
  readonly quorum: QuorumClient
  readonly limits?: Partial<EthereumReaderLimits>
}

export interface EthereumFactsReader extends FactsReader {
  readDeposits(...asked: Parameters<FactsReader['readDeposits']>): Promise<InBlock<DepositFacts>>
  readPayment(...asked: Parameters<FactsReader['readPayment']>): Promise<InBlock<PaymentFacts>>
  readonly finalBlocks: FinalBlocks
  /** Drops what is remembered: for a chain that was halted and is followed again. */
  forget(): void
}

type Reading = {
  readonly chainId: string
  readonly rules: DepositRules
  readonly payers: ListedPayers
  readonly finality: FinalityRule
  readonly isTraced: boolean
  readonly quorum: QuorumClient
  readTransaction(request: TransactionRequest, signal: AbortSignal): Promise<KnownTransaction>
  readonly withdrawals: OneFlight<AgreedFacts<FinalWithdrawal>>
}

const codec = ethereumCodec

/**
 * Facts of an `ethereum-vm` chain. What is final is remembered, in bounded memory, and never read again;
 * what is not final, missing or failed is never remembered. Identical questions in flight are one.
 * @throws ConfigurationError when the chain has no depository, or lists what can pay no fill
 * @source oracle-protocol.md 5.1; design.md 7.5
 */
export function createEthereumFactsReader(options: EthereumFactsReaderOptions): EthereumFactsReader {
  const { chain, quorum, limits = {} } = options
  if (chain.depository === undefined) throw new ConfigurationError(`chain ${chain.id} has no depository`)
  const finality = finalityRule(chain)
  const transactions = createFinalTransactions({ quorum, rule: finality, limits })
  const reading: Reading = {
    chainId: chain.id,
    rules: {
      depository: codec.canonicalAddress(chain.depository),
      isZksyncStack: chain.additionalData?.isZksyncStack === true,
    },
    payers: listedPayers(chain, codec),
    finality,
    isTraced: chain.additionalData?.traceInternalTransfers === true,
    quorum,
    readTransaction: (request, signal) => transactions.read(request, signal),
    withdrawals: new OneFlight(),
  }
  return {
    chainId: chain.id,
    vmType: 'ethereum-vm',
    finalBlocks: ethereumFinalBlocks(quorum, finality),
    forget: transactions.forget,
    readDeposits: ({ transactionId }, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    readWithdrawal: (question, { signal }) => readWithdrawal(reading, question, signal),
    readWithdrawRequest: async (question) => normaliseWithdrawRequest(mainNetwork('ethereum-vm'), question),
  }
}

async function readDeposits(
  reading: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<InBlock<DepositFacts>> {
  const { rules } = reading
  const wanted = {
    transaction: (logs: KnownTransaction['final']['logs']) => needsCalldata(logs, rules),
    trace: () => false,
    codeOf: () => [],
    tracesCode: false,
  }
  const { final, evidence } = await reading.readTransaction(
    { transactionId, wanted, purpose: 'deposits' },
    signal,
  )
  return {
    kind: 'deposits',
    transactionId: final.transactionId,
    blockTimestampSeconds: final.blockTimestampSeconds,
    deposits: findDeposits(
      final.logs,
      rules,
      final.transaction && wordBehindTransfer(final.transaction, rules),
    ),
    evidence,
  }
}

async function readPayment(
  reading: Reading,
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<InBlock<PaymentFacts>> {
  const { transactionId, orderId } = question
  const side = sideOf(reading.payers, question.extraData)
  const targets = question.payments.map(({ recipient, currency }) => ({
    recipient: codec.canonicalAddress(recipient),
    currency: codec.canonicalAddress(currency),
  }))
  const terms = { orderId, side, targets }
  const hasNative = targets.some(({ currency }) => currency === codec.nativeCurrency)
  const { final, evidence } = await reading.readTransaction(
    {
      transactionId,
      wanted: {
        transaction: 'always',
        trace: (logs, transaction) =>
          reading.isTraced && transaction !== undefined && needsTrace({ logs, transaction }, terms),
        codeOf: (logs, transaction) =>
          transaction === undefined ? [] : paidWithoutTrace({ logs, transaction }, terms),
        tracesCode: reading.isTraced,
      },
      purpose: hasNative ? `payment ${JSON.stringify([orderId, side.chosen, targets])}` : 'payment',
    },
    signal,
  )
  const { transaction, logs, internal, hasCode } = final
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  return {
    kind: 'payment',
    transactionId: final.transactionId,
    blockTimestampSeconds: final.blockTimestampSeconds,
    referencesOrder: referencesOrder(transaction, orderId),
    transfers: sumTransfers({ logs, transaction, internal, hasCode }, terms),
    calls: executedCalls({ logs, transaction }, side),
    evidence,
  }
}

async function readWithdrawal(
  reading: Reading,
  question: WithdrawalQuestion,
  signal: AbortSignal,
): Promise<WithdrawalFacts> {
  const { chainId, quorum, finality: rule } = reading
  const { depository } = reading.rules
  const terms = readWithdrawalTerms(question.withdrawal)
  const transactionId =
    question.transactionId === undefined ? undefined : codec.canonicalTransactionId(question.transactionId)
  const { withdrawalId, currency, amount, recipient } = terms
  const rounds = withdrawalQuestion({ terms, depository, transactionId, rule, threshold: quorum.threshold })
  const { facts, agreeingEndpoints } = await runAsOne(
    reading.withdrawals,
    { key: `${withdrawalId} ${transactionId ?? ''}`, chainId, signal },
    (shared) => quorum.read({ ...rounds, transactionId, signal: shared }),
  )
  const { number, hash } = facts.finalBlock
  const finalityRule = describeFinality(rule)
  return {
    ...{ kind: 'withdrawal', withdrawalId, depository, status: facts.status, currency, amount, recipient },
    ...(facts.isExecuting && transactionId !== undefined && { executingTransactionId: transactionId }),
    evidence: { chainId, blockHash: hash, blockNumber: number, finalityRule, agreeingEndpoints },
  }
}
