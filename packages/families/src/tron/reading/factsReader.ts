import type { Evidence, FinalBlocks, Hex, PaymentQuestion } from '@causeway/core'
import type { ChainEntry } from '@causeway/core/config'
import { createTronCodec, mainNetwork, tronAddress, tronHexAddress } from '@causeway/core/encodings'
import type { QuorumClient } from '@causeway/rpc'
import { createFinalBlocks } from '@causeway/rpc'
import { type FinalityRule, finalityRule } from '../../ethereum/reading/finality.ts'
import { defaultReaderLimits } from '../../ethereum/reading/finalTransactions.ts'
import { accountsWhoseCodeMatters } from '../../ethereum/reading/payments/provePayment.ts'
import type { RecordsPayments } from '../../ethereum/reading/readFinalTransaction.ts'
import type { FinalWithdrawal } from '../../ethereum/reading/readFinalWithdrawal.ts'
import { solverSideOf, unlistedFillContract } from '../../ethereum/reading/solverSide.ts'
import { readWithdrawalTerms } from '../../ethereum/reading/withdrawals.ts'
import { decodeEvmWithdrawal } from '../../ethereum/rules/withdrawal.ts'
import {
  createFactsReader,
  type FamilyReader,
  type FoundDeposits,
  type FoundPayment,
  type WithdrawalReading,
} from '../../shared/createFactsReader.ts'
import { type ListedChain, type ListedPayers, listedPayers } from '../../shared/listedPayers.ts'
import { tronFamily } from '../rules/family.ts'
import { tronWithdrawalTransfer } from '../rules/withdrawalTransfer.ts'
import { parseHeader } from './answers.ts'
import { askNode, type TronView } from './askNode.ts'
import type { TronContract } from './contract.ts'
import { findTronDeposits, needsTransaction } from './deposits.ts'
import { describeSolidity, pinSolidHeight } from './finality.ts'
import { createTronTransactions, type TronReaderLimits } from './finalTransactions.ts'
import { type PaymentTarget, paymentTerms, provePayment, referencesOrder } from './payments.ts'
import { readHeads, requireHeader } from './readFinalTransaction.ts'
import { withdrawalQuestion } from './readFinalWithdrawal.ts'
import { headerRequest, solidHeaderRequest } from './requests.ts'

export type TronFactsReaderOptions = {
  readonly chain: ListedChain & {
    readonly finality?: ChainEntry['finality'] | undefined
    /** Base58. */
    readonly depository: string
    readonly additionalData?: {
      readonly finalizationBlocks?: number | undefined
      readonly finalizationTime?: number | undefined
    }
  }
  readonly quorum: QuorumClient<TronView>
  readonly limits?: Partial<TronReaderLimits>
  /** Absent: no contract's records are read. */
  readonly recordsPayments?: RecordsPayments | undefined
}

/** The block that proves a fact: Tron's evidence always names it. */
type KnownBlock = Required<Pick<Evidence, 'blockHash' | 'blockNumber'>>

export interface TronFactsReader extends FamilyReader<KnownBlock> {
  readonly finalBlocks: FinalBlocks
}

type Reading = {
  readonly depository: TronContract
  readonly payers: ListedPayers
  readonly rule: FinalityRule
  readonly quorum: QuorumClient<TronView>
  readonly transactions: ReturnType<typeof createTronTransactions>
}

const codec = createTronCodec()

/**
 * Reads the facts of a `tron-vm` chain that oracles attest, over its HTTP API from solidified (irreversible)
 * blocks. Final transactions are cached; missing and failed ones, and those that are not final, are read
 * again. Identical questions in flight are one. Events and payments are judged by the rules of `ethereum-vm`.
 * @throws InvalidAddressError for a depository that is no address; ConfigurationError for a payer that can be none
 * @source rules F-123, F-125, F-126, F-127
 */
