import { type AheadReader, ConfigurationError, type FinalBlocks, type Hex } from '@causeway/core'
import type { ChainEntry } from '@causeway/core/config'
import { ethereumCodec, mainNetwork } from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import {
  createFactsReader,
  type FamilyReader,
  type FoundDeposits,
  type WithdrawalReading,
} from '../../shared/createFactsReader.ts'
import { type ListedChain, listedPayers } from '../../shared/listedPayers.ts'
import { ethereumFamily } from '../rules/family.ts'
import { scanFinalBlocks } from './blockScan.ts'
import { readCodeSignature } from './codeSignature.ts'
import { type DepositRules, findDeposits, needsCalldata, wordBehindTransfer } from './deposits.ts'
import { ethereumFinalBlocks } from './finalBlocks.ts'
import { describeFinality, finalityRule } from './finality.ts'
import { createEthereumTransactions, type EthereumReaderLimits } from './finalTransactions.ts'
import { type KnownBlock, type PaymentContext, readPayment, rememberPayment } from './paymentFacts.ts'
import type { RecordsPayments, WantedParts } from './readFinalTransaction.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
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

export interface EthereumFactsReader extends FamilyReader<KnownBlock> {
  readonly finalBlocks: FinalBlocks
  readonly ahead: AheadReader
}

type ReaderContext = PaymentContext & { readonly rules: DepositRules }

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
  const context: ReaderContext = {
    recordsPayments,
    rules: {
      depository: ethereumCodec.canonicalAddress(chain.depository),
      isZksyncStack: chain.additionalData?.isZksyncStack === true,
    },
    payers: listedPayers(chain, ethereumCodec),
    ownContracts: new Set(), // Readings of payments add to it.
    finality,
    quorum,
    transactions,
  }
  const reader = createFactsReader({
    chainId: chain.id,
    network: mainNetwork('ethereum-vm'),
    finalityRule: describeFinality(finality),
    forget: transactions.forget,
    readDeposits: (transactionId, { signal }) => readDeposits(context, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(context, question, signal),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(context, withdrawal),
    withdrawRequest: ethereumFamily.withdrawRequest,
  })
  return {
    ...reader,
    finalBlocks: ethereumFinalBlocks(quorum, finality),
    readCodeSignature: (question, { signal }) => readCodeSignature(context, question, signal),
    ahead: {
      scan: (start, { signal }) => scanFinalBlocks({ ...context, rule: finality }, start, signal),
      rememberPayment: (transactionId, { signal }) => rememberPayment(context, transactionId, signal),
    },
  }
}

async function readDeposits(
  { rules, transactions }: ReaderContext,
  transactionId: string,
  signal: AbortSignal,
): Promise<FoundDeposits<KnownBlock>> {
  const wanted: WantedParts = {
    transaction: (logs) => needsCalldata(logs, rules),
    // Deposits depend on no account's code.
    codeOf: () => [],
  }
  const { final, evidence } = await transactions.read({ transactionId, wanted, purpose: 'deposits' }, signal)
  const { blockTimestampSeconds, logs, transaction } = final
  const deposits = findDeposits(logs, rules, transaction && wordBehindTransfer(transaction, rules))
  return { blockTimestampSeconds, deposits, evidence }
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
