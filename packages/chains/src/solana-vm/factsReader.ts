import {
  ConfigurationError,
  type DepositFacts,
  type Evidence,
  type FactsReader,
  type FinalBlocks,
  mainNetwork,
  normaliseWithdrawRequest,
  type PaymentFacts,
  type PaymentQuestion,
  solanaCodec,
  type WithdrawalFacts,
  type WithdrawalQuestion,
} from '@causeway/core'
import { type ListedChain, type ListedPayers, listedPayers } from '../config/listedPayers.ts'
import { OneFlight } from '../rpc/oneFlight.ts'
import type { AgreedFacts, QuorumClient } from '../rpc/quorumClient.ts'
import { defaultKeptLimits, type KeptLimits, RememberedReadings } from '../rpc/rememberedReadings.ts'
import { runAsOne } from '../rpc/runAsOne.ts'
import { findDeposits } from './deposits.ts'
import { solanaFinalBlocks } from './finalBlocks.ts'
import { referencesOrder, sumTransfers } from './payments.ts'
import { deriveProgramAddresses, type ProgramAddresses } from './programAddresses.ts'
import { type FinalTransaction, transactionQuestion } from './readFinalTransaction.ts'
import { type FinalWithdrawal, withdrawalQuestion } from './readFinalWithdrawal.ts'
import { readWithdrawalTerms } from './withdrawals.ts'

export type SolanaReaderLimits = KeptLimits

export type SolanaFactsReaderOptions = {
  readonly chain: ListedChain
  readonly quorum: QuorumClient
  readonly limits?: Partial<SolanaReaderLimits>
}

export interface SolanaFactsReader extends FactsReader {
  readonly finalBlocks: FinalBlocks
  /** Drops what is remembered: for a chain that was halted and is followed again. */
  forget(): void
}

type KnownTransaction = { readonly final: FinalTransaction; readonly evidence: Evidence }

type Reading = {
  readonly chainId: string
  readonly depository: string
  readonly payers: ListedPayers
  readonly quorum: QuorumClient
  readonly transactions: RememberedReadings<KnownTransaction>
  readonly withdrawals: OneFlight<AgreedFacts<FinalWithdrawal>>
  /** Derived when first needed. */
  addresses(): Promise<ProgramAddresses>
}

const finalityRule = 'commitment finalized'

/**
 * Facts of a `solana-vm` chain. What is final is remembered, in bounded memory, and never read again; what
 * is not final, missing or failed is never remembered. Identical questions in flight are one.
 * @throws ConfigurationError when the chain has no depository, or lists what can pay no fill
 * @source oracle-protocol.md 5.2; design.md 7.5
 */
