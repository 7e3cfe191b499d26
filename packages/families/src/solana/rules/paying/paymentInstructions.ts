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

/** Effects of one transaction of a fill wallet; each transaction that is signed anew in its place has the same. */
export type MarkedTerms = {
  /** Id to mark: an order's id for a fill, a refund's own id for a refund. */
  readonly id: Hex
  readonly mark: PaymentMark
  /** Order that the memo names, by which the payment is attested; absent for a closing. */
  readonly orderId?: Hex | undefined
  /** True if no token account may be created: the transaction fails if one is missing. */
  readonly makesNoState?: boolean | undefined
  readonly payments: readonly MarkedPayment[]
  /** Instruction that empties a deposit address, instead of payments. */
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
 * The instructions of a payment, a closing or a sweep, in order: bid, marker, token accounts, memo, transfers
 * or the emptying. The memo is directly before the first transfer, and tokens come first, because a token
 * account may require that. All of them take effect or none: the marker fails for an id that has one, and
 * then nothing is paid. Pure.
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

/**
 * Creates the recipient's token account, or checks in the transaction itself that it is his: a recipient who
 * gave it away after our look would otherwise get nothing, and be owed a second payment.
 */
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

/** Number of the token programs' instruction. @source SPL Token, TransferChecked */
const transferChecked = 12

/** Sends tokens between the associated accounts of two owners; the first signs. */
function sendTokenChecked(
  token: SolanaToken,
  { from, to, amount }: SolanaPayment,
  decimals: number,
): SolanaInstruction {
  const data = Buffer.alloc(10)
  data.writeUInt8(transferChecked)
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

/** Memo of the order id as text, as oracles read it. @source rule F-60 */
function memo(orderId: Hex): SolanaInstruction {
  return { program: memoProgram, accounts: [], data: Buffer.from(orderId) }
}
