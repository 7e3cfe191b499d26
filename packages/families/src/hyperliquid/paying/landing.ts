import {
  bytesToHex,
  type Hex,
  hexToBytes,
  isHex32,
  maxBigint,
  sha256TextHex,
  utf8Bytes,
} from '@causeway/core'
import { z } from 'zod'
import type { Landing, PaymentState, SentTransaction } from '../../shared/payingChain.ts'
import type { OwnLedger } from './ownLedger.ts'
import { transferParameters } from './transfer.ts'

/** A payment that was not executed within it gets another nonce. */
export const lifetimeMs = 300_000n
/** The exchange keeps an account's hundred highest nonces and takes none below them: long before, a payment gets another one. */
const transfersAboveMax = 50

/** Stored form of a payment or a closing: nothing is signed for the exchange before the hub has its nonce. */
const keptSchema = z.discriminatedUnion('mark', [
  z.object({ mark: z.literal('closed'), id: z.custom<Hex>(isHex32), nonce: z.coerce.bigint() }),
  z.object({
    ...{ mark: z.literal('paid'), id: z.custom<Hex>(isHex32), nonce: z.coerce.bigint() },
    ...{ orderId: z.custom<Hex>(isHex32), transfer: transferParameters },
  }),
])
type Kept = z.output<typeof keptSchema>
export type KeptPayment = Extract<Kept, { mark: 'paid' }>

/** As it is kept, and what it is called until the exchange gives it a hash. */
export function textOf(kept: Kept): { readonly raw: Hex; readonly hash: string } {
  const text = JSON.stringify({ ...kept, nonce: kept.nonce.toString() })
  return { raw: bytesToHex(utf8Bytes(text)), hash: sha256TextHex(text) }
}

/** @throws Error for what this family did not sign */
export function keptIn(raw: Hex): Kept {
  return keptSchema.parse(JSON.parse(new TextDecoder().decode(hexToBytes(raw))))
}

type LedgerReaders = {
  readonly readLedger: (nonces: readonly bigint[]) => Promise<OwnLedger>
  readonly look: (id: Hex) => Promise<{ readonly ledger: OwnLedger; readonly state: PaymentState }>
  readonly hashOfPaid: (id: Hex, nonces: readonly bigint[], ledger: OwnLedger) => Promise<string | undefined>
}

/** All of them are of one payment, or of one closing. */
export async function landingOf(
  transactions: readonly SentTransaction[],
  states: LedgerReaders,
): Promise<Landing> {
  const [first] = transactions
  if (first === undefined) throw new Error('nothing was signed')
  const kept = transactions.map(({ raw }) => keptIn(raw))
  const { id, mark } = keptIn(first.raw)
  if (mark === 'closed') {
    const { ledger, state } = await states.look(id)
    return state === 'closed'
      ? { kind: 'landed', hash: first.hash, succeeded: true, isFinal: true }
      : { kind: 'none', finalHeight: ledger.timeMs }
  }
  const ledger = await states.readLedger(kept.map(({ nonce }) => nonce))
  const hash = await states.hashOfPaid(
    id,
    kept.map(({ nonce }) => nonce),
    ledger,
  )
  if (hash !== undefined) return { kind: 'landed', hash, succeeded: true, isFinal: true }
  const isAlive = ({ nonce }: Kept) =>
    ledger.shown(nonce) === undefined &&
    !ledger.isOver(nonce) &&
    ledger.countAbove(nonce) < transfersAboveMax &&
    nonce + lifetimeMs >= ledger.timeMs
  const end = transactions.map(({ lastValidHeight }) => lastValidHeight).reduce(maxBigint, 0n)
  const isEarly = kept.some(isAlive) || ledger.timeMs > end
  return { kind: 'none', finalHeight: isEarly ? ledger.timeMs : end + 1n }
}
