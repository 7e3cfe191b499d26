import {
  ConfigurationError,
  codecOf,
  type FactsReader,
  type Hex,
  mainNetwork,
  normaliseWithdrawRequest,
  type WithdrawalFacts,
  type WithdrawalQuestion,
} from '@causeway/core'
import type { RegisteredChain } from '../config/chainRegistry.ts'
import type { HttpView } from '../rpc/httpView.ts'
import { OneFlight } from '../rpc/oneFlight.ts'
import { oneRound } from '../rpc/oneRound.ts'
import type { AgreedFacts, QuorumClient } from '../rpc/quorumClient.ts'
import { runAsOne } from '../rpc/runAsOne.ts'
import type { LighterAccount } from './answers.ts'
import { readAccount } from './api.ts'
import { createFinalTransactions, finalityRule, type LighterReaderLimits } from './finalTransactions.ts'
import { OwnerAccountError, PayingAccountError } from './lighterErrors.ts'
import { lighterNetworkOf } from './networks.ts'
import { type SeenWithdrawal, withdrawalQuestion } from './readWithdrawal.ts'
import type { FindTransfers } from './transferLookup.ts'
import { findDeposits, referencesOrder, sumTransfers } from './transfers.ts'
import { readWithdrawalTerms } from './withdrawals.ts'

export type LighterFactsReaderOptions = {
  readonly chain: Pick<RegisteredChain, 'id' | 'network' | 'depository' | 'additionalDepositories'>
  readonly quorum: QuorumClient<HttpView>
  /** Where endpoints cannot be asked for what an account paid. */
  readonly findTransfers: FindTransfers
  readonly limits?: Partial<LighterReaderLimits>
}

export interface LighterFactsReader extends FactsReader {
  readOwnerKey(account: string, options: { readonly signal: AbortSignal }): Promise<Hex>
  forget(): void
}

const family = mainNetwork('lighter-vm')
const codec = codecOf(family)

/**
 * Facts of a `lighter-vm` chain, read over its HTTP API. What was executed is remembered; an account's key and
 * what waits or failed never is.
 * @throws ConfigurationError for a depository that is no account, and for another network
 * @source oracle-protocol.md 5.5; design.md 7.5
 */
export function createLighterFactsReader(options: LighterFactsReaderOptions): LighterFactsReader {
  const { chain, quorum, findTransfers, limits = {} } = options
  const { lighterChainId } = lighterNetworkOf(chain)
  const depositories = depositoriesOf(chain)
  const transactions = createFinalTransactions({ quorum, limits })
  const withdrawals = new OneFlight<AgreedFacts<SeenWithdrawal>>()

  async function readWithdrawal(
    question: WithdrawalQuestion,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<WithdrawalFacts> {
    const terms = readWithdrawalTerms(question.withdrawal, lighterChainId)
    const { withdrawalId, payer, currency, amount, recipient } = terms
    if (!depositories.includes(payer)) throw new PayingAccountError(payer, chain.id)
    const named =
      question.transactionId === undefined ? [] : [codec.canonicalTransactionId(question.transactionId)]
    const key = `${withdrawalId} ${named.join()}`
    const { facts, agreeingEndpoints } = await runAsOne(
      withdrawals,
      { key, chainId: chain.id, signal },
      async (shared) => {
        const candidates = [...new Set([...named, ...(await findTransfers({ payer, recipient }, shared))])]
        const rounds = withdrawalQuestion({ terms, candidates, lighterChainId })
        return quorum.read({ ...rounds, signal: shared })
      },
    )
    return {
      ...{ kind: 'withdrawal', withdrawalId, depository: payer, status: facts.status },
      ...{ currency, amount, recipient },
      ...(facts.transactionId !== undefined && { executingTransactionId: facts.transactionId }),
      ...(facts.pendingReason !== undefined && { pendingReason: facts.pendingReason }),
      evidence: { chainId: chain.id, finalityRule, agreeingEndpoints },
    }
  }

  async function readOwnerKey(asked: string, { signal }: { readonly signal: AbortSignal }): Promise<Hex> {
    const account = codec.canonicalAddress(asked)
    const { facts } = await quorum.read({
      ...oneRound<{ readonly found: LighterAccount | undefined }, HttpView>(async (view, own) => ({
        kind: 'final',
        facts: { found: await readAccount(view, account, own) },
      })),
      signal,
    })
    if (facts.found === undefined) throw new OwnerAccountError('OWNER_ACCOUNT_NOT_FOUND', account, chain.id)
    const { key } = facts.found
    if (key === undefined) throw new OwnerAccountError('OWNER_ACCOUNT_WITHOUT_KEY', account, chain.id)
    return key
  }

  return {
    chainId: chain.id,
    vmType: 'lighter-vm',
    forget: transactions.forget,
    async readDeposits(question, { signal }) {
      const transactionId = codec.canonicalTransactionId(question.transactionId)
      const { final, evidence } = await transactions.read(transactionId, signal)
      return {
        kind: 'deposits',
        transactionId,
        blockTimestampSeconds: final.queuedAtMs / 1_000n,
        deposits: findDeposits(final.transfer, depositories),
        evidence,
      }
    },
    async readPayment({ orderId, payments, ...question }, { signal }) {
      const transactionId = codec.canonicalTransactionId(question.transactionId)
      const targets = payments.map(({ recipient, currency }) => ({
        recipient: codec.canonicalAddress(recipient),
        currency: codec.canonicalAddress(currency),
      }))
      const { final, evidence } = await transactions.read(transactionId, signal)
      return {
        kind: 'payment',
        transactionId,
        blockTimestampSeconds: final.queuedAtMs / 1_000n,
        referencesOrder: referencesOrder(final.transfer, orderId),
        transfers: sumTransfers(final.transfer, targets, depositories),
        evidence,
      }
    },
    readWithdrawal,
    readOwnerKey,
    readWithdrawRequest: async (question) => normaliseWithdrawRequest(family, question),
  }
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
