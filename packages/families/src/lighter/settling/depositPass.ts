import { UpstreamDisagreementError, UpstreamUnavailableError } from '@causeway/core'
import type { HttpView, QuorumClient } from '@causeway/rpc'
import { TransactionNotFinalError } from '@causeway/rpc'
import { unlessGone } from '../../shared/settlingReads.ts'
import type { FinalTransaction, LighterTransactions } from '../reading/finalTransactions.ts'
import { pageSize, readLoggedTransfers } from '../reading/transferLookup.ts'

/**
 * Explorers show a transfer some time after its execution, so each pass looks back this far before its range.
 * Transactions that were read before are cached and cost no request.
 */
const explorerLagMs = 300_000n

/** Limit of pages of one pass: far more transfers than a depository gets within the lag. */
const pagesMax = 200

type Sources = {
  readonly explorers: Pick<QuorumClient<HttpView>, 'askEach'>
  readonly depositories: readonly string[]
  /** Reads executed transactions, and caches them. */
  readonly transactionReader: Pick<LighterTransactions, 'read'>
}

type ListedDeposit = { readonly transactionId: string; readonly queuedAtMs: bigint }

/**
 * Transfers to depositories that were executed in a range of milliseconds, or a little before it, the oldest first.
 * Explorers list ids, which may be wrong; a quorum of endpoints tells whether and when each was executed.
 * @throws upstream errors where too few endpoints answer
 */
export async function listDeposits(
  sources: Sources,
  range: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const lists = await Promise.all(
    sources.depositories.map((account) => listOf(sources, account, range.from - explorerLagMs, signal)),
  )
  const deposits = new Map(lists.flat().map((deposit) => [deposit.transactionId, deposit]))
  return [...deposits.values()].toSorted(oldestFirst).map(({ transactionId }) => transactionId)
}

function oldestFirst(one: ListedDeposit, other: ListedDeposit): number {
  if (one.queuedAtMs !== other.queuedAtMs) return Number(one.queuedAtMs - other.queuedAtMs)
  return one.transactionId < other.transactionId ? -1 : 1
}

/** Transfers to one account since a time in milliseconds. Pages are read from the newest back. */
async function listOf(
  { explorers, transactionReader }: Sources,
  account: string,
  since: bigint,
  signal: AbortSignal,
): Promise<readonly ListedDeposit[]> {
  const deposits: ListedDeposit[] = []
  for (let page = 0; page < pagesMax; page += 1) {
    const answers = await explorers.askEach(
      (view, viewSignal) => readLoggedTransfers(view, { account, page }, viewSignal),
      signal,
    )
    const lists = answers.flatMap(({ said }) => (said === undefined ? [] : [said]))
    const ids = new Set(
      lists.flat().flatMap(({ transactionId, to }) => (to === account ? [transactionId] : [])),
    )
    const readings = await Promise.all([...ids].map((id) => readNow(transactionReader, id, signal)))
    const executed = readings.flatMap((one) => (one !== undefined && 'queuedAtMs' in one ? [one] : []))
    deposits.push(...executed.filter(({ queuedAtMs }) => queuedAtMs >= since))
    // An unread transfer is listed too, as if it were the oldest: it may be a deposit, and a later reading decides.
    const unread = readings.flatMap((one) => (one !== undefined && 'unreadId' in one ? [one.unreadId] : []))
    deposits.push(...unread.map((transactionId) => ({ transactionId, queuedAtMs: since })))
    const isLast = lists.every((list) => list.length < pageSize)
    // True too if no transfer of the page was executed, so that an explorer cannot invent endless pages.
    const isBeforeRange = executed.every(({ queuedAtMs }) => queuedAtMs < since)
    if (isLast || isBeforeRange) return deposits
  }
  return deposits
}

/**
 * An executed transfer; its id if too few endpoints answered about it; undefined if it is not executed yet, or never
 * will be: explorers list it again while it may matter.
 */
async function readNow(
  transactionReader: Sources['transactionReader'],
  transactionId: string,
  signal: AbortSignal,
): Promise<FinalTransaction | { readonly unreadId: string } | undefined> {
  try {
    return (await unlessGone(transactionReader.read(transactionId, signal)))?.final
  } catch (error) {
    if (error instanceof TransactionNotFinalError) return undefined
    const isUnanswered =
      error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
    if (isUnanswered && !signal.aborted) return { unreadId: transactionId }
    throw error
  }
}
