import { DomainError, type SqlTx, UpstreamDisagreementError, UpstreamUnavailableError } from '@causeway/core'
import { type PutAsideReason, putAsideReason } from '@causeway/families'
import type { Run } from '../../../jobs/runJobs.ts'
import { setDepositing } from '../../status/requestProgress.ts'
import {
  forgetUnfollowed,
  listDuePutAside,
  noteTry,
  putAside,
  type StoredPutAside,
  takeFromAside,
} from '../../work/putAsideStore.ts'
import { markDeposited } from '../../work/workStore.ts'
import type { SettlementChain } from '../chain/settlementChain.ts'
import { type NewDeposit, recordDeposit } from '../deposits/depositStore.ts'
import type { SettlementContext } from '../settlementContext.ts'

/** A chain as far as deposits are read of it. */
export type DepositChain = Pick<SettlementChain, 'deposits'> & {
  readonly chain: Pick<SettlementChain['chain'], 'chainId'>
}

export type KeepingContext = Pick<SettlementContext, 'announce' | 'observe'>

export type FoundDeposit = Omit<NewDeposit, 'minedAfterSeconds'>

/** The content of a transaction, or why it cannot be read. */
export type DepositsRead = { readonly deposits: readonly FoundDeposit[] } | { readonly aside: PutAsideReason }

/** @returns undefined of a transaction that left the chain or failed. @throws what `SettlementChain.deposits` throws */
async function readDeposits(
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
    const reason = putAsideReason(error)
    if (reason === undefined) throw error
    return { aside: reason }
  }
}

/** Transactions read at once. */
const readingsAtOnce = 8

type UnreadTransaction = { readonly transactionId: string; readonly reason: PutAsideReason }

export type ReadTransactions = {
  readonly found: readonly FoundDeposit[]
  readonly aside: readonly UnreadTransaction[]
  /** Transactions that were read or put aside. */
  readonly settled: readonly string[]
  /** They held no deposit. */
  readonly empty: readonly string[]
  /** They left the chain, or failed, as far as endpoints know by now. */
  readonly gone: readonly string[]
  readonly failed: readonly { readonly transactionId: string; readonly error: Error }[]
  /** Transactions that the time did not suffice for. */
  readonly unread: readonly string[]
}

/**
 * A transaction keeps no other one from being read, whatever becomes of its own reading.
 * @param mayRead false of one that there is no time for
 */
export async function readTransactions(
  chain: DepositChain,
  transactions: readonly string[],
  signal: AbortSignal,
  mayRead: (transactionId: string) => boolean = () => true,
): Promise<ReadTransactions> {
  const found: FoundDeposit[] = []
  const aside: UnreadTransaction[] = []
  const settled: string[] = []
  const empty: string[] = []
  const gone: string[] = []
  const failed: { transactionId: string; error: Error }[] = []
  const unread: string[] = []
  const readOne = async (transactionId: string) => {
    if (!mayRead(transactionId)) {
      unread.push(transactionId)
      return
    }
    try {
      const read = await readDeposits(chain, transactionId, signal)
      if (read === undefined) {
        gone.push(transactionId)
        return
      }
      if ('aside' in read) aside.push({ transactionId, reason: read.aside })
      else found.push(...read.deposits)
      const isEmpty = 'deposits' in read && read.deposits.length === 0
      const list = isEmpty ? empty : settled
      list.push(transactionId)
    } catch (error) {
      const isSilence =
        error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
      if (!isSilence || signal.aborted) throw error
      failed.push({ transactionId, error })
    }
  }
  for (let next = 0; next < transactions.length; next += readingsAtOnce)
    await Promise.all(transactions.slice(next, next + readingsAtOnce).map(readOne))
  return { found, aside, settled, empty, gone, failed, unread }
}

/** @param minedAfterSeconds of a block, as `NewDeposit` has it */
export async function keepRead(
  context: KeepingContext,
  tx: SqlTx,
  chainId: number,
  { found, aside }: Pick<ReadTransactions, 'found' | 'aside'>,
  minedAfterSeconds: (blockNumber: bigint) => number | undefined,
): Promise<void> {
  const deposits = found.map((one) => ({ ...one, minedAfterSeconds: minedAfterSeconds(one.blockNumber) }))
  await keepDeposits(context, tx, deposits)
  await putAside(
    tx,
    aside.map((one) => ({ ...one, chainId, purpose: 'deposits' })),
  )
}

/** Keeps what is a deposit of an order of ours. */
async function keepDeposits(
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
  const limits = { purpose: 'deposits', limit: triesAtOnce } as const
  const due = await listDuePutAside(context.database, [...context.chains.keys()], limits)
  await Promise.all(due.map((storedTransaction) => retry(context, storedTransaction, run)))
  await forgetUnfollowed(context.database)
}

async function retry(
  context: RetryContext,
  storedTransaction: StoredPutAside,
  { fence, signal }: Run,
): Promise<void> {
  const chain = context.chains.get(storedTransaction.chainId)
  if (chain === undefined) return
  const read = await readDeposits(chain, storedTransaction.transactionId, signal).catch((error: unknown) => {
    if (error instanceof DomainError) return undefined
    throw error
  })
  await context.database.transaction(async (tx) => {
    await fence(tx)
    if (read === undefined || 'aside' in read) return noteTry(tx, storedTransaction, read?.aside)
    // This block was not watched when it was made.
    const deposits = read.deposits.map((deposit) => ({ ...deposit, minedAfterSeconds: undefined }))
    await keepDeposits(context, tx, deposits)
    await takeFromAside(tx, storedTransaction)
  })
}