export function createTronFactsReader(options: TronFactsReaderOptions): TronFactsReader {
  const { chain, quorum, recordsPayments = () => false } = options
  const rule = finalityRule(chain)
  const limits = { ...defaultReaderLimits, ...options.limits }
  const transactions = createTronTransactions({ quorum, rule, limits, recordsPayments })
  const address = codec.canonicalAddress(chain.depository)
  const reading: Reading = {
    depository: { address, account: tronHexAddress(address) },
    payers: listedPayers(chain, codec, tronHexAddress),
    rule,
    quorum,
    transactions,
  }
  const reader = createFactsReader({
    chainId: chain.id,
    // Addresses and ids are spelled alike on all networks.
    network: mainNetwork('tron-vm'),
    finalityRule: describeSolidity(rule),
    forget: transactions.forget,
    readDeposits: (transactionId, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(reading, withdrawal),
    withdrawRequest: tronFamily.withdrawRequest,
  })
  return { ...reader, finalBlocks: tronFinalBlocks(quorum, rule) }
}

async function readDeposits(
  { depository, transactions }: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<FoundDeposits<KnownBlock>> {
  const { final, evidence } = await transactions.read(
    {
      transactionId,
      purpose: 'deposits',
      wanted: {
        transaction: (logs) => needsTransaction(logs, depository),
        // A deposit's id on the chain has the position of its log in the block; no account's code matters.
        positions: (logs) => findTronDeposits(logs, depository).length > 0,
        codeOf: () => [],
      },
    },
    signal,
  )
  return {
    blockTimestampSeconds: final.blockTimestampSeconds,
    deposits: findTronDeposits(final.logs, depository, final.transaction),
    evidence,
  }
}

async function readPayment(
  { transactions, payers }: Reading,
  { transactionId, orderId, extraData, payments, calls = [] }: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment<KnownBlock>> {
  const targets = payments.map(targetOf)
  const side = solverSideOf(payers, extraData)
  const terms = paymentTerms({ orderId, side, targets, calls })
  const { final, evidence } = await transactions.read(
    {
      transactionId,
      purpose: 'payment',
      // Accounts of `codeOf` depend on these alone: questions that differ otherwise share a reading.
      variant: JSON.stringify([side.chosen, targets]),
      wanted: {
        transaction: 'always',
        positions: () => false,
        codeOf: (logs, transaction) =>
          transaction === undefined ? [] : accountsWhoseCodeMatters({ logs, transaction }, terms),
      },
    },
    signal,
  )
  const { transaction, logs, code, blockTimestampSeconds } = final
  if (transaction === undefined) throw new Error('a payment was read without its transaction')
  const unlisted = unlistedFillContract(side, transaction)
  return {
    blockTimestampSeconds,
    evidence,
    referencesOrder: referencesOrder(transaction, orderId),
    ...provePayment({ logs, transaction, code }, targets, terms),
    ...(unlisted !== undefined && { unlistedFillContract: tronAddress(unlisted) }),
  }
}

function targetOf({ recipient, currency }: PaymentQuestion['payments'][number]): PaymentTarget {
  return { recipient, currency, account: tronHexAddress(recipient), token: tronHexAddress(currency) }
}

function prepareWithdrawal(
  { quorum, rule, depository: { address, account } }: Reading,
  withdrawal: Hex,
): WithdrawalReading<FinalWithdrawal> {
  const { threshold } = quorum
  const terms = readWithdrawalTerms(withdrawal)
  const transfer = tronWithdrawalTransfer(decodeEvmWithdrawal(withdrawal))
  return {
    withdrawalId: terms.withdrawalId,
    read(transactionId, signal) {
      const question = withdrawalQuestion({ terms, depository: account, transactionId, rule, threshold })
      return quorum.read({ ...question, transactionId, signal })
    },
    describe: ({ status, isExecuting, finalBlock: { number, hash } }, transactionId) => ({
      depository: address,
      status,
      ...transfer,
      ...(isExecuting && transactionId !== undefined && { executingTransactionId: transactionId }),
      shownIn: { blockHash: hash, blockNumber: number },
    }),
  }
}

/** Final blocks of a `tron-vm` chain, by number and id. */
function tronFinalBlocks(quorum: QuorumClient<TronView>, rule: FinalityRule): FinalBlocks {
  return createFinalBlocks(quorum, {
    newest: {
      first: readHeads,
      pin: (heads) => pinSolidHeight(rule, quorum.threshold, heads).height,
      async second(view, _ownHeads, height, signal) {
        // The chain is younger than its own finality: none of its blocks is final.
        if (height < 0n) return { kind: 'not_final', waitSeconds: 1 }
        const { number, hash } = requireHeader(
          await askNode(view, solidHeaderRequest(height), signal),
          height,
        )
        return { kind: 'final', facts: { number, hash } }
      },
    },
    hashAt: async (view, number, signal) =>
      parseHeader(await askNode(view, headerRequest(number), signal), number)?.hash,
  })
}
