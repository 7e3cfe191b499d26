import type { Hex } from '@causeway/core'
import type { TransactionInstruction } from '@solana/web3.js'
import { associatedTokenAccount, type SolanaToken } from '../programAddresses.ts'
import { memoProgram } from '../programs.ts'
import {
  createTokenAccount,
  libraryInstruction,
  type SolanaInstruction,
  type SolanaPayment,
  sendCoin,
  type UnitBid,
  unitBid,
} from '../quoting/instructions.ts'
import { markPayment, type PaymentMark } from './paymentMarker.ts'

/** All that one transaction of a fill wallet does, and whatever is signed again does the same. */
export type MarkedTerms = {
  /** Id to mark: an order's id for a fill, a refund's own id for a refund. */
  readonly id: Hex
  readonly mark: PaymentMark
  /** Named by the memo, which is how the payment is attested; of a closing none. */
  readonly orderId?: Hex | undefined
  /** No token account is made: the transaction fails where one is missing. */
  readonly makesNoState?: boolean | undefined
  readonly payments: readonly MarkedPayment[]
  /** In the place of payments: what empties a deposit address. */
  readonly emptying?: SolanaInstruction | undefined
}

export type MarkedPayment = {
  readonly recipient: string
  readonly currency: string
  /** Smallest units. */
  readonly amount: bigint
  /** Absent for the native coin. */
  readonly token?: { readonly program: string; readonly decimals: number } | undefined
}

/**
 * The instructions of a payment, a closing or a sweep, in their order: the bid, the marker, accounts that are made, the
 * memo, what is paid or emptied. The memo stands directly before the first transfer, tokens first: a recipient may demand
 * that of a token. Everything or nothing of it happens. Pure.
 * @source F-60; SPL Token-2022, "Required memo on transfer"
 */
export function markedInstructions(
  wallet: string,
  { id, mark, orderId, makesNoState, payments, emptying }: MarkedTerms,
  { markerRentLamports, ...bid }: UnitBid & { readonly markerRentLamports: bigint },
): readonly TransactionInstruction[] {
  const instructions = [
    ...unitBid(bid),
    ...markPayment(wallet, id, { mark, rentLamports: markerRentLamports }),
    ...payments.flatMap((payment) => requireHolder(wallet, payment, makesNoState === true)),
    ...(orderId === undefined ? [] : [memo(orderId)]),
    ...tokensFirst(payments).map((payment) => payOne(wallet, payment)),
    ...(emptying === undefined ? [] : [emptying]),
  ]
  return instructions.map(libraryInstruction)
}

/** In the transaction itself: whoever could hand his account over after a look would be paid twice. */
function requireHolder(
  wallet: string,
  { recipient, currency, token }: MarkedPayment,
  makesNoState: boolean,
): readonly SolanaInstruction[] {
  if (token === undefined) return []
  const held = { mint: currency, tokenProgram: token.program }
  return [createTokenAccount(held, { owner: recipient, payer: makesNoState ? undefined : wallet })]
}

const tokensFirst = (payments: readonly MarkedPayment[]): readonly MarkedPayment[] => [
  ...payments.filter(({ token }) => token !== undefined),
  ...payments.filter(({ token }) => token === undefined),
]

function payOne(wallet: string, { recipient, currency, amount, token }: MarkedPayment): SolanaInstruction {
  const payment = { from: wallet, to: recipient, amount }
  if (token === undefined) return sendCoin(payment)
  return sendTokenChecked({ mint: currency, tokenProgram: token.program }, payment, token.decimals)
}

/** Tokens between the own accounts of two owners, of whom the first signs. @source SPL Token, TransferChecked */
function sendTokenChecked(
  token: SolanaToken,
  { from, to, amount }: SolanaPayment,
  decimals: number,
): SolanaInstruction {
  const data = Buffer.alloc(10)
  data.writeUInt8(12)
  data.writeBigUInt64LE(amount, 1)
  data.writeUInt8(decimals, 9)
  const accounts = [
    [associatedTokenAccount(from, token), 'written'],
    [token.mint, 'read'],
    [associatedTokenAccount(to, token), 'written'],
    [from, 'signs'],
  ] as const
  return { program: token.tokenProgram, accounts, data }
}

/** The order id as text, which is what is read. @source rule F-60 */
function memo(orderId: Hex): SolanaInstruction {
  return { program: memoProgram, accounts: [], data: Buffer.from(orderId) }
}
