import { type Hex, sha256TextHex } from '@causeway/core'
import { lighterCurrency } from '@causeway/core/encodings'
import type { HttpView, QuorumClient } from '@causeway/rpc'
import { agreeOn, MalformedAnswerError } from '@causeway/rpc'
import type { PaymentState, PaymentTerms } from '../../shared/payingChain.ts'
import { type ListedTransfer, parseTransactionList } from '../reading/answers.ts'

/** The executed transaction of one nonce; without members, it was no transfer. */
type ExecutedTransaction = {
  readonly memo?: Hex
  readonly recipient?: string
  readonly currency?: string
  readonly amount?: bigint
}

/**
 * The lane of the fill wallet's key: its executed transactions by nonce, from a first one up to the next nonce. Each
 * nonce is spent once and in order, so no endpoint can hide a transaction of a lane without gaps. At most one of all
 * transfers that are signed for a payment is executed: none is signed for a nonce before the lane is read up to it, and
 * none for a payment that the lane already names. See decision 31.
 */
export type Lane = {
  /** The next nonce of the key: the lane ends before it. */
  readonly next: bigint
  stateOf(terms: Pick<PaymentTerms, 'id'> & Partial<PaymentTerms>): PaymentState
}

/** Memo of the wallet's transfer to itself that closes a payment. */
export const closingMemo = (id: Hex): Hex => `0x${sha256TextHex(`closed ${id}`).slice(-64)}`

const pageSize = 100
/** Limit of pages, some hundred thousand transfers: before that an operator sets a later `firstNonce`. */
const pagesMax = 2_000

export type LaneOptions = {
  readonly quorum: QuorumClient<HttpView>
  readonly account: string
  readonly apiKeyIndex: number
  readonly firstNonce: bigint
  /** Token that proves to endpoints that the account itself asks. */
  readonly token: () => Promise<string>
}

/** Opens a reader of the lane up to a next nonce. Executed transactions never change, so each is read once. */
export function createLaneReader(options: LaneOptions): (next: bigint, signal: AbortSignal) => Promise<Lane> {
  const { quorum, firstNonce } = options
  const executedByNonce = new Map<bigint, ExecutedTransaction>()
  /** The first nonce that was not read yet. */
  let unread = firstNonce
  return async (next, signal) => {
    if (next > unread) {
      const token = await options.token()
      const range = { from: unread, to: next }
      const { executed } = await agreeOn(
        quorum,
        async (view, viewSignal) => ({
          executed: await readRange(view, { ...options, ...range, token }, viewSignal),
        }),
        signal,
      )
      for (const [index, transaction] of executed.entries())
        executedByNonce.set(range.from + BigInt(index), transaction)
      // Another reading may have come further meanwhile.
      if (next > unread) unread = next
    }
    const lane = [...executedByNonce].flatMap(([nonce, transaction]) => (nonce < next ? [transaction] : []))
    return { next, stateOf: (terms) => stateIn(lane, options.account, terms) }
  }
}

/**
 * State of a payment in the lane. A memo names only the order. A fill has the order's id: any transfer that
 * names the order counts. A refund of one of its deposits is recognised by recipient, currency and amount as
 * well; if these are not known, any transfer counts, so that nothing is paid twice. A payment that was made
 * and closed later counts as paid.
 * @source rules P-75, F-164
 */
function stateIn(
  executed: readonly ExecutedTransaction[],
  wallet: string,
  { id, orderId = id, payments }: Parameters<Lane['stateOf']>[0],
): PaymentState {
  const [payment] = payments ?? []
  const paidForOrder = executed.filter(({ memo, recipient }) => memo === orderId && recipient !== wallet)
  const countsAny = id === orderId || payments === undefined
  const isThisPayment = ({ recipient, currency, amount }: ExecutedTransaction) =>
    recipient === payment?.recipient && currency === payment?.currency && amount === payment?.amount
  if (paidForOrder.some((transaction) => countsAny || isThisPayment(transaction))) return 'paid'
  const closing = closingMemo(id)
  return executed.some(({ memo, recipient }) => memo === closing && recipient === wallet) ? 'closed' : 'open'
}

/**
 * One endpoint's transactions, one per nonce of the range, in order. Pages begin with the newest, so a
 * transaction that is executed meanwhile moves others to a later page and hides none.
 * @throws MalformedAnswerError if one is missing
 */
async function readRange(
  view: HttpView,
  question: Omit<LaneOptions, 'token'> & {
    readonly from: bigint
    readonly to: bigint
    readonly token: string
  },
  signal: AbortSignal,
): Promise<readonly ExecutedTransaction[]> {
  const { account, apiKeyIndex, from, to, token } = question
  const executedByNonce = new Map<bigint, ExecutedTransaction>()
  const requestName = 'accountTxs'
  for (let page = 0; page < pagesMax && executedByNonce.size < Number(to - from); page += 1) {
    const query = `by=account_index&value=${account}&limit=${pageSize}&index=${page * pageSize}`
    const path = `/api/v1/accountTxs?${query}&auth=${encodeURIComponent(token)}`
    const { text } = await view.ask({ method: 'GET', path }, signal)
    const listed = parseTransactionList(text)
    for (const entry of listed) {
      if (!isOfKey(entry, account, apiKeyIndex)) continue
      const { nonce } = entry.nonce
      if (nonce >= from && nonce < to) executedByNonce.set(nonce, executedIn(entry))
    }
    if (listed.length < pageSize) break
  }
  return Array.from({ length: Number(to - from) }, (_, index) => {
    const transaction = executedByNonce.get(from + BigInt(index))
    if (transaction === undefined) throw new MalformedAnswerError(requestName)
    return transaction
  })
}

type ListedWithNonce = ListedTransfer & { readonly nonce: NonNullable<ListedTransfer['nonce']> }

/** True if the entry is an executed transaction of the key. */
const isOfKey = (entry: ListedTransfer, account: string, apiKeyIndex: number): entry is ListedWithNonce =>
  entry.status === 'executed' &&
  entry.nonce !== undefined &&
  entry.nonce.account === BigInt(account) &&
  entry.nonce.apiKeyIndex === BigInt(apiKeyIndex)

function executedIn({ transfer }: ListedTransfer): ExecutedTransaction {
  if (transfer === undefined) return {}
  const { memo, toAccountIndex, assetIndex, toRouteType, amount } = transfer
  return {
    memo,
    recipient: toAccountIndex.toString(),
    amount,
    currency: lighterCurrency(assetIndex, toRouteType),
  }
}
