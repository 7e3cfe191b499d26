import type {
  DepositFact,
  DepositFacts,
  Evidence,
  FactsReader,
  Hex,
  PaymentFacts,
  PaymentQuestion,
  ReadOptions,
  WithdrawalFacts,
  WithdrawalQuestion,
  WithdrawRequestFacts,
  WithdrawRequestQuestion,
} from '@causeway/core'
import { type ChainNetwork, codecOf, type VmCodec } from '@causeway/core/encodings'
import type { AgreedFacts } from '@causeway/rpc'
import { SingleFlight, shareChainReading } from '@causeway/rpc'
import { type SpellWithdrawRequest, spellWithdrawRequest } from '../rules/withdrawRequestParts.ts'
import type { ShownIn } from './finalTransactions.ts'

/** Time of a final transaction, and the evidence for its block. */
export type ProvenTransaction<Block extends ShownIn = ShownIn> = {
  readonly blockTimestampSeconds: bigint
  readonly evidence: Evidence & Block
}

/** A family's answer about the deposits of a transaction. */
export type FoundDeposits<Block extends ShownIn = ShownIn> = ProvenTransaction<Block> & {
  /** In on-chain order. */
  readonly deposits: readonly DepositFact[]
}

/** A family's answer about a payment. */
export type FoundPayment<Block extends ShownIn = ShownIn> = ProvenTransaction<Block> &
  Pick<
    PaymentFacts,
    'referencesOrder' | 'transfers' | 'calls' | 'recordId' | 'recordProblem' | 'unlistedFillContract'
  >

/** The reading of one withdrawal, prepared from its bytes. `Seen` is the family's own type of its state. */
export type WithdrawalReading<Seen> = {
  readonly withdrawalId: Hex
  /**
   * Reads the withdrawal's state. Callers who ask for the same withdrawal and transaction at once share one reading.
   * @param transactionId canonical; of the transaction that is said to execute the withdrawal
   */
  read(transactionId: string | undefined, signal: AbortSignal): Promise<AgreedFacts<Seen>>
  /** The facts for one caller, from the state and the bytes that this caller sent. Makes no request. */
  describe(withdrawal: Seen, transactionId: string | undefined): DescribedWithdrawal
}

export type DescribedWithdrawal = Omit<WithdrawalFacts, 'kind' | 'withdrawalId' | 'evidence'> & {
  readonly shownIn: ShownIn
}

/**
 * A family's part of the facts reader of one chain. It gets canonical transaction ids and accounts; each function
 * throws the errors of `QuorumClient.read`.
 */
export type FactsFamily<Seen, Block extends ShownIn = ShownIn> = {
  /** String id of the chain in the configuration. */
  readonly chainId: string
  /** Decides how ids and accounts are spelled. */
  readonly network: ChainNetwork
  /** Why facts count as final, for the evidence of withdrawals. */
  readonly finalityRule: string
  /** Empties the cache, after a chain that was halted is followed again. */
  forget(): void
  readDeposits(transactionId: string, options: ReadOptions): Promise<FoundDeposits<Block>>
  readPayment(question: PaymentQuestion, options: ReadOptions): Promise<FoundPayment<Block>>
  /** Makes no request. @throws InvalidWithdrawalError */
  prepareWithdrawal(withdrawal: Hex): WithdrawalReading<Seen>
  readonly withdrawRequest: SpellWithdrawRequest
  /**
   * Verifies data of the chain that a withdraw request states, in families whose payloads depend on it.
   * @throws InvalidWithdrawRequestError if the chain contradicts it
   */
  proveWithdrawRequest?(
    question: WithdrawRequestQuestion,
    options: ReadOptions,
  ): Promise<Evidence | undefined>
}

