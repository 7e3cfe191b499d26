import { solanaCodec } from '@causeway/core/encodings'
import type { EndpointView } from '@causeway/rpc'
import type { AddressTransfer } from '../../shared/settlingChain.ts'
import { type ListedTransaction, parseSignatures } from '../reading/answers.ts'
import { seeTransaction } from '../reading/readTransaction.ts'
import { signaturesCall, signaturesMax, transactionCall } from '../reading/requests.ts'
import type { LamportBalance, SolanaTransaction } from '../reading/transaction.ts'

/** Most transactions of one request. */
const transactionsAtOnce = 20
/** Most transactions of one look at an account. */
const transactionsPerLook = 200

/** Payers of an account as far as they are known, and how far the list of its transactions was read. */
export type PayerWalk = {
  /** Payers of all that came up to `until`, since the account was empty. */
  readonly payers: readonly string[]
  /** The largest transfer among these. */
  readonly largest?: AddressTransfer | undefined
  /** The newest transaction of the last finished pass; undefined before a pass was finished. */
  readonly until: string | undefined
  /** Unfinished pass: it reads from `newest` back towards `until`, and has read down to `before`. */
  readonly openPass?:
    | (Pick<PayerWalk, 'payers' | 'largest'> & {
        readonly newest: string | undefined
        readonly before: string
      })
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
 * Continues a walk through an account's transactions; each is read once, however many looks it takes. A pass reads
 * from the newest transaction back to where the account was empty, or to the pass before. If an earlier look began
 * the pass, a second one then reads what came meanwhile. @throws MalformedAnswerError
 */
export async function walkOn(
  view: EndpointView,
  question: AccountQuestion,
  from: PayerWalk,
  signal: AbortSignal,
): Promise<WalkProgress> {
  const { account, height } = question
  let { payers, largest, until, openPass } = from
  let left = transactionsPerLook
  // A pass that begins in this look reads everything up to `height`.
  let hasBegunNow = openPass === undefined
  for (;;) {
    const [answer] = await view.ask([signaturesCall(account, { before: openPass?.before, until })], signal)
    const page = parseSignatures(answer)
    const inTime = page.filter(({ slot }) => slot <= height)
    const successful = inTime.filter(({ succeeded }) => succeeded)
    const listed = successful.slice(0, left)
    const reading = await readPayers(view, question, { listed, openPass }, signal)
    if (reading === 'unreadable') return { ...from, outcome: 'unreadable' }
    const { wasEmptyBefore } = reading
    left -= listed.length
    const newest = openPass?.newest ?? inTime[0]?.transactionId
    const isPageRead = listed.length === successful.length
    const isListRead = isPageRead && page.length < signaturesMax
    if (!wasEmptyBefore && !isListRead) {
      const before = (isPageRead ? page : listed).at(-1)?.transactionId ?? openPass?.before
      if (before !== undefined)
        openPass = { newest, before, payers: [...reading.payers].sort(), largest: reading.largest }
      if (left === 0) return { payers, largest, until, openPass, outcome: 'more' }
      continue
    }
    // The oldest transaction that nodes still know found money there: who paid that is unknown.
    if (!wasEmptyBefore && until === undefined && newest !== undefined)
      return { ...from, outcome: 'unreadable' }
    payers = [...new Set(wasEmptyBefore ? reading.payers : [...payers, ...reading.payers])].sort()
    largest = wasEmptyBefore ? reading.largest : largerOf(largest, reading.largest)
    until = newest ?? until
    openPass = undefined
    if (hasBegunNow) return { payers, largest, until, outcome: 'known' }
    hasBegunNow = true
  }
}

/** Adds payers of listed transactions, the newest first, to those of a pass, and stops where the account was empty. */
async function readPayers(
  view: EndpointView,
  { account, currency, depository }: AccountQuestion,
  { listed, openPass }: Pick<PayerWalk, 'openPass'> & { readonly listed: readonly ListedTransaction[] },
  signal: AbortSignal,
) {
  const payers = new Set(openPass?.payers)
  let largest = openPass?.largest
  for (let start = 0; start < listed.length; start += transactionsAtOnce) {
    const ids = listed.slice(start, start + transactionsAtOnce).map(({ transactionId }) => transactionId)
    for (const transaction of await readAll(view, ids, depository, signal)) {
      if (transaction === 'missing') continue
      if (typeof transaction === 'string') return 'unreadable'
      for (const payer of payersIn(transaction)) payers.add(payer)
      largest = largerOf(largest, transferIn(transaction, account, currency))
      if (balancesOf(transaction, account, currency)?.before === 0n)
        return { payers, largest, wasEmptyBefore: true }
    }
  }
  return { payers, largest, wasEmptyBefore: false }
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

/** An account's balance of a currency before and after a transaction; undefined if SOL of it was not touched. */
function balancesOf(
  { balances, tokenBalances }: SolanaTransaction,
  account: string,
  currency: string,
): Pick<LamportBalance, 'before' | 'after'> | undefined {
  if (currency === solanaCodec.nativeCurrency) return balances.find((one) => one.account === account)
  const none = { before: 0n, after: 0n }
  return tokenBalances.find((one) => one.account === account && one.mint === currency) ?? none
}

/** What a transaction brought to an account, and from whom, if only one account can have paid it. */
function transferIn(
  transaction: SolanaTransaction,
  account: string,
  currency: string,
): AddressTransfer | undefined {
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

/** Accounts that may have paid in a transaction: all that signed it, or had less afterwards. */
function payersIn({ signers, balances, tokenBalances }: SolanaTransaction): readonly string[] {
  const poorer = balances.filter(({ before = 0n, after = 0n }) => after < before)
  const spent = tokenBalances.filter(({ before, after }) => after < before)
  const owners = spent.flatMap(({ ownerBefore }) => (ownerBefore === undefined ? [] : [ownerBefore]))
  return [...signers, ...poorer.map(({ account }) => account), ...owners]
}
