import { solanaCodec } from '@causeway/core/encodings'
import type { EndpointView } from '@causeway/rpc'
import type { AddressTransfer } from '../../shared/settlingChain.ts'
import { parseSignatures } from '../reading/answers.ts'
import { seeTransaction } from '../reading/readTransaction.ts'
import { signaturesCall, signaturesMax, transactionCall } from '../reading/requests.ts'
import type { LamportBalance, SolanaTransaction } from '../reading/transaction.ts'

/** Transactions of one request. */
const transactionsAtOnce = 20
/** Transactions of one look at an account. */
const transactionsPerLook = 200

/** Payers of an account, as far as they are known. */
export type PayerWalk = {
  /** Payers of all that came up to `until`, since the account was empty. */
  readonly payers: readonly string[]
  /** The one of these that brought most. */
  readonly largest?: AddressTransfer | undefined
  /** The newest transaction that was read for it; undefined before a walk ended. */
  readonly until: string | undefined
  /** From the newest transaction of its time back towards `until`. */
  readonly under?:
    | (Pick<PayerWalk, 'payers' | 'largest'> & { readonly top: string | undefined; readonly before: string })
    | undefined
}

export const walkStart: PayerWalk = { payers: [], until: undefined }

/** `more`: there is more to read. `unreadable`: nobody can say who paid. */
export type WalkProgress = PayerWalk & { readonly outcome: 'known' | 'more' | 'unreadable' }

/**
 * Reads on, each transaction once however many looks it takes: whoever signed, or had less afterwards, back to where the
 * account was empty, and then what came meanwhile. @throws MalformedAnswerError
 */
export async function walkOn(
  view: EndpointView,
  read: {
    readonly account: string
    readonly currency: string
    readonly height: bigint
    readonly depository: string
  },
  from: PayerWalk,
  signal: AbortSignal,
): Promise<WalkProgress> {
  const { account, currency, height } = read
  let { payers, largest, until, under } = from
  let left = transactionsPerLook
  // A walk that begins in this look has all that there is up to `height`.
  let isFresh = under === undefined
  for (;;) {
    const [answer] = await view.ask([signaturesCall(account, { before: under?.before, until })], signal)
    const page = parseSignatures(answer)
    const inTime = page.filter(({ slot }) => slot <= height)
    const listed = inTime.filter(({ succeeded }) => succeeded).slice(0, left)
    const payersOfPass = new Set(under?.payers)
    let most = under?.largest
    let isEmptied = false
    for (let next = 0; !isEmptied && next < listed.length; next += transactionsAtOnce) {
      const ids = listed.slice(next, next + transactionsAtOnce).map(({ transactionId }) => transactionId)
      for (const transaction of await readAll(view, ids, read.depository, signal)) {
        if (transaction === 'missing') continue
        if (typeof transaction === 'string') return { ...from, outcome: 'unreadable' }
        for (const payer of payersIn(transaction)) payersOfPass.add(payer)
        most = largerOf(most, transferIn(transaction, account, currency))
        isEmptied = balancesOf(transaction, account, currency)?.before === 0n
        if (isEmptied) break
      }
    }
    left -= listed.length
    const top = under?.top ?? inTime[0]?.transactionId
    const isAllRead = listed.length === inTime.filter(({ succeeded }) => succeeded).length
    const hasEnded = isAllRead && page.length < signaturesMax
    if (!isEmptied && !hasEnded) {
      const before = (isAllRead ? page : listed).at(-1)?.transactionId ?? under?.before
      if (before !== undefined) under = { top, before, payers: [...payersOfPass].sort(), largest: most }
      if (left === 0) return { payers, largest, until, under, outcome: 'more' }
      continue
    }
    // The account's first transaction that nodes still know found something there.
    if (!isEmptied && until === undefined && top !== undefined) return { ...from, outcome: 'unreadable' }
    payers = [...new Set(isEmptied ? payersOfPass : [...payers, ...payersOfPass])].sort()
    largest = isEmptied ? most : largerOf(largest, most)
    until = top ?? until
    under = undefined
    if (isFresh) return { payers, largest, until, outcome: 'known' }
    isFresh = true
  }
}

async function readAll(
  view: EndpointView,
  ids: readonly string[],
  depository: string,
  signal: AbortSignal,
): Promise<readonly Awaited<ReturnType<typeof seeTransaction>>[]> {
  const answers = await view.ask(
    ids.map((id) => transactionCall(id)),
    signal,
  )
  return Promise.all(
    ids.map((transactionId, at) => seeTransaction(answers[at], { transactionId, depository })),
  )
}

function balancesOf(
  { balances, tokenBalances }: SolanaTransaction,
  account: string,
  currency: string,
): Pick<LamportBalance, 'before' | 'after'> | undefined {
  if (currency === solanaCodec.nativeCurrency) return balances.find((one) => one.account === account)
  const none = { before: 0n, after: 0n }
  return tokenBalances.find((one) => one.account === account && one.mint === currency) ?? none
}

function transferIn(
  transaction: SolanaTransaction,
  account: string,
  currency: string,
): AddressTransfer | undefined {
  const { before = 0n, after = 0n } = balancesOf(transaction, account, currency) ?? {}
  const [from, ...others] = new Set(payersIn(transaction))
  const only = others.length === 0 ? from : undefined
  return after > before
    ? { transactionId: transaction.transactionId, amount: after - before, from: only }
    : undefined
}

function largerOf(
  one: AddressTransfer | undefined,
  other: AddressTransfer | undefined,
): AddressTransfer | undefined {
  return (other?.amount ?? 0n) > (one?.amount ?? 0n) ? other : one
}

function payersIn({ signers, balances, tokenBalances }: SolanaTransaction): readonly string[] {
  const poorer = balances.filter(({ before = 0n, after = 0n }) => after < before)
  const spent = tokenBalances.filter(({ before, after }) => after < before)
  const owners = spent.flatMap(({ ownerBefore }) => (ownerBefore === undefined ? [] : [ownerBefore]))
  return [...signers, ...poorer.map(({ account }) => account), ...owners]
}
