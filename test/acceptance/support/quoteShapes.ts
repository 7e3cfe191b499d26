// The bodies of the quote document as its tables give them, apart from every schema of the service.
import { z } from 'zod'

/** Smallest units; below zero where the document allows a reward. */
const digits = z.string().regex(/^-?[0-9]+$/)
const decimal = z.string().regex(/^-?[0-9]+\.[0-9]+$/)

const currencyShape = z.strictObject({
  chainId: z.number(),
  address: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number(),
  metadata: z.strictObject({ logoURI: z.string(), verified: z.boolean(), isNative: z.boolean() }).optional(),
})

export const amountShape = z.strictObject({
  currency: currencyShape,
  amount: digits,
  amountFormatted: decimal,
  amountUsd: decimal,
  minimumAmount: digits,
})
export type Amount = z.output<typeof amountShape>

const feeNames = ['gas', 'relayerGas', 'relayerService', 'relayer', 'app', 'subsidized'] as const
const feesShape = z.strictObject({
  gas: amountShape,
  relayerGas: amountShape,
  relayerService: amountShape,
  relayer: amountShape,
  app: amountShape,
  subsidized: amountShape,
})

const impactShape = z.strictObject({ usd: decimal, percent: decimal })
const spentShape = z.strictObject({ usd: decimal, value: digits, percent: decimal })
const detailsShape = z.strictObject({
  operation: z.enum(['send', 'swap', 'wrap', 'unwrap', 'bridge']),
  sender: z.string(),
  recipient: z.string(),
  currencyIn: amountShape,
  currencyOut: amountShape,
  totalImpact: impactShape,
  swapImpact: impactShape,
  rate: z.string(),
  slippageTolerance: z.strictObject({ total: digits, origin: spentShape, destination: spentShape }),
  timeEstimate: z.number(),
  // Left out where no chain told it in time.
  userBalance: digits.optional(),
})

/** `POST /price` answers these members and no others, but for flags that name what they were used for. */
export const priceShape = z.strictObject({ fees: feesShape, details: detailsShape })
export type Price = z.output<typeof priceShape>

/** Members of `/quote` that the document leaves open. */
export const quoteShape = z.looseObject({
  requestId: z.string(),
  steps: z.array(
    z.looseObject({ id: z.string(), kind: z.string(), items: z.array(z.looseObject({ data: z.unknown() })) }),
  ),
  fees: z.looseObject(feesShape.shape),
  details: z.looseObject(detailsShape.shape),
  feeSponsorship: z.looseObject({ status: z.string(), reason: z.string().optional() }).optional(),
})
export type Quote = z.output<typeof quoteShape>

/** The record has further members for the public client. */
export const recordShape = z.looseObject({
  ...amountShape.shape,
  held: amountShape,
  balances: z.array(z.looseObject({ currency: currencyShape, amount: digits })),
})

/** For 400 with `errorData`; every other status has none. */
export const errorShape = z.looseObject({
  message: z.string().regex(/^[^\n]+\.$/),
  errorCode: z.string().regex(/^[A-Z][A-Z_]+$/),
  errorData: z.string().optional(),
})
export type Refusal = z.output<typeof errorShape> & { readonly status: number }

/** Every CurrencyAmount of a priced answer, by where it stands. */
export function amountsOf({ fees, details }: Pick<Quote, 'fees' | 'details'>): readonly [string, Amount][] {
  return [
    ...feeNames.map((name): [string, Amount] => [`fees.${name}`, fees[name]]),
    ['details.currencyIn', details.currencyIn],
    ['details.currencyOut', details.currencyOut],
  ]
}

/** An integer of smallest units as a decimal, without zeros that say nothing: `100.0`, `0.02`. */
export function formatted(amount: string, decimals: number): string {
  const [sign, text] = amount.startsWith('-') ? ['-', amount.slice(1)] : ['', amount]
  const padded = text.padStart(decimals + 1, '0')
  const whole = padded.slice(0, padded.length - decimals)
  return `${sign}${whole}.${padded.slice(padded.length - decimals).replace(/0+$/, '') || '0'}`
}
