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
import type { Landing, SentTransaction } from '../../shared/payingChain.ts'
import type { PaymentStates } from './paymentStates.ts'
import { transferParameters } from './transfer.ts'

/** A payment that was not executed in this time after its nonce gets another nonce. */
export const lifetimeMs = 300_000n
/**
 * With so many transfers at higher nonces a payment gets another nonce, long before the exchange refuses its own: it
 * accepts none below an account's hundred highest.
 */
const transfersAboveMax = 50

/**
 * A payment or a closing as the solver keeps it. It holds no signature: that is made when it is sent, after the hub has
 * its nonce, so that a copied database pays nobody.
 */
const keptSchema = z.discriminatedUnion('mark', [
  z.object({ mark: z.literal('closed'), id: z.custom<Hex>(isHex32), nonce: z.coerce.bigint() }),
  z.object({
    mark: z.literal('paid'),
    id: z.custom<Hex>(isHex32),
    nonce: z.coerce.bigint(),
    orderId: z.custom<Hex>(isHex32),
    transfer: transferParameters,
  }),
])
type KeptTransaction = z.output<typeof keptSchema>
export type KeptPayment = Extract<KeptTransaction, { mark: 'paid' }>

/** `raw`: the kept form, JSON in hex. `hash`: its own, which names it until the exchange gives the transfer one. */
export function encodeKept(kept: KeptTransaction): { readonly raw: Hex; readonly hash: string } {
  const text = JSON.stringify({ ...kept, nonce: kept.nonce.toString() })
  return { raw: bytesToHex(utf8Bytes(text)), hash: sha256TextHex(text) }
}

/** @throws Error for bytes that `encodeKept` did not make */
export function decodeKept(raw: Hex): KeptTransaction {
  return keptSchema.parse(JSON.parse(new TextDecoder().decode(hexToBytes(raw))))
}

/**
 * Landing of transactions that all are of one payment, or all of one closing. The returned height stands for a time:
 * one beyond every `lastValidHeight` says that none of them can be executed as a payment any more.
 */
export async function landingOf(
  transactions: readonly SentTransaction[],
  states: Pick<PaymentStates, 'readLedger' | 'look' | 'hashOfPaid'>,
): Promise<Landing> {
  const [first] = transactions
  if (first === undefined) throw new Error('nothing was signed')
  const kept = transactions.map(({ raw }) => decodeKept(raw))
  const { id, mark } = decodeKept(first.raw)
  if (mark === 'closed') {
    const { ledger, state } = await states.look(id)
    // A closing that has not come about is never given up early: it expires by its time.
    return state === 'closed'
      ? { kind: 'landed', hash: first.hash, succeeded: true, isFinal: true }
      : { kind: 'none', finalHeight: ledger.timeMs }
  }
  const nonces = kept.map(({ nonce }) => nonce)
  const ledger = await states.readLedger(nonces)
  const hash = await states.hashOfPaid(id, nonces, ledger)
  if (hash !== undefined) return { kind: 'landed', hash, succeeded: true, isFinal: true }
  const mayStillLand = ({ nonce }: KeptTransaction) =>
    ledger.executedAt(nonce) === undefined &&
    !ledger.isExpired(nonce) &&
    ledger.countAbove(nonce) < transfersAboveMax &&
    nonce + lifetimeMs >= ledger.timeMs
  const lastHeight = transactions.map(({ lastValidHeight }) => lastValidHeight).reduce(maxBigint, 0n)
  // If none may land any more, their end is not waited for: the height is beyond it at once.
  const finalHeight = kept.some(mayStillLand) ? ledger.timeMs : maxBigint(ledger.timeMs, lastHeight + 1n)
  return { kind: 'none', finalHeight }
}
