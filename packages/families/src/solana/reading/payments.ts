import { DomainError, type Hex, maxBigint, minBigint, namedOrder, type TransferFact } from '@causeway/core'
import { solanaCodec } from '@causeway/core/encodings'
import { memoProgram } from '../rules/programs.ts'
import type { SolanaTransaction } from './transaction.ts'

/** A balance is above 2^53 − 1 lamports, which the node's JSON does not carry exactly. */
class BalanceNotExactError extends DomainError {
  readonly code = 'BALANCE_NOT_EXACT'
  readonly kind = 'invalid_request'

  constructor({ transactionId, account }: { readonly transactionId: string; readonly account: string }) {
    super(`The balance of ${account} is too large to be read exactly.`, {
      data: { transactionId, account },
    })
  }
}

/**
 * True when memos of the transaction, its own or those that a program wrote, hold the order id as text, in
 * either case of its digits, and no other id. @source rule P-40
 */
export function referencesOrder({ instructions }: SolanaTransaction, orderId: Hex): boolean {
  const memos = instructions
    .filter(({ program }) => program === memoProgram)
    .map(({ data }) => Buffer.from(data.slice(2), 'hex').toString('utf8'))
  return namedOrder(memos) === orderId.toLowerCase()
}

/** Amount that one holder gained in a currency within the transaction; negative for a loss. */
type Change = { readonly holder: string; readonly gained: bigint }

/**
 * Sums what a transaction paid to each recipient of a payment: one sum per distinct recipient and currency. A recipient's
 * gain is that of its SOL balance, or of all token accounts that it owns. Balances do not show who paid whom, so the
 * solver's side must have lost the recipient's gain plus all gains of others.
 * @param isPayer signers and listed payers
 * @throws BalanceNotExactError
 * @source rule F-143
 */
export function sumTransfers(
  transaction: SolanaTransaction,
  targets: readonly { readonly recipient: string; readonly currency: string }[],
  isPayer: (account: string) => boolean,
): readonly TransferFact[] {
  const unique = new Map(targets.map((target) => [`${target.recipient} ${target.currency}`, target]))
  return [...unique.values()].map(({ recipient, currency }) => {
    const changes =
      currency === solanaCodec.nativeCurrency
        ? lamportChanges(transaction, recipient)
        : tokenChanges(transaction, currency)
    const { amount, ...fromOthers } = paidTo(recipient, changes, isPayer)
    const isTrade = givesAnotherToken(transaction, { recipient, currency })
    return { recipient, currency, amount: isTrade ? 0n : amount, ...fromOthers }
  })
}

/**
 * Splits a recipient's gain into what the solver's side gave (`amount`) and the remainder (`fromOthers`).
 * Balances do not tell whose money went where, so the least that they prove counts: first the side's loss
 * covers all that others gained and all that was destroyed, and only the rest of it reached the recipient.
 */
function paidTo(
  recipient: string,
  changes: readonly Change[],
  isPayer: (account: string) => boolean,
): Pick<TransferFact, 'amount' | 'fromOthers'> {
  let gained = 0n
  let sideLost = 0n
  let othersGained = 0n
  /** All losses minus all gains; negative where money was created. */
  let destroyed = 0n
  for (const change of changes) {
    destroyed -= change.gained
    if (change.holder === recipient) gained += change.gained
    else if (isPayer(change.holder)) sideLost -= change.gained
    else if (change.gained > 0n) othersGained += change.gained
  }
  // Fees are destroyed money too. Created money came from nobody, so it does not raise the side's part.
  const sideGave = sideLost - othersGained - maxBigint(0n, destroyed)
  const amount = maxBigint(0n, minBigint(gained, sideGave))
  return gained > amount ? { amount, fromOthers: gained - amount } : { amount }
}

/** True if the recipient gave another token away in the transaction: then its gain is a price and pays no order. */
function givesAnotherToken(
  { tokenBalances }: SolanaTransaction,
  { recipient, currency }: { readonly recipient: string; readonly currency: string },
): boolean {
  return tokenBalances.some(
    ({ mint, ownerBefore, ownerAfter, before, after }) =>
      mint !== currency && ownerBefore === recipient && (ownerAfter !== recipient || after < before),
  )
}

/**
 * Changes in lamports. Those of a token account, its rent, count as its owner's. One balance that JSON does not hold
 * exactly is derived from the others.
 */
function lamportChanges(
  { balances, tokenBalances, transactionId }: SolanaTransaction,
  recipient: string,
): readonly Change[] {
  // A recipient that the transaction does not name gained nothing, whatever balances are not exact.
  if (!balances.some(({ account }) => account === recipient)) return []
  const owners = new Map(
    tokenBalances.map(({ account, ownerBefore, ownerAfter }) => [account, ownerBefore ?? ownerAfter]),
  )
  const exact: Change[] = []
  const inexact: string[] = []
  for (const { account, before, after } of balances) {
    if (before === undefined || after === undefined) inexact.push(account)
    else exact.push({ holder: holderOf(account, owners, recipient), gained: after - before })
  }
  const [large, ...more] = inexact
  if (large === undefined) return exact
  if (large === recipient || more.length > 0) {
    throw new BalanceNotExactError({ transactionId, account: more.includes(recipient) ? recipient : large })
  }
  // All that the others lost counts as gained by the one inexact account, the fee included.
  const exactGain = exact.reduce((sum, { gained }) => sum + gained, 0n)
  return [...exact, { holder: holderOf(large, owners, recipient), gained: -exactGain }]
}

/**
 * Holder who gains or loses an account's lamports: a token account's owner, otherwise the account itself.
 * Token accounts of the recipient count by themselves, since their rent is no payment to him.
 */
function holderOf(
  account: string,
  owners: ReadonlyMap<string, string | undefined>,
  recipient: string,
): string {
  const owner = owners.get(account)
  return owner === undefined || owner === recipient ? account : owner
}

/** Changes in a token by owner, or by account where the node does not name the owner. */
function tokenChanges({ tokenBalances }: SolanaTransaction, mint: string): readonly Change[] {
  const changes = new Map<string, bigint>()
  const add = (holder: string, amount: bigint) => changes.set(holder, (changes.get(holder) ?? 0n) + amount)
  for (const balance of tokenBalances) {
    if (balance.mint !== mint) continue
    add(balance.ownerAfter ?? balance.account, balance.after)
    add(balance.ownerBefore ?? balance.account, -balance.before)
  }
  return [...changes].map(([holder, gained]) => ({ holder, gained }))
}
