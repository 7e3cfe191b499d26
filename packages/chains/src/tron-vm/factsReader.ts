import {
  type ChainEntry,
  createTronCodec,
  type DepositFacts,
  decodeEvmWithdrawal,
  type FactsReader,
  type FinalBlocks,
  mainNetwork,
  normaliseWithdrawRequest,
  type PaymentFacts,
  type PaymentQuestion,
  tronWithdrawalTransfer,
  type WithdrawalFacts,
  type WithdrawalQuestion,
} from '@causeway/core'
import { type ListedPayers, listedPayers } from '../config/listedPayers.ts'
import { type FinalityRule, finalityRule } from '../ethereum-vm/finality.ts'
import { defaultReaderLimits } from '../ethereum-vm/finalTransactions.ts'
import { paidWithoutTrace } from '../ethereum-vm/payments.ts'
import type { FinalWithdrawal } from '../ethereum-vm/readFinalWithdrawal.ts'
import { sideOf } from '../ethereum-vm/solverSide.ts'
import { readWithdrawalTerms } from '../ethereum-vm/withdrawals.ts'
import type { HttpView } from '../rpc/httpView.ts'
import { OneFlight } from '../rpc/oneFlight.ts'
import type { AgreedFacts, QuorumClient } from '../rpc/quorumClient.ts'
import { runAsOne } from '../rpc/runAsOne.ts'
import { accountOf, type TronContract } from './contract.ts'
import { findTronDeposits, needsTransaction } from './deposits.ts'
import { tronFinalBlocks } from './finalBlocks.ts'
import { describeSolidity } from './finality.ts'
import { createFinalTransactions, type TronReaderLimits } from './finalTransactions.ts'
import { type PaymentTarget, paymentTerms, referencesOrder, sumTransfers } from './payments.ts'
import { withdrawalQuestion } from './readFinalWithdrawal.ts'

export type TronFactsReaderOptions = {
  readonly chain: Pick<
    ChainEntry,
    'id' | 'additionalDepositories' | 'fillContracts' | 'fillPayers' | 'finality'
  > & {
    /** Base58. */
    readonly depository: string
    readonly additionalData?: {
      readonly finalizationBlocks?: number | undefined
      readonly finalizationTime?: number | undefined
      /** Payments in TRX that no event shows are looked for among inner calls. */
      readonly traceInternalTransfers?: boolean | undefined
    }
  }
  readonly quorum: QuorumClient<HttpView>
  readonly limits?: Partial<TronReaderLimits>
}

export interface TronFactsReader extends FactsReader {
  readonly finalBlocks: FinalBlocks
  /** Drops what is remembered: for a chain that was halted and is followed again. */
  forget(): void
}

type Reading = {
  readonly chainId: string
  readonly depository: TronContract
  readonly payers: ListedPayers
  readonly rule: FinalityRule
  readonly isTraced: boolean
  readonly quorum: QuorumClient<HttpView>
  readonly transactions: ReturnType<typeof createFinalTransactions>
  readonly withdrawals: OneFlight<AgreedFacts<FinalWithdrawal>>
}

const codec = createTronCodec()

/**
 * Facts of a `tron-vm` chain, read over its HTTP API from solidified blocks. What is final is remembered, in
 * bounded memory; what is not final, missing or failed never is. Identical questions in flight are one.
 * @throws InvalidAddressError for a depository that is no address; ConfigurationError for a payer that can be none
 * @source oracle-protocol.md 5.6; design.md 7.5
 */
