import { solanaCodec } from '@causeway/core/encodings'
import { type EndpointView, MalformedAnswerError } from '@causeway/rpc'
import type { AddressTransfer } from '../../shared/settlingChain.ts'
import { type ListedTransaction, parseSignatures } from '../reading/answers.ts'
import { seeTransaction } from '../reading/readTransaction.ts'
import { signaturesCall, signaturesMax, transactionCall } from '../reading/requests.ts'
import type { LamportBalance, SolanaTransaction } from '../reading/transaction.ts'

/** Most transactions of one request. */
const transactionsAtOnce = 20
/** Most transactions of one look at an account. */
const transactionsPerLook = 200

/** Payers in an account's transactions, sorted so that endpoints can agree, and the largest transfer. */
type FoundPayers = { readonly payers: readonly string[]; readonly largest?: AddressTransfer | undefined }

/** Payers of an account as far as they are known, and how far the list of its transactions was read. */
export type PayerWalk = FoundPayers & {
  /** The newest transaction of the last finished pass: all up to it was read. Undefined before a pass was finished. */
  readonly until: string | undefined
  /**
   * Unfinished pass: it reads from `newest` back towards `until`, and has read down to `before`. `newest` is
   * undefined while all that it saw is above the height of its looks.
   */
  readonly openPass?:
    | (FoundPayers & { readonly newest: string | undefined; readonly before: string })
    | undefined
}

export const walkStart: PayerWalk = { payers: [], until: undefined }

/** `more`: there is more to read. `unreadable`: nobody can say who paid. */
export type WalkProgress = PayerWalk & { readonly outcome: 'known' | 'more' | 'unreadable' }

type AccountQuestion = {
  readonly account: string
  readonly currency: string
  /** Transactions up to this slot are read. */
  readonly height: bigint
  readonly depository: string
}

/**
 * Continues a walk through an account's transactions; each is read once, however many looks it takes.
 *
 * A pass reads from the newest transaction back, page by page, and ends in one of three ways:
 * - The account was empty before a transaction: the pass has all payers, and earlier passes count no more.
 * - It reaches the pass before (`until`): its payers are added to those already known.
 * - The list ends without either: the account held money before all that is listed, so nobody knows who paid.
 *
 * A look that has read its share of transactions ends with `more`, and the next look continues its pass. That
 * pass lacks what came after its begin, so a second pass follows it in the same look. If a transaction is
 * unreadable, the walk stays as it was before the look.
 * @throws MalformedAnswerError
 */
export async function walkOn(
  view: EndpointView,
  question: AccountQuestion,
  from: PayerWalk,
  signal: AbortSignal,
): Promise<WalkProgress> {
  let walk = from
  let transactionsLeft = transactionsPerLook
  // Only a pass that begins in this look reads everything up to `height`.
  let isPassOfThisLook = from.openPass === undefined
  for (;;) {
    const pass = await readPage(view, question, { walk, transactionsMax: transactionsLeft }, signal)
    if (pass === 'unreadable') return { ...from, outcome: 'unreadable' }
    transactionsLeft -= pass.transactionCount
    const { payers, largest, until } = walk
    const isPassOver = pass.wasEmptyBefore || pass.isListRead
    if (!isPassOver) {
      walk = { payers, largest, until, openPass: pass.openPass }
      if (transactionsLeft === 0) return { ...walk, outcome: 'more' }
      continue
    }
    const hasTransactions = pass.newest !== undefined
    // The oldest transaction that nodes still list found money there.
    const isHistoryCut = !pass.wasEmptyBefore && until === undefined && hasTransactions
    if (isHistoryCut) return { ...from, outcome: 'unreadable' }
    walk = finishPass(walk, pass)
    if (isPassOfThisLook) return { ...walk, outcome: 'known' }
    isPassOfThisLook = true
  }
}

/** The current pass after one more page of the list. */
type PassReading = FoundPayers & {
  readonly newest: string | undefined
  /** Transactions of the page that were read. */
  readonly transactionCount: number
  /** True if the account was empty before the oldest transaction that was read. */
  readonly wasEmptyBefore: boolean
  /** True if the list has nothing older, down to `until` where a pass was finished before. */
  readonly isListRead: boolean
  /** The pass to continue with, if it is not finished. */
  readonly openPass: PayerWalk['openPass']
}

