import { type Hex, sha256TextHex } from '@causeway/core'
import { lighterCurrency } from '@causeway/core/encodings'
import type { HttpView, QuorumClient } from '@causeway/rpc'
import { agreeOn, MalformedAnswerError } from '@causeway/rpc'
import type { PaymentState, PaymentTerms } from '../../shared/payingChain.ts'
import { type ListedTransfer, parseTransactionList } from '../reading/answers.ts'

/** A transaction that a nonce was spent on; absent content: it was no transfer. */
type Spent = {
  readonly memo?: Hex
  readonly recipient?: string
  readonly currency?: string
  readonly amount?: bigint
}

/**
 * Executed transactions of the fill wallet by nonce, from the first relevant one up to the next one. Each nonce of a
 * key is spent once and in order, so a lane without gaps is complete, whichever endpoint listed it: none of its
 * transactions can be hidden. At most one of all transfers signed for a payment is executed, because none is signed for
 * a nonce before the lane is known up to it, and none for a payment that the lane already names. See decision 31.
 */
export type NonceHistory = {
  /** The nonce that comes next. */
  readonly next: bigint
  stateOf(terms: Pick<PaymentTerms, 'id'> & Partial<PaymentTerms>): PaymentState
}

/** Memo of the wallet's transfer to itself that closes a payment. */
export const closingMemo = (id: Hex): Hex => `0x${sha256TextHex(`closed ${id}`).slice(-64)}`

const pageSize = 100
/** Some hundred thousand transfers: then the lane begins later, by configuration. */
const pagesMax = 2_000

export type NonceHistoryOptions = {
  readonly quorum: QuorumClient<HttpView>
  readonly account: string
  readonly apiKeyIndex: number
  readonly firstNonce: bigint
  /** Shows endpoints that the account itself asks. */
  readonly token: () => Promise<string>
}

/** Keeps what it read: what was executed stays so. */
export function createNonceHistory(
  options: NonceHistoryOptions,
): (next: bigint, signal: AbortSignal) => Promise<NonceHistory> {
  const { quorum, firstNonce } = options
  const spent = new Map<bigint, Spent>()
  let complete = firstNonce
  return async (next, signal) => {
    if (next > complete) {
      const token = await options.token()
      const range = { from: complete, to: next }
      const agreed = await agreeOn(
        quorum,
        async (view, own) => ({ spent: await readRange(view, { ...options, ...range, token }, own) }),
        signal,
      )
      for (const [index, one] of agreed.spent.entries()) spent.set(range.from + BigInt(index), one)
      if (next > complete) complete = next
    }
    const spentBefore = [...spent].flatMap(([nonce, one]) => (nonce < next ? [one] : []))
    return { next, stateOf: (terms) => stateIn(spentBefore, options.account, terms) }
  }
}

/**
 * A transfer names its order, and not which deposit of it is given back. Where nobody knows what a refund paid, any
 * transfer that names the order counts. What was paid stays so, though it was closed later.
 * @source docs/specification/protocol.md P-75
 */
function stateIn(
  spent: readonly Spent[],
  wallet: string,
  { id, orderId = id, payments }: Parameters<NonceHistory['stateOf']>[0],
): PaymentState {
  const [payment] = payments ?? []
  const paid = spent.filter(({ memo, recipient }) => memo === orderId && recipient !== wallet)
  const isPaid =
    id === orderId || payments === undefined
      ? paid.length > 0
      : paid.some(
          ({ recipient, currency, amount }) =>
            recipient === payment?.recipient && currency === payment?.currency && amount === payment?.amount,
        )
  if (isPaid) return 'paid'
  const closing = closingMemo(id)
  return spent.some(({ memo, recipient }) => memo === closing && recipient === wallet) ? 'closed' : 'open'
}

/** One for each nonce of the range, in order. @throws MalformedAnswerError where the endpoint leaves one out */
async function readRange(
  view: HttpView,
  question: Omit<NonceHistoryOptions, 'token'> & {
    readonly from: bigint
    readonly to: bigint
    readonly token: string
  },
  signal: AbortSignal,
): Promise<readonly Spent[]> {
  const { account, apiKeyIndex, from, to, token } = question
  const spentByNonce = new Map<bigint, Spent>()
  const requestName = 'accountTxs'
  for (let page = 0; page < pagesMax && spentByNonce.size < Number(to - from); page += 1) {
    const query = `by=account_index&value=${account}&limit=${pageSize}&index=${page * pageSize}`
    const path = `/api/v1/accountTxs?${query}&auth=${encodeURIComponent(token)}`
    const { text } = await view.ask({ method: 'GET', path }, signal)
    const listed = parseTransactionList(text)
    for (const one of listed) {
      if (!isOwn(one, account, apiKeyIndex) || one.nonce.nonce < from || one.nonce.nonce >= to) continue
      spentByNonce.set(one.nonce.nonce, spentBy(one))
    }
    if (listed.length < pageSize) break
  }
  return Array.from({ length: Number(to - from) }, (_, index) => {
    const one = spentByNonce.get(from + BigInt(index))
    if (one === undefined) throw new MalformedAnswerError(requestName)
    return one
  })
}

type Own = ListedTransfer & { readonly nonce: NonNullable<ListedTransfer['nonce']> }

const isOwn = (one: ListedTransfer, account: string, apiKeyIndex: number): one is Own =>
  one.status === 'executed' &&
  one.nonce !== undefined &&
  one.nonce.account === BigInt(account) &&
  one.nonce.apiKeyIndex === BigInt(apiKeyIndex)

function spentBy({ transfer }: ListedTransfer): Spent {
  if (transfer === undefined) return {}
  const { memo, toAccountIndex, assetIndex, toRouteType, amount } = transfer
  return {
    ...{ memo, recipient: toAccountIndex.toString(), amount },
    currency: lighterCurrency(assetIndex, toRouteType),
  }
}
