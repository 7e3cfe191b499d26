import {
  type Hex,
  onchainId,
  recoveryKey,
  refundedDeposit,
  refundId,
  type SqlDatabase,
  settlementExecutionKey,
} from '@causeway/core'
import type { FinalPayer, HubReader } from '@causeway/families'
import { finalitySecondsOf } from '../chain/depth.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { readDeposit, type StoredDeposit } from '../deposits/depositStore.ts'
import type { SettledRequest } from '../settledRequest.ts'
import { chainOf, type SettlementContext } from '../settlementContext.ts'
import type { PaymentRecord, PromiseFacts, RecoveredDeposit } from './promiseRule.ts'
import { type OrderWork, readOrderWork } from './recoveryStore.ts'

type FactsContext = Pick<SettlementContext, 'chains'> & {
  readonly database: Pick<SqlDatabase, 'query'>
  /** Undefined where no hub is configured: nothing counts as settled. */
  readonly hub: Pick<HubReader, 'isExecuted'> | undefined
}

/**
 * Reads the facts for `promiseObstacle`: stored work, and the payment records of every fill wallet at final blocks, by quorum.
 * @throws DomainError where endpoints are silent or contradict each other
 */
export async function readPromiseFacts(
  context: FactsContext,
  request: SettledRequest,
  signal: AbortSignal,
): Promise<PromiseFacts> {
  const { requestId, orderId, deadlineSeconds, destinationChainId } = request
  const work = await readOrderWork(context.database, requestId)
  const destination = chainOf(context, destinationChainId)
  const fills = work.payments.filter(({ kind }) => kind === 'fill')
  const deposits: RecoveredDeposit[] = []
  for (const id of work.deposits) {
    const deposit = await readDeposit(context.database, id)
    if (deposit !== undefined)
      deposits.push(await readDepositFacts(context, { request, deposit, work }, signal))
  }
  return {
    deposits,
    hasWork: work.hasWork,
    fills: await recordsOf(destination, { id: orderId, work: fills, endSeconds: deadlineSeconds }, signal),
  }
}

/** Facts of one deposit and its refunds. */
async function readDepositFacts(
  context: FactsContext,
  source: { readonly request: SettledRequest; readonly deposit: StoredDeposit; readonly work: OrderWork },
  signal: AbortSignal,
): Promise<RecoveredDeposit> {
  const { request, deposit, work } = source
  const { orderId, status, settlement } = request
  const chain = chainOf(context, deposit.chainId)
  const refunds = work.payments.filter(({ depositId }) => depositId === deposit.id)
  const facts = await chain.deposits(deposit.txHash, signal)
  const onchainDeposit = facts?.deposits.find(({ onchainIndex }) => onchainIndex === deposit.onchainIndex)
  // The fill contract records the refund under this id; undefined while the deposit is in no block.
  const recordId =
    onchainDeposit &&
    facts &&
    refundId(orderId, refundedDeposit(onchainDeposit, { ...facts, chainId: chain.refundChainId }))
  // 0 where no refund was asked for, so that none can come.
  const endSeconds = Math.max(0, ...refunds.map(({ deadlineSeconds }) => deadlineSeconds))
  return {
    id: deposit.id,
    isFinal: recordId !== undefined && deposit.isFinal,
    isSettled: await isSettled(context, chain, { orderId, deposit }, signal),
    isBound: status === 'success' && settlement?.depositId === deposit.id,
    isRefunded: deposit.state === 'refunded' || refunds.some(({ isDone }) => isDone),
    refunds:
      recordId === undefined
        ? []
        : await recordsOf(chain, { id: recordId, work: refunds, endSeconds }, signal),
  }
}

/** Payment records of an id, of every fill wallet through every fill contract that work items named. */
async function recordsOf(
  { finalMark, finalSeconds, payers, chain }: SettlementChain,
  question: { readonly id: Hex; readonly work: OrderWork['payments']; readonly endSeconds: number },
  signal: AbortSignal,
): Promise<readonly PaymentRecord[]> {
  const { id, work, endSeconds } = question
  // Without records on the chain, work that is done tells of a payment; another is possible until its time is surely over.
  if (finalMark === undefined) {
    const seconds = await finalSeconds(signal)
    const open = {
      state: 'open',
      finalSeconds: seconds,
      endSeconds: endSeconds + finalitySecondsOf(chain),
    } as const
    return work.some(({ isDone }) => isDone) ? [{ ...open, state: 'paid' }, open] : [open]
  }
  const contracts = [...new Set([chain.config.fillContract, ...work.map(({ fillContract }) => fillContract)])]
  const fillContracts = contracts.filter((contract) => contract !== undefined)
  const finalPayers = payers.flatMap((address): readonly FinalPayer[] =>
    fillContracts.length === 0
      ? [{ address }]
      : fillContracts.map((fillContract) => ({ address, fillContract })),
  )
  const marks = await Promise.all(finalPayers.map((payer) => finalMark(payer, id, signal)))
  return marks.map(({ state, timestampSeconds }) => ({ state, finalSeconds: timestampSeconds, endSeconds }))
}

/** True if the hub has executed the settlement or the recovery of a deposit, each of which has its own key. */
async function isSettled(
  { hub }: FactsContext,
  { chain }: SettlementChain,
  { orderId, deposit }: { readonly orderId: Hex; readonly deposit: StoredDeposit },
  signal: AbortSignal,
): Promise<boolean> {
  if (hub === undefined) return false
  const { txHash: transactionId, onchainIndex } = deposit
  const id = onchainId({ chainId: chain.key, transactionId, onchainIndex })
  const keys = [settlementExecutionKey({ onchainIds: [id], orderId }), recoveryKey(id)]
  const executions = await Promise.all(keys.map((key) => hub.isExecuted(key, { signal })))
  return executions.includes(true)
}
