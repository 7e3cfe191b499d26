import {
  type AheadReader,
  type ChainEntry,
  ConfigurationError,
  type Evidence,
  ethereumCodec,
  type FinalBlocks,
  type Hex,
  mainNetwork,
  type PaymentQuestion,
} from '@causeway/core'
import { type ListedPayers, listedPayers } from '../config/listedPayers.ts'
import {
  createFactsReader,
  type FamilyReader,
  type FoundDeposits,
  type FoundPayment,
  type WithdrawalReading,
} from '../family/createFactsReader.ts'
import type { QuorumClient } from '../rpc/quorumClient.ts'
import { scanFinalBlocks } from './blockScan.ts'
import { type DepositRules, findDeposits, needsCalldata, wordBehindTransfer } from './deposits.ts'
import { readSolverNativeTransfer } from './events.ts'
import { ethereumFinalBlocks } from './finalBlocks.ts'
import { describeFinality, type FinalityRule, finalityRule } from './finality.ts'
import {
  createEthereumTransactions,
  type EthereumReaderLimits,
  type EthereumTransactions,
} from './finalTransactions.ts'
import { executedCalls, needsTrace, paidWithoutTrace, referencesOrder, sumTransfers } from './payments.ts'
import type { Wanted } from './readFinalTransaction.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
import { sideOf, unlistedFillContract } from './solverSide.ts'
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

/** Blocks of this family are always known. */
type KnownBlock = Required<Pick<Evidence, 'blockHash' | 'blockNumber'>>

export interface EthereumFactsReader extends FamilyReader<KnownBlock> {
  readonly finalBlocks: FinalBlocks
  readonly ahead: AheadReader
}

type Reading = {
  readonly rules: DepositRules
  readonly payers: ListedPayers
  readonly finality: FinalityRule
  readonly isTraced: boolean
  readonly quorum: QuorumClient
  readonly transactions: EthereumTransactions
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
  const transactions = createEthereumTransactions({ quorum, rule: finality, limits })
  const reading: Reading = {
    rules: {
      depository: codec.canonicalAddress(chain.depository),
      isZksyncStack: chain.additionalData?.isZksyncStack === true,
    },
    payers: listedPayers(chain, codec),
    isTraced: chain.additionalData?.traceInternalTransfers === true,
    ...{ finality, quorum, transactions },
  }
  const reader = createFactsReader({
    chainId: chain.id,
    network: mainNetwork('ethereum-vm'),
    finalityRule: describeFinality(finality),
    forget: transactions.forget,
    readDeposits: (transactionId, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(reading, withdrawal),
  })
  return {
    ...reader,
    finalBlocks: ethereumFinalBlocks(quorum, finality),
    ahead: {
      scan: (start, { signal }) => scanFinalBlocks({ ...reading, rule: finality }, start, signal),
      rememberPayment: (transactionId, { signal }) => rememberPayment(reading, transactionId, signal),
    },
  }
}

async function readDeposits(
  { rules, transactions }: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<FoundDeposits<KnownBlock>> {
  const wanted: Wanted = {
    transaction: (logs) => needsCalldata(logs, rules),
    trace: () => false,
    codeOf: () => [],
    tracesCode: false,
  }
  const { final, evidence } = await transactions.read({ transactionId, wanted, purpose: 'deposits' }, signal)
  const { blockTimestampSeconds, logs, transaction } = final
  const deposits = findDeposits(logs, rules, transaction && wordBehindTransfer(transaction, rules))
  return { blockTimestampSeconds, deposits, evidence }
}

async function readPayment(
  { payers, isTraced, transactions }: Reading,
  { transactionId, orderId, extraData, payments: targets }: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const side = sideOf(payers, extraData)
  const terms = { orderId, side, targets }
  const hasNative = targets.some(({ currency }) => currency === codec.nativeCurrency)
  const { final, evidence } = await transactions.read(
    {
      transactionId,
      wanted: {
        transaction: 'always',
        trace: (logs, transaction) =>
          isTraced && transaction !== undefined && needsTrace({ logs, transaction }, terms),
        codeOf: (logs, transaction) =>
          transaction === undefined ? [] : paidWithoutTrace({ logs, transaction }, terms),
        tracesCode: isTraced,
      },
      purpose: hasNative ? `payment ${JSON.stringify([orderId, side.chosen, targets])}` : 'payment',
    },
    signal,
  )
  const { transaction, logs, internal, hasCode } = final
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  const unlisted = unlistedFillContract(side, transaction)
  return {
    blockTimestampSeconds: final.blockTimestampSeconds,
    referencesOrder: referencesOrder(transaction, orderId),
    transfers: sumTransfers({ logs, transaction, internal, hasCode }, terms),
    calls: executedCalls({ logs, transaction }, side),
    ...(unlisted !== undefined && { unlistedFillContract: unlisted }),
    evidence,
  }
}

/** Everybody may have a fill contract pay whomever he likes, as often as a block holds. */
const rememberedRecipientsMax = 20

/**
 * Whatever order is asked for later: the calldata, and the code of everybody whom a listed fill contract says that it
 * paid. A trace is read when somebody asks: it is dear, and few payments need one.
 */
async function rememberPayment(
  { payers, transactions }: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<void> {
  const wanted: Wanted = {
    transaction: 'always',
    trace: () => false,
    codeOf: (logs) =>
      [
        ...new Set(
          logs.flatMap((log) => {
            const paid = payers.fillContracts.has(log.address) ? readSolverNativeTransfer(log) : undefined
            return paid === undefined ? [] : [paid.to]
          }),
        ),
      ].slice(0, rememberedRecipientsMax),
    tracesCode: false,
  }
  await transactions.read({ transactionId, wanted, purpose: 'ahead' }, signal)
}

function prepareWithdrawal(
  { rules: { depository }, finality: rule, quorum }: Reading,
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
      ...{ depository, status, currency, amount, recipient },
      ...(isExecuting && transactionId !== undefined && { executingTransactionId: transactionId }),
      shownIn: { blockHash: hash, blockNumber: number },
    }),
  }
}