async function readPage(
  view: EndpointView,
  question: AccountQuestion,
  { walk, transactionsMax }: { readonly walk: PayerWalk; readonly transactionsMax: number },
  signal: AbortSignal,
): Promise<PassReading | 'unreadable'> {
  const { until, openPass } = walk
  const call = signaturesCall(question.account, { before: openPass?.before, until })
  const page = parseSignatures((await view.ask([call], signal))[0])
  const upToHeight = page.filter(({ slot }) => slot <= question.height)
  const successful = upToHeight.filter(({ succeeded }) => succeeded)
  const listed = successful.slice(0, transactionsMax)
  const reading = await readPayers(view, question, { listed, openPass }, signal)
  if (reading === 'unreadable') return reading
  const { payers, largest, wasEmptyBefore } = reading
  const newest = openPass?.newest ?? upToHeight[0]?.transactionId
  const isPageRead = listed.length === successful.length
  // If all successful transactions of the page were read, the pass continues behind its last entry, even a
  // failed one.
  const before = (isPageRead ? page : listed).at(-1)?.transactionId
  return {
    payers,
    largest,
    newest,
    transactionCount: listed.length,
    wasEmptyBefore,
    isListRead: isPageRead && page.length < signaturesMax,
    openPass: before === undefined ? openPass : { newest, before, payers, largest },
  }
}

/** A pass that found the account empty knows all its payers; another one adds its own to those of earlier passes. */
function finishPass({ payers, largest, until }: PayerWalk, pass: PassReading): PayerWalk {
  return {
    payers: pass.wasEmptyBefore ? pass.payers : [...new Set([...payers, ...pass.payers])].sort(),
    largest: pass.wasEmptyBefore ? pass.largest : largerOf(largest, pass.largest),
    until: pass.newest ?? until,
  }
}

/** Adds payers of listed transactions, the newest first, to those of a pass, and stops where the account was empty. */
async function readPayers(
  view: EndpointView,
  { account, currency, depository }: AccountQuestion,
  { listed, openPass }: Pick<PayerWalk, 'openPass'> & { readonly listed: readonly ListedTransaction[] },
  signal: AbortSignal,
): Promise<(FoundPayers & { readonly wasEmptyBefore: boolean }) | 'unreadable'> {
  const payers = new Set(openPass?.payers)
  let largest = openPass?.largest
  for (let start = 0; start < listed.length; start += transactionsAtOnce) {
    const ids = listed.slice(start, start + transactionsAtOnce).map(({ transactionId }) => transactionId)
    for (const transaction of await readAll(view, ids, depository, signal)) {
      // The node lists it, and does not show it yet: skipped, its payer would count as absent.
      if (transaction === 'missing') throw new MalformedAnswerError('getTransaction')
      if (typeof transaction === 'string') return 'unreadable'
      for (const payer of payersIn(transaction)) payers.add(payer)
      largest = largerOf(largest, transferIn(transaction, account, currency))
      if (balancesOf(transaction, account, currency)?.before === 0n)
        return { payers: [...payers].sort(), largest, wasEmptyBefore: true }
    }
  }
  return { payers: [...payers].sort(), largest, wasEmptyBefore: false }
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
    ids.map((transactionId, index) => seeTransaction(answers[index], { transactionId, depository })),
  )
}

/** An account's balance before and after a transaction; undefined for SOL if it takes no part. */
function balancesOf(
  { balances, tokenBalances }: SolanaTransaction,
  account: string,
  currency: string,
): Pick<LamportBalance, 'before' | 'after'> | undefined {
  if (currency === solanaCodec.nativeCurrency) return balances.find((one) => one.account === account)
  const none = { before: 0n, after: 0n }
  return tokenBalances.find((one) => one.account === account && one.mint === currency) ?? none
}

/** A transaction's transfer to an account. `from` is set if only one account can have paid it. */
function transferIn(
  transaction: SolanaTransaction,
  account: string,
  currency: string,
): AddressTransfer | undefined {
  // A balance that is not exact in JSON counts as 0.
  const { before = 0n, after = 0n } = balancesOf(transaction, account, currency) ?? {}
  const [from, ...others] = new Set(payersIn(transaction))
  const onlyPayer = others.length === 0 ? from : undefined
  return after > before
    ? { transactionId: transaction.transactionId, amount: after - before, from: onlyPayer }
    : undefined
}

function largerOf(
  one: AddressTransfer | undefined,
  other: AddressTransfer | undefined,
): AddressTransfer | undefined {
  return (other?.amount ?? 0n) > (one?.amount ?? 0n) ? other : one
}

/** Accounts that may have paid in a transaction: all that signed it, or may have had less afterwards. Pure. */
export function payersIn({
  signers,
  balances,
  tokenBalances,
}: Pick<SolanaTransaction, 'signers' | 'balances' | 'tokenBalances'>): readonly string[] {
  // A balance that is not exact in JSON is above nine million SOL: nobody knows whether such an account paid.
  const poorer = balances.filter(
    ({ before, after }) => before === undefined || (after !== undefined && after < before),
  )
  const spent = tokenBalances.filter(({ before, after }) => after < before)
  const owners = spent.flatMap(({ ownerBefore }) => (ownerBefore === undefined ? [] : [ownerBefore]))
  return [...signers, ...poorer.map(({ account }) => account), ...owners]
}
