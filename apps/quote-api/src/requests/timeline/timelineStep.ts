import { formatAmount, orderRefused } from '@causeway/core'

/** Names of all steps that a timeline may have. */
export const stepNames = [
  'quoted',
  'quoted-anew',
  'funds-held',
  'deposit-seen',
  'deposit-accepted',
  'deposit-final',
  'deposit-to-return',
  'deposit-returned',
  'deposit-kept',
  'deposit-stopped',
  'deposit-lost',
  'loss-booked',
  'loss-taken-back',
  'deposit-transaction',
  'payment-left',
  'asked-solver',
  'asked-solver-again',
  'solver-stopped',
  'solver-sent',
  'solver-reverted',
  'solver-done',
  'solver-gave-up',
  'solver-not-needed',
  'fill-seen',
  'refund-seen',
  'call-reported',
  'call-executed',
  'call-reverted',
  'call-unrelated',
  'attested',
  'ended-by-operator',
  'settled',
  'parked',
  'stands-still',
  'taken-up-again',
  'refund-needs-operator',
  'recoverable',
  'denial-lifted',
  'succeeded',
  'failed',
  'refunded',
  'sponsor-debited',
  'funds-released',
  'expired',
] as const
export type StepName = (typeof stepNames)[number]

export const evidenceKinds = [
  'amount',
  'price',
  'block',
  'transaction',
  'signature',
  'moment',
  'work',
  'request',
] as const

/** A fact behind a step that a reader can verify, such as a transaction or a price. */
export type Evidence = {
  readonly kind: (typeof evidenceKinds)[number]
  readonly label: string
  readonly value: string
  readonly chainId?: number
}

/** One step of a timeline. */
export type TimelineStep = {
  readonly step: StepName
  readonly atMs: number
  readonly reason: string | undefined
  /** One sentence for people. */
  readonly text: string
  readonly evidence: readonly Evidence[]
}

export const step = (
  name: StepName,
  atMs: number,
  text: string,
  evidence: readonly Evidence[] = [],
  reason?: string,
): TimelineStep => ({ step: name, atMs, reason, text, evidence })

/** Quotes a solver's refusal without the code at its beginning. */
export const solverSays = (report = ''): string =>
  `It says: ${report.slice(orderRefused.length).replace(/^: /, '')}.`

/** Looks up a currency's symbol and decimals; undefined if it is not configured. */
export type CurrencyLookup = (
  chainId: number,
  currency: string,
) => { readonly symbol: string; readonly decimals: number } | undefined

/** An amount for people; `decimals` of the quote serve where the currency is not configured. */
export function amountText(
  nameOf: CurrencyLookup,
  chainId: number,
  currency: string,
  amount: bigint,
  decimals?: number,
): string {
  const currencyName = nameOf(chainId, currency)
  if (currencyName !== undefined)
    return `${formatAmount(amount, currencyName.decimals)} ${currencyName.symbol}`
  return decimals === undefined
    ? `${amount} units of ${currency}`
    : `${formatAmount(amount, decimals)} of ${currency}`
}
