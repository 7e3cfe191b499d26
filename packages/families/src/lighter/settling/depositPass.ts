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

/** Far more transfers than a depository gets within the lag; the next pass begins again at the newest. */
const pagesMax = 200

type Sources = {
  readonly explorers: Pick<QuorumClient<HttpView>, 'askEach'>
  readonly depositories: readonly string[]
  readonly known: Pick<LighterTransactions, 'read'>
}

type ListedDeposit = { readonly transactionId: string; readonly queuedAtMs: bigint }

/**
 * Transfers to depositories that were executed in a range of time, or a little before it, the oldest first. Explorers
 * name them, each as it likes; endpoints say when they were executed.
 * @throws upstream errors where too few endpoints answer
 */
export async function listDeposits(
  sources: Sources,
  range: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const each = await Promise.all(
    sources.depositories.map((account) => listOf(sources, account, range.from - explorerLagMs, signal)),
  )
  const deposits = new Map(each.flat().map((one) => [one.transactionId, one]))
  return [...deposits.values()]
    .toSorted((one, other) =>
      one.queuedAtMs === other.queuedAtMs
        ? one.transactionId < other.transactionId
          ? -1
          : 1
        : Number(one.queuedAtMs - other.queuedAtMs),
    )
    .map(({ transactionId }) => transactionId)
}

async function listOf(
  { explorers, known: transactionReader }: Sources,
  account: string,
  since: bigint,
  signal: AbortSignal,
): Promise<readonly ListedDeposit[]> {
  const deposits: ListedDeposit[] = []
  for (let page = 0; page < pagesMax; page += 1) {
    const each = await explorers.askEach(
      (view, own) => readLoggedTransfers(view, { account, page }, own),
      signal,
    )
    const lists = each.flatMap(({ said }) => (said === undefined ? [] : [said]))
    const ids = new Set(
      lists.flat().flatMap(({ transactionId, to }) => (to === account ? [transactionId] : [])),
    )
    const read = await Promise.all([...ids].map((id) => readNow(transactionReader, id, signal)))
    const executed = read.flatMap((one) => (one !== undefined && 'queuedAtMs' in one ? [one] : []))
    deposits.push(...executed.filter(({ queuedAtMs }) => queuedAtMs >= since))
    // It may be of that time: the others are listed whatever becomes of it, and its own reading tells why.
    const silent = read.flatMap((one) => (one !== undefined && 'silent' in one ? [one.silent] : []))
    deposits.push(...silent.map((transactionId) => ({ transactionId, queuedAtMs: since })))
    const isLast = lists.every((list) => list.length < pageSize)
    // Also where nothing of it was executed: what an explorer makes up leads nowhere.
    const isOver = executed.every(({ queuedAtMs }) => queuedAtMs < since)
    if (isLast || isOver) return deposits
  }
  return deposits
}

/** Undefined of what is not executed yet, or never will be: it is named again while it may matter. */
async function readNow(
  transactionReader: Sources['known'],
  transactionId: string,
  signal: AbortSignal,
): Promise<FinalTransaction | { readonly silent: string } | undefined> {
  try {
    return (await unlessGone(transactionReader.read(transactionId, signal)))?.final
  } catch (error) {
    if (error instanceof TransactionNotFinalError) return undefined
    const isUnanswered =
      error instanceof UpstreamUnavailableError || error instanceof UpstreamDisagreementError
    if (isUnanswered && !signal.aborted) return { silent: transactionId }
    throw error
  }
}
