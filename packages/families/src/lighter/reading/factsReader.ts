import {
  ConfigurationError,
  DomainError,
  type Hex,
  type PaymentQuestion,
  type ReadOptions,
} from '@causeway/core'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import type { HttpView, QuorumClient } from '@causeway/rpc'
import { singleRoundQuestion } from '@causeway/rpc'
import {
  createFactsReader,
  type FamilyReader,
  type FoundDeposits,
  type FoundPayment,
  type WithdrawalReading,
} from '../../shared/createFactsReader.ts'
import { lighterFamily } from '../rules/family.ts'
import type { LighterAccount } from './answers.ts'
import { readAccount } from './api.ts'
import {
  createLighterTransactions,
  finalityRule,
  type LighterReaderLimits,
  type LighterTransactions,
} from './finalTransactions.ts'
import { lighterNetworkOf } from './networks.ts'
import { type SeenWithdrawal, withdrawalQuestion } from './readWithdrawal.ts'
import type { FindTransfers } from './transferLookup.ts'
import { findDeposits, referencesOrder, sumTransfers } from './transfers.ts'
import { readWithdrawalTerms } from './withdrawals.ts'

export type LighterFactsReaderOptions = {
  readonly chain: {
    readonly id: string
    readonly network?: string | undefined
    readonly depository?: string | undefined
    readonly additionalDepositories?: readonly string[] | undefined
  }
  readonly quorum: QuorumClient<HttpView>
  /** Asks explorers for ids of transactions that may have executed a withdrawal; the quorum then checks each. */
  readonly findTransfers: FindTransfers
  readonly limits?: Partial<LighterReaderLimits>
}

export interface LighterFactsReader extends FamilyReader {
  /** EVM address that signs for an account, in lower case. @throws OwnerAccountError */
  readOwnerKey(account: string, options: ReadOptions): Promise<Hex>
}

type Reading = {
  readonly chainId: string
  readonly lighterChainId: bigint
  readonly depositories: readonly string[]
  readonly quorum: QuorumClient<HttpView>
  readonly findTransfers: FindTransfers
  readonly transactions: LighterTransactions
}

const mainLighter = mainNetwork('lighter-vm')
const codec = codecOf(mainLighter)

/**
 * Reads the facts of a `lighter-vm` chain that oracles attest, over its HTTP API. Executed transactions are cached;
 * accounts' keys, and transactions that wait or failed, are read again.
 * @throws ConfigurationError for a depository that is no account, and for another network
 * @source rules P-107, F-159, F-160, F-161, F-162
 */
export function createLighterFactsReader(options: LighterFactsReaderOptions): LighterFactsReader {
  const { chain, quorum, findTransfers, limits = {} } = options
  const { lighterChainId } = lighterNetworkOf(chain)
  const depositories = depositoriesOf(chain)
  const transactions = createLighterTransactions({ quorum, limits })
  const reading: Reading = {
    chainId: chain.id,
    lighterChainId,
    depositories,
    quorum,
    findTransfers,
    transactions,
  }
  const reader = createFactsReader({
    chainId: chain.id,
    network: mainLighter,
    finalityRule,
    forget: transactions.forget,
    readDeposits: (transactionId, { signal }) => readDeposits(reading, transactionId, signal),
    readPayment: (question, { signal }) => readPayment(reading, question, signal),
    prepareWithdrawal: (withdrawal) => prepareWithdrawal(reading, withdrawal),
    withdrawRequest: lighterFamily.withdrawRequest,
  })
  return { ...reader, readOwnerKey: (account, { signal }) => readOwnerKey(reading, account, signal) }
}

async function readDeposits(
  { depositories, transactions }: Reading,
  transactionId: string,
  signal: AbortSignal,
): Promise<FoundDeposits> {
  const { final, evidence } = await transactions.read(transactionId, signal)
  const deposits = findDeposits(final.transfer, depositories)
  // The time at which the exchange queued it stands for a block's time.
  return { blockTimestampSeconds: final.queuedAtMs / 1_000n, deposits, evidence }
}

