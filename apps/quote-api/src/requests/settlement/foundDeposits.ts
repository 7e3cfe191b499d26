import { type PutAsideReason, putAsideReason } from '@causeway/chains'
import { DomainError, type SqlTx } from '@causeway/core'
import type { Run } from '../../jobs/runJobs.ts'
import { setDepositing } from '../status/requestProgress.ts'
import { markDeposited } from '../work/workStore.ts'
import { type NewDeposit, recordDeposit } from './depositStore.ts'
import { listDuePutAside, noteTry, type StoredPutAside, takeFromAside } from './putAsideStore.ts'
import type { SettlementChain } from './settlementChain.ts'
import type { SettlementContext } from './settlementContext.ts'

/** A chain as far as deposits are read of it. */
export type DepositChain = Pick<SettlementChain, 'deposits'> & {
  readonly chain: Pick<SettlementChain['chain'], 'chainId'>
}

type KeepingContext = Pick<SettlementContext, 'announce' | 'observe'>

export type FoundDeposit = Omit<NewDeposit, 'minedAfterSeconds'>

/** The content of a transaction, or why it cannot be read. */
export type DepositsRead = { readonly deposits: readonly FoundDeposit[] } | { readonly aside: PutAsideReason }

/** @returns undefined of a transaction that left the chain or failed. @throws what `SettlementChain.deposits` throws */
export async function readDeposits(
  chain: DepositChain,
  transaction: string,
  signal: AbortSignal,
): Promise<DepositsRead | undefined> {
  try {
    const facts = await chain.deposits(transaction, signal)
    if (facts === undefined) return undefined
    const deposits = facts.deposits.map(({ onchainIndex, depositId, depositor, currency, amount }) => ({
      chainId: chain.chain.chainId,
      txHash: facts.transactionId,
      onchainIndex,
      blockNumber: facts.evidence.blockNumber,
      blockHash: facts.evidence.blockHash,
      blockTimeSeconds: facts.blockTimestampSeconds,
      orderId: depositId,
      depositor,
      currency,
      amount,
    }))
    return { deposits }
  } catch (error) {
    const aside = putAsideReason(error)
    if (aside === undefined) throw error
    return { aside }
  }
}

/** Keeps what is a deposit of an order of ours. */
export async function keepDeposits(
  context: KeepingContext,
  tx: SqlTx,
  deposits: readonly NewDeposit[],
): Promise<void> {
  for (const deposit of deposits) {
    const requestId = await recordDeposit(tx, deposit)
    if (requestId === undefined) continue
    context.observe({ event: 'deposit_seen', requestId })
    await setDepositing(tx, context.announce, requestId)
    await markDeposited(tx, requestId, true)
  }
}

type RetryContext = KeepingContext &
  Pick<SettlementContext, 'database'> & { readonly chains: ReadonlyMap<number, DepositChain> }

/** Limits of one run: transactions of a stranger cost no more readings than these. */
const triesAtOnce = 8

/**
 * Tries what was put aside again, all chains together. What is read at last is kept as if it was just found; what is not
 * stays. A transaction that the chain does not show stays too, for endpoints forget.
 */
export async function retryPutAside(context: RetryContext, run: Run): Promise<void> {
  const due = await listDuePutAside(context.database, [...context.chains.keys()], triesAtOnce)
  await Promise.all(due.map((aside) => retry(context, aside, run)))
}

async function retry(context: RetryContext, aside: StoredPutAside, { fence, signal }: Run): Promise<void> {
  const chain = context.chains.get(aside.chainId)
  if (chain === undefined) return
  const read = await readDeposits(chain, aside.transactionId, signal).catch((error: unknown) => {
    if (error instanceof DomainError) return undefined
    throw error
  })
  await context.database.transaction(async (tx) => {
    await fence(tx)
    if (read === undefined || 'aside' in read) return noteTry(tx, aside, read?.aside)
    // Nobody looked when its block was made.
    const found = read.deposits.map((deposit) => ({ ...deposit, minedAfterSeconds: undefined }))
    await keepDeposits(context, tx, found)
    await takeFromAside(tx, aside)
  })
}