/** The facts reader of one chain, as services use it. */
export interface FamilyReader<Block extends ShownIn = ShownIn> extends FactsReader {
  readDeposits(
    ...args: Parameters<FactsReader['readDeposits']>
  ): Promise<DepositFacts & ProvenTransaction<Block>>
  readPayment(
    ...args: Parameters<FactsReader['readPayment']>
  ): Promise<PaymentFacts & ProvenTransaction<Block>>
  /** Empties the cache, after a chain that was halted is followed again. */
  forget(): void
}

/**
 * Common part of all families' facts readers: makes ids and accounts canonical, calls the family, and turns its answers
 * into facts. Identical questions about withdrawals in flight share one reading. Functions of some families only
 * (`finalBlocks`, `readOwnerKey`, `readCodeSignature`) are added by these.
 * @source rule P-94
 */
export function createFactsReader<Seen, Block extends ShownIn = ShownIn>(
  family: FactsFamily<Seen, Block>,
): FamilyReader<Block> {
  const { chainId, network } = family
  const codec = codecOf(network)
  const withdrawals = new SingleFlight<AgreedFacts<Seen>>()
  return {
    chainId,
    vmType: network.vmType,
    forget: () => family.forget(),
    async readDeposits(question, options) {
      const transactionId = codec.canonicalTransactionId(question.transactionId)
      const { blockTimestampSeconds, deposits, evidence } = await family.readDeposits(transactionId, options)
      return { kind: 'deposits', transactionId, blockTimestampSeconds, deposits, evidence }
    },
    async readPayment(question, options) {
      const canonical = canonicalPayment(codec, question)
      const { transactionId } = canonical
      const { blockTimestampSeconds, evidence, ...paymentFacts } = await family.readPayment(
        canonical,
        options,
      )
      return { kind: 'payment', transactionId, blockTimestampSeconds, ...paymentFacts, evidence }
    },
    readWithdrawal: (question, options) => readWithdrawal(family, { codec, withdrawals }, question, options),
    readWithdrawRequest: (question, options) => readWithdrawRequest(family, question, options),
  }
}

function canonicalPayment(codec: VmCodec, question: PaymentQuestion): PaymentQuestion {
  return {
    ...question,
    transactionId: codec.canonicalTransactionId(question.transactionId),
    payments: question.payments.map(({ recipient, currency }) => ({
      recipient: codec.canonicalAddress(recipient),
      currency: codec.canonicalAddress(currency),
    })),
  }
}

async function readWithdrawal<Seen, Block extends ShownIn>(
  family: FactsFamily<Seen, Block>,
  { codec, withdrawals }: { readonly codec: VmCodec; readonly withdrawals: SingleFlight<AgreedFacts<Seen>> },
  question: WithdrawalQuestion,
  { signal }: ReadOptions,
): Promise<WithdrawalFacts> {
  const { chainId, finalityRule } = family
  const reading = family.prepareWithdrawal(question.withdrawal)
  const { withdrawalId } = reading
  const transactionId =
    question.transactionId === undefined ? undefined : codec.canonicalTransactionId(question.transactionId)
  const { facts, agreeingEndpoints } = await shareChainReading(
    withdrawals,
    { key: `${withdrawalId} ${transactionId ?? ''}`, chainId, signal },
    (sharedSignal) => reading.read(transactionId, sharedSignal),
  )
  const { shownIn, ...described } = reading.describe(facts, transactionId)
  const evidence = { chainId, ...shownIn, finalityRule, agreeingEndpoints }
  return { kind: 'withdrawal', withdrawalId, ...described, evidence }
}

async function readWithdrawRequest<Seen, Block extends ShownIn>(
  { network, withdrawRequest, proveWithdrawRequest }: FactsFamily<Seen, Block>,
  question: WithdrawRequestQuestion,
  options: ReadOptions,
): Promise<WithdrawRequestFacts> {
  const normalised = spellWithdrawRequest(withdrawRequest, question, network.network)
  const evidence = await proveWithdrawRequest?.(question, options)
  return { ...normalised, ...(evidence !== undefined && { evidence }) }
}