export function createTronFactsReader(options: TronFactsReaderOptions): TronFactsReader {
  const { chain, quorum } = options
  const rule = finalityRule(chain)
  const limits = { ...defaultReaderLimits, ...options.limits }
  const transactions = createFinalTransactions({ quorum, rule, limits })
  const address = codec.canonicalAddress(chain.depository)
  const reading: Reading = {
    chainId: chain.id,
    depository: { address, account: accountOf(address) },
    payers: listedPayers(chain, codec, accountOf),
    rule,
    isTraced: chain.additionalData?.traceInternalTransfers === true,
    quorum,
    transactions,
    withdrawals: new OneFlight(),
  }
  return {
    chainId: chain.id,
    vmType: 'tron-vm',
    finalBlocks: tronFinalBlocks(quorum, rule),
    forget: transactions.forget,
    readDeposits: ({ transactionId }, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    readWithdrawal: (question, { signal }) => readWithdrawal(reading, question, signal),
    readWithdrawRequest: async (question) => normaliseWithdrawRequest(mainNetwork('tron-vm'), question),
  }
}

async function readDeposits(reading: Reading, asked: string, signal: AbortSignal): Promise<DepositFacts> {
  const { depository, transactions } = reading
  const transactionId = codec.canonicalTransactionId(asked)
  const { final, evidence } = await transactions.read(
    {
      transactionId,
      purpose: 'deposits',
      wanted: {
        transaction: (logs) => needsTransaction(logs, depository),
        positions: (logs) => findTronDeposits(logs, depository).length > 0,
        isTraced: false,
        codeOf: () => [],
      },
    },
    signal,
  )
  return {
    kind: 'deposits',
    transactionId,
    blockTimestampSeconds: final.blockTimestampSeconds,
    deposits: findTronDeposits(final.logs, depository, final.transaction),
    evidence,
  }
}

async function readPayment(
  { isTraced, transactions, payers }: Reading,
  question: PaymentQuestion,
  signal: AbortSignal,
): Promise<PaymentFacts> {
  const transactionId = codec.canonicalTransactionId(question.transactionId)
  const targets = question.payments.map(targetOf)
  const { orderId } = question
  const side = sideOf(payers, question.extraData)
  const terms = paymentTerms({ orderId, side, targets })
  const { final, evidence } = await transactions.read(
    {
      transactionId,
      purpose: 'payment',
      variant: JSON.stringify([side.chosen, targets]),
      wanted: {
        transaction: 'always',
        positions: () => false,
        isTraced,
        codeOf: (logs, transaction) =>
          transaction === undefined || isTraced ? [] : paidWithoutTrace({ logs, transaction }, terms),
      },
    },
    signal,
  )
  const { transaction, logs, internal, hasCode } = final
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  return {
    kind: 'payment',
    transactionId,
    blockTimestampSeconds: final.blockTimestampSeconds,
    referencesOrder: referencesOrder(transaction, orderId),
    transfers: sumTransfers({ logs, transaction, internal, hasCode }, targets, terms),
    evidence,
  }
}

function targetOf(payment: PaymentQuestion['payments'][number]): PaymentTarget {
  const recipient = codec.canonicalAddress(payment.recipient)
  const currency = codec.canonicalAddress(payment.currency)
  return { recipient, currency, account: accountOf(recipient), token: accountOf(currency) }
}

async function readWithdrawal(
  { chainId, quorum, rule, depository, withdrawals }: Reading,
  question: WithdrawalQuestion,
  signal: AbortSignal,
): Promise<WithdrawalFacts> {
  const terms = readWithdrawalTerms(question.withdrawal)
  const { currency, amount, recipient } = tronWithdrawalTransfer(decodeEvmWithdrawal(question.withdrawal))
  const transactionId =
    question.transactionId === undefined ? undefined : codec.canonicalTransactionId(question.transactionId)
  const { withdrawalId } = terms
  const rounds = withdrawalQuestion({
    ...{ terms, transactionId, rule, threshold: quorum.threshold },
    depository: depository.account,
  })
  const { facts, agreeingEndpoints } = await runAsOne(
    withdrawals,
    { key: `${withdrawalId} ${transactionId ?? ''}`, chainId, signal },
    (shared) => quorum.read({ ...rounds, transactionId, signal: shared }),
  )
  const { number, hash } = facts.finalBlock
  return {
    ...{ kind: 'withdrawal', withdrawalId, depository: depository.address, status: facts.status },
    ...{ currency, amount, recipient },
    ...(facts.isExecuting && transactionId !== undefined && { executingTransactionId: transactionId }),
    evidence: {
      ...{ chainId, blockHash: hash, blockNumber: number, agreeingEndpoints },
      finalityRule: describeSolidity(rule),
    },
  }
}