export function createSolanaFactsReader(options: SolanaFactsReaderOptions): SolanaFactsReader {
  const { chain, quorum } = options
  const limits = { ...defaultKeptLimits, ...options.limits }
  if (chain.depository === undefined) throw new ConfigurationError(`chain ${chain.id} has no depository`)
  const depository = solanaCodec.canonicalAddress(chain.depository)
  let derived: Promise<ProgramAddresses> | undefined
  const transactions = new RememberedReadings<KnownTransaction>({
    chainId: chain.id,
    limits,
    weightOf: ({ final }) => weightOf(final),
  })
  const reading: Reading = {
    chainId: chain.id,
    depository,
    payers: listedPayers(chain, solanaCodec),
    quorum,
    transactions,
    withdrawals: new OneFlight(),
    addresses() {
      derived ??= deriveProgramAddresses(depository)
      return derived
    },
  }
  return {
    chainId: chain.id,
    vmType: 'solana-vm',
    finalBlocks: solanaFinalBlocks(quorum),
    forget: () => transactions.forget(),
    readDeposits: ({ transactionId }, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    readWithdrawal: (question, { signal }) => readWithdrawal(reading, question, signal),
    readWithdrawRequest: async (question) => normaliseWithdrawRequest(mainNetwork('solana-vm'), question),
  }
}

async function readDeposits(
  reading: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<DepositFacts> {
  const [{ final, evidence }, addresses] = await Promise.all([
    readKnown(reading, transactionId, signal),
    reading.addresses(),
  ])
  return {
    kind: 'deposits',
    transactionId: final.transactionId,
    blockTimestampSeconds: final.blockTimestampSeconds,
    deposits: findDeposits(final, { depository: reading.depository, addresses }),
    evidence,
  }
}

async function readPayment(
  reading: Reading,
  { transactionId, orderId, payments }: PaymentQuestion,
  signal: AbortSignal,
): Promise<PaymentFacts> {
  const targets = payments.map(({ recipient, currency }) => ({
    recipient: solanaCodec.canonicalAddress(recipient),
    currency: solanaCodec.canonicalAddress(currency),
  }))
  const [{ final, evidence }, { vault }] = await Promise.all([
    readKnown(reading, transactionId, signal),
    reading.addresses(),
  ])
  const isPayer = (account: string) =>
    account !== vault && (final.signers.includes(account) || reading.payers.fillPayers.has(account))
  return {
    kind: 'payment',
    transactionId: final.transactionId,
    blockTimestampSeconds: final.blockTimestampSeconds,
    referencesOrder: referencesOrder(final, orderId),
    transfers: sumTransfers(final, targets, isPayer),
    evidence,
  }
}

async function readWithdrawal(
  reading: Reading,
  question: WithdrawalQuestion,
  signal: AbortSignal,
): Promise<WithdrawalFacts> {
  const { chainId, quorum, depository } = reading
  const terms = readWithdrawalTerms(question.withdrawal)
  const transactionId =
    question.transactionId === undefined
      ? undefined
      : solanaCodec.canonicalTransactionId(question.transactionId)
  const { withdrawalId, currency, amount, recipient } = terms
  const usedRequest = (await reading.addresses()).usedRequest(withdrawalId)
  const { threshold } = quorum
  const rounds = withdrawalQuestion({ terms, depository, usedRequest, transactionId, threshold })
  const { facts, agreeingEndpoints } = await runAsOne(
    reading.withdrawals,
    { key: `${withdrawalId} ${transactionId ?? ''}`, chainId, signal },
    (shared) => quorum.read({ ...rounds, transactionId, signal: shared }),
  )
  const { slot, hash } = facts.finalBlock
  return {
    ...{ kind: 'withdrawal', withdrawalId, depository, status: facts.status, currency, amount, recipient },
    ...(facts.isExecuting && transactionId !== undefined && { executingTransactionId: transactionId }),
    evidence: { chainId, blockHash: hash, blockNumber: slot, finalityRule, agreeingEndpoints },
  }
}

/** @throws InvalidTransactionIdError, and what `QuorumClient.read` throws */
async function readKnown(
  reading: Reading,
  requested: string,
  signal: AbortSignal,
): Promise<KnownTransaction> {
  const transactionId = solanaCodec.canonicalTransactionId(requested)
  return reading.transactions.read({ key: transactionId }, signal, (shared) =>
    readAgreed(reading, transactionId, shared),
  )
}

async function readAgreed(
  { chainId, depository, quorum }: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<KnownTransaction> {
  const question = transactionQuestion({ transactionId, depository })
  const { facts, agreeingEndpoints } = await quorum.read({ ...question, transactionId, signal })
  const { blockHash, slot } = facts
  return {
    final: facts,
    evidence: { chainId, blockHash, blockNumber: slot, finalityRule, agreeingEndpoints },
  }
}

/** Characters: what a string costs most of. */
function weightOf({ instructions, balances, tokenBalances }: FinalTransaction): number {
  const names = instructions.reduce((sum, { data, accounts }) => sum + data.length + 50 * accounts.length, 0)
  return 500 + names + 100 * balances.length + 250 * tokenBalances.length
}
