import { DomainError, type Hex, maxBigint, solanaCodec, type TransferFact } from '@causeway/core'
import { memoProgram } from './programs.ts'
import type { SolanaTransaction, TokenBalance } from './transaction.ts'

/** A balance is above 2^53 − 1 lamports, which the node's JSON does not carry exactly. */
class BalanceNotExactError extends DomainError {
  readonly code = 'BALANCE_NOT_EXACT'
  readonly kind = 'invalid_request'

  constructor({ transactionId, recipient }: { readonly transactionId: string; readonly recipient: string }) {
    super(`The balance of ${recipient} is too large to be read exactly.`, {
      data: { transactionId, recipient },
    })
  }
}

/**
 * True when a memo of the transaction, its own or one that a program wrote, holds the order id as text, in
 * either case of its digits. @source oracle-protocol.md 5.2
 */
export function referencesOrder({ instructions }: SolanaTransaction, orderId: Hex): boolean {
  return instructions.some(({ program, data }) => {
    if (program !== memoProgram) return false
    const text = Buffer.from(data.slice(2), 'hex').toString('utf8')
    return text.toLowerCase().includes(orderId.toLowerCase())
  })
}

/**
 * What each recipient gained in each currency, one sum however often it is asked for: SOL by its balance,
 * tokens over all accounts that it owns. What left again within the transaction does not count.
 * @throws BalanceNotExactError
 * @source oracle-protocol.md 5.2
 */
export function sumTransfers(
  transaction: SolanaTransaction,
  targets: readonly { readonly recipient: string; readonly currency: string }[],
): readonly TransferFact[] {
  const unique = new Map(targets.map((target) => [`${target.recipient} ${target.currency}`, target]))
  return [...unique.values()].map(({ recipient, currency }) => ({
    recipient,
    currency,
    amount: maxBigint(
      0n,
      currency === solanaCodec.nativeCurrency
        ? lamportsGained(transaction, recipient)
        : tokensGained(transaction.tokenBalances, { recipient, mint: currency }),
    ),
  }))
}

function lamportsGained({ balances, transactionId }: SolanaTransaction, recipient: string): bigint {
  const balance = balances.find(({ account }) => account === recipient)
  if (balance === undefined) return 0n
  const { before, after } = balance
  if (before === undefined || after === undefined)
    throw new BalanceNotExactError({ transactionId, recipient })
  return after - before
}

function tokensGained(
  tokenBalances: readonly TokenBalance[],
  { recipient, mint }: { readonly recipient: string; readonly mint: string },
): bigint {
  return tokenBalances
    .filter((balance) => balance.mint === mint)
    .reduce(
      (sum, { ownerBefore, ownerAfter, before, after }) =>
        sum + (ownerAfter === recipient ? after : 0n) - (ownerBefore === recipient ? before : 0n),
      0n,
    )
}