async function readPayment(
  { depositories, transactions }: Reading,
  { transactionId, orderId, payments }: PaymentQuestion,
  signal: AbortSignal,
): Promise<FoundPayment> {
  const { final, evidence } = await transactions.read(transactionId, signal)
  return {
    blockTimestampSeconds: final.queuedAtMs / 1_000n,
    referencesOrder: referencesOrder(final.transfer, orderId),
    transfers: sumTransfers(final.transfer, payments, depositories),
    evidence,
  }
}

/** @throws PayingAccountError for a withdrawal from an account that is no depository */
function prepareWithdrawal(reading: Reading, withdrawal: Hex): WithdrawalReading<SeenWithdrawal> {
  const { chainId, lighterChainId, depositories, quorum, findTransfers } = reading
  const terms = readWithdrawalTerms(withdrawal, lighterChainId)
  const { withdrawalId, payer, currency, amount, recipient } = terms
  if (!depositories.includes(payer)) throw new PayingAccountError(payer, chainId)
  return {
    withdrawalId,
    async read(transactionId, signal) {
      const namedIds = transactionId === undefined ? [] : [transactionId]
      const candidates = [...new Set([...namedIds, ...(await findTransfers({ payer, recipient }, signal))])]
      return quorum.read({ ...withdrawalQuestion({ terms, candidates, lighterChainId }), signal })
    },
    describe: (withdrawalFacts) => ({
      depository: payer,
      status: withdrawalFacts.status,
      currency,
      amount,
      recipient,
      ...(withdrawalFacts.transactionId !== undefined && {
        executingTransactionId: withdrawalFacts.transactionId,
      }),
      ...(withdrawalFacts.pendingReason !== undefined && { pendingReason: withdrawalFacts.pendingReason }),
      // No block is named as evidence, because the exchange replaces nothing that it executed.
      shownIn: {},
    }),
  }
}

async function readOwnerKey(
  { chainId, quorum }: Reading,
  accountText: string,
  signal: AbortSignal,
): Promise<Hex> {
  const account = codec.canonicalAddress(accountText)
  const { facts } = await quorum.read({
    ...singleRoundQuestion<{ readonly found: LighterAccount | undefined }, HttpView>(
      async (view, viewSignal) => ({
        kind: 'final',
        facts: { found: await readAccount(view, account, viewSignal) },
      }),
    ),
    signal,
  })
  if (facts.found === undefined) throw new OwnerAccountError('OWNER_ACCOUNT_NOT_FOUND', account, chainId)
  const { key } = facts.found
  if (key === undefined) throw new OwnerAccountError('OWNER_ACCOUNT_WITHOUT_KEY', account, chainId)
  return key
}

/** Canonical, the primary one first. @throws ConfigurationError */
export function depositoriesOf({
  id,
  depository,
  additionalDepositories = [],
}: LighterFactsReaderOptions['chain']): readonly string[] {
  if (depository === undefined) throw new ConfigurationError(`chain ${id} has no depository`)
  return [depository, ...additionalDepositories].map((account) => {
    if (codec.isAddress(account)) return codec.canonicalAddress(account)
    throw new ConfigurationError(`chains: ${id}: a depository is no account index`)
  })
}

/** A withdrawal that pays from an account which is no depository of the chain. */
class PayingAccountError extends DomainError {
  readonly code = 'DEPOSITORY_NOT_CONFIGURED'
  readonly kind = 'invalid_request'

  constructor(account: string, chainId: string) {
    super(`Depository ${account} is not configured for chain ${chainId}.`, { data: { account, chainId } })
  }
}

/** An account that nobody can sign for. */
class OwnerAccountError extends DomainError {
  readonly code: 'OWNER_ACCOUNT_NOT_FOUND' | 'OWNER_ACCOUNT_WITHOUT_KEY'
  readonly kind = 'invalid_request'

  constructor(code: OwnerAccountError['code'], account: string, chainId: string) {
    const problem = { OWNER_ACCOUNT_NOT_FOUND: 'not found', OWNER_ACCOUNT_WITHOUT_KEY: 'without a key' }[code]
    super(`Account ${account} on chain ${chainId}: ${problem}.`, { data: { account, chainId } })
    this.code = code
  }
}
