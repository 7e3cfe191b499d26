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

/** The part of a chain that reading deposits needs. */
export type DepositChain = Pick<SettlementChain, 'deposits'> & {
  readonly chain: Pick<SettlementChain['chain'], 'chainId'>
}

type KeepingContext = Pick<SettlementContext, 'announce' | 'observe'>
export type FindingContext = KeepingContext & Pick<SettlementContext, 'database'>

/** A deposit as its transaction shows it, before it is stored. */
export type FoundDeposit = Omit<NewDeposit, 'minedAfterSeconds'>

/** The deposits of a transaction, or the reason to put it aside. */
export type DepositsRead = { readonly deposits: readonly FoundDeposit[] } | { readonly aside: PutAsideReason }

/**
 * Reads the deposits of a transaction. @throws what `SettlementChain.deposits` throws
 * @returns undefined if it left the chain or failed
 */
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

type AsideTransaction = { readonly transactionId: string; readonly reason: PutAsideReason }

/** Result of reading some transactions. Each transaction is in one of the last five lists. */
export type ReadTransactions = {
  readonly found: readonly FoundDeposit[]
  readonly aside: readonly AsideTransaction[]
  /** Transactions that have a deposit, or were put aside. */
  readonly settled: readonly string[]
  /** Transactions without a deposit. */
  readonly empty: readonly string[]
  /** Transactions that by present knowledge left the chain or failed. */
  readonly gone: readonly string[]
  /** Transactions that endpoints did not answer for. */
  readonly failed: readonly { readonly transactionId: string; readonly error: Error }[]
  /** Transactions that `mayRead` refused for lack of time. */
  readonly unread: readonly string[]
}

/**
 * Reads the deposits of transactions, eight at a time. One that cannot be read does not stop the others.
 * @param mayRead false if there is no time left for a transaction
 */
export async function readTransactions(
  chain: DepositChain,
  transactions: readonly string[],
  signal: AbortSignal,
  mayRead: (transactionId: string) => boolean = () => true,
): Promise<ReadTransactions> {
  const found: FoundDeposit[] = []
  const aside: AsideTransaction[] = []
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
      if (isEmpty) empty.push(transactionId)
      else settled.push(transactionId)
    } catch (error) {
      const isSilence =
        error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
      if (!isSilence || signal.aborted) throw error
      failed.push({ transactionId, error })
    }
  }
  for (let start = 0; start < transactions.length; start += readingsAtOnce)
    await Promise.all(transactions.slice(start, start + readingsAtOnce).map(readOne))
  return { found, aside, settled, empty, gone, failed, unread }
}

/**
 * Stores found deposits, and puts unreadable transactions aside.
 * @param minedAfterSeconds gives `NewDeposit.minedAfterSeconds` for the deposits of a block
 */
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

/** Reports each transaction that was put aside. */
export function observeAside(
  { observe }: KeepingContext,
  chainId: number,
  asideTransactions: ReadTransactions['aside'],
): void {
  for (const transaction of asideTransactions) observe({ event: 'put_aside', chainId, ...transaction })
}

/** Stores deposits of known orders, and shows them with their requests. */
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
    // A permit that makes this deposit needs no solver any more.
    await markDeposited(tx, requestId, true)
  }
}

type RetryContext = FindingContext & { readonly chains: ReadonlyMap<number, DepositChain> }

/** Transactions that one run tries, so that strangers' transactions cannot cost more. */
const triesAtOnce = 8

/**
 * Job that tries the transactions that were put aside again, of all chains. Those that can be read are stored
 * like new ones; the others stay put aside, also if the chain does not show them, because endpoints may
 * forget transactions. Payments that no job has read for a day are forgotten.
 */
export async function retryPutAside(context: RetryContext, run: Run): Promise<void> {
  const limits = { purpose: 'deposits', limit: triesAtOnce } as const
  const due = await listDuePutAside(context.database, [...context.chains.keys()], limits)
  await Promise.all(due.map((storedTransaction) => retry(context, storedTransaction, run)))
  await context.database.transaction(async (tx) => {
    await run.fence(tx)
    await forgetUnfollowed(tx)
  })
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
    // Nobody observed when this block appeared.
    const deposits = read.deposits.map((deposit) => ({ ...deposit, minedAfterSeconds: undefined }))
    await keepDeposits(context, tx, deposits)
    await takeFromAside(tx, storedTransaction)
  })
}
