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
import { normaliseWithdrawRequest } from '../registry/withdrawRequest.ts'
import type { ShownIn } from './finalTransactions.ts'

/** Proven place and time of a transaction. */
export type ProvenTransaction<Block extends ShownIn = ShownIn> = {
  readonly blockTimestampSeconds: bigint
  readonly evidence: Evidence & Block
}

export type FoundDeposits<Block extends ShownIn = ShownIn> = ProvenTransaction<Block> & {
  /** In on-chain order. */
  readonly deposits: readonly DepositFact[]
}

export type FoundPayment<Block extends ShownIn = ShownIn> = ProvenTransaction<Block> &
  Pick<
    PaymentFacts,
    'referencesOrder' | 'transfers' | 'calls' | 'recordId' | 'recordProblem' | 'unlistedFillContract'
  >

/** Question of one withdrawal's bytes to its chain. */
export type WithdrawalReading<Seen> = {
  readonly withdrawalId: Hex
  /**
   * State of the withdrawal. All who ask for the same withdrawal and transaction at the same time share one reading.
   * @param transactionId canonical; the one that is said to execute it
   */
  read(transactionId: string | undefined, signal: AbortSignal): Promise<AgreedFacts<Seen>>
  /** The facts for this caller, by the bytes that he sent himself. Asks nothing. */
  describe(withdrawal: Seen, transactionId: string | undefined): DescribedWithdrawal
}

export type DescribedWithdrawal = Omit<WithdrawalFacts, 'kind' | 'withdrawalId' | 'evidence'> & {
  readonly shownIn: ShownIn
}

/**
 * A family's part of a reader of its chains. Transaction ids and accounts are canonical when they arrive here; each
 * function throws what `QuorumClient.read` throws.
 */
export type FactsFamily<Seen, Block extends ShownIn = ShownIn> = {
  /** String id of the chain in the configuration. */
  readonly chainId: string
  /** Decides how ids and accounts are spelled. */
  readonly network: ChainNetwork
  /** Why facts count as final, for the evidence of withdrawals. */
  readonly finalityRule: string
  /** Drops what is remembered: for a chain that was halted and is followed again. */
  forget(): void
  readDeposits(transactionId: string, options: ReadOptions): Promise<FoundDeposits<Block>>
  readPayment(question: PaymentQuestion, options: ReadOptions): Promise<FoundPayment<Block>>
  /** Asks nothing. @throws InvalidWithdrawalError */
  prepareWithdrawal(withdrawal: Hex): WithdrawalReading<Seen>
  /**
   * Chain data that a withdraw request states, if the allocator's payload depends on it.
   * @throws InvalidWithdrawRequestError when the chain says otherwise
   */
  proveWithdrawRequest?(
    question: WithdrawRequestQuestion,
    options: ReadOptions,
  ): Promise<Evidence | undefined>
}

/** The reader of one chain, whatever its family. */
export interface FamilyReader<Block extends ShownIn = ShownIn> extends FactsReader {
  readDeposits(
    ...args: Parameters<FactsReader['readDeposits']>
  ): Promise<DepositFacts & ProvenTransaction<Block>>
  readPayment(
    ...args: Parameters<FactsReader['readPayment']>
  ): Promise<PaymentFacts & ProvenTransaction<Block>>
  /** Drops what is remembered: for a chain that was halted and is followed again. */
  forget(): void
}

/**
 * The frame of every family's reader: ids and accounts are made canonical, the family is asked, and what it
 * found becomes facts. Identical withdrawals in flight are one reading. What only some families have
 * (`finalBlocks`, `readOwnerKey`, `readCodeSignature`) they add beside it.
 * @source design.md 7.5
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
    (shared) => reading.read(transactionId, shared),
  )
  const { shownIn, ...described } = reading.describe(facts, transactionId)
  const evidence = { chainId, ...shownIn, finalityRule, agreeingEndpoints }
  return { kind: 'withdrawal', withdrawalId, ...described, evidence }
}

async function readWithdrawRequest<Seen, Block extends ShownIn>(
  { network, proveWithdrawRequest }: FactsFamily<Seen, Block>,
  question: WithdrawRequestQuestion,
  options: ReadOptions,
): Promise<WithdrawRequestFacts> {
  const normalised = normaliseWithdrawRequest(network, question)
  const evidence = await proveWithdrawRequest?.(question, options)
  return { ...normalised, ...(evidence !== undefined && { evidence }) }
}
