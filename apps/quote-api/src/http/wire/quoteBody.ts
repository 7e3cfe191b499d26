import { type Hex, sponsoredWords } from '@causeway/core'
import { z } from 'zod'
import {
  type AppFeeRequest,
  type DestinationCall,
  type QuoteRequest,
  tradeTypes,
} from '../../pricing/request.ts'
import type { SponsorshipRequest } from '../../pricing/sponsorship/sponsorshipTerms.ts'
import {
  clientFields,
  refuseClientFields,
  tolerance,
  toOutputChoice,
  toSwapPermissions,
} from './clientFields.ts'

const chainId = z.int().positive()
/** Longest spelling of any family's address or currency id. */
const addressText = z.string().min(1).max(128)
const uint256Max = (2n ** 256n - 1n).toString()

/** Compares digits as text: zod runs this rule even if the pattern refused the text as no number. */
function fitsUint256(digits: string): boolean {
  const significant = digits.replace(/^0+/, '')
  return (
    significant.length < uint256Max.length ||
    (significant.length === uint256Max.length && significant <= uint256Max)
  )
}

const beyondUint256 = { error: 'must fit in 256 bits' }
/** Decimal amount. The pattern is that of the interface document; the bound is a rule of its own. @source Q-3 */
const amount = z
  .string()
  .regex(/^[0-9]+$/, 'must be decimal digits')
  .refine(fitsUint256, beyondUint256)
const hexAmount = z
  .string()
  .regex(/^0x[a-fA-F0-9]+$/, 'must be 0x and hex digits')
  .refine((text) => text.replace(/^0x0*/, '').length <= 64, beyondUint256)
const hexAddress = z.string().regex(/^0x[a-fA-F0-9]{40}$/, 'must be 0x and 40 hex digits')
const callDataCharactersMax = 32_768

const callsMax = 20
const appFeesMax = 10

const destinationCall = z
  .object({
    to: hexAddress.describe('Contract to call on the destination chain'),
    value: z
      .union([amount, hexAmount, z.int().min(0)])
      .default('0')
      .describe('Wei of the destination currency sent along: decimal or 0x digits, or a number'),
    data: z
      .string()
      .max(callDataCharactersMax)
      .regex(/^0x[a-fA-F0-9]*$/, 'must be 0x and hex digits')
      // Text without 0x is refused by the pattern already, and gets no second message.
      .refine((text) => text.length % 2 === 0 || !text.startsWith('0x'), {
        error: 'must have an even number of hex digits: half a byte is no data',
      })
      .default('0x')
      .describe('Calldata: 0x and an even number of hex digits'),
    originalTxValue: z.unknown().optional().describe('No effect: what it means is unknown'),
  })
  .meta({ title: 'DestinationCall' })

const appFee = z
  .object({
    recipient: hexAddress.describe('Account that the fee accrues to'),
    fee: z
      .string()
      .regex(/^[0-9]+$/, 'must be decimal digits')
      .describe('Basis points of the input, 100 = 1 %'),
  })
  .meta({ title: 'AppFee' })

/** Fields that /price, /quote and /quote/v2 share. Unknown fields are stripped. */
const sharedFields = {
  ...clientFields,
  user: addressText.describe('Account that deposits on the origin chain'),
  originChainId: chainId,
  destinationChainId: chainId,
  originCurrency: addressText,
  destinationCurrency: addressText,
  amount: amount.describe("Input or output, by tradeType, in the currency's smallest unit"),
  tradeType: z.enum(tradeTypes),
  txs: z.array(destinationCall).max(callsMax).optional().describe('Calls to run on the destination chain'),
  referrer: z.string().max(256).optional().describe('Kept with the request'),
  refundTo: addressText
    .optional()
    .describe(
      "Refund address on the origin chain; the native currency's id means user. Default: recipient, where he can be paid there and is no contract of the destination alone, else user",
    ),
  refundOnOrigin: z
    .boolean()
    .optional()
    .meta({ deprecated: true, description: 'Refunds always happen on the origin chain' }),
  useExternalLiquidity: z
    .boolean()
    .optional()
    .describe('More liquidity, later, where the solver is short; `details.externalLiquidity` says whether'),
  useFallbacks: z
    .boolean()
    .optional()
    .describe(
      'Two pools in a row, and fees beyond the listed pools, where these cannot serve; `details.fallbackType` says which',
    ),
  usePermit: z.boolean().optional().describe('Deposit by signature, for currencies that support it'),
  permitExpiry: z
    .int()
    .min(60)
    .max(86_400)
    .optional()
    .describe('Seconds that the signature of a permit holds; default 600'),
  useDepositAddress: z
    .boolean()
    .optional()
    .describe('Deposit by paying an address, in a currency that the solver takes'),
  strict: z
    .boolean()
    .optional()
    .describe(
      'A deposit address of one use: another amount is given back instead of quoted anew; needs refundTo',
    ),
  slippageTolerance: tolerance
    .optional()
    .describe(
      'Basis points, 0 to 10000; computed when left out. What pools stand below market prices counts, beyond what is ordinary',
    ),
  appFees: z
    .array(appFee)
    .max(appFeesMax)
    .refine((fees) => fees.reduce((sum, { fee }) => sum + Number(fee), 0) <= 10_000, {
      error: 'must not add up to more than 10000 basis points',
    })
    .optional(),
  txsGasLimit: z
    .int()
    .min(0)
    .max(10_000_000)
    .optional()
    .describe('Gas of all calls; simulated when left out'),
  topupGas: z.boolean().optional().describe('Also deliver some of the destination gas currency'),
  topupGasAmount: amount.optional().describe('USD with 6 decimals; default 2000000'),
  explicitDeposit: z
    .boolean()
    .optional()
    .describe('false: one plain token transfer instead of approve and deposit'),
  forceSolverExecution: z.boolean().optional(),
  overridePriceImpact: z.boolean().optional().describe('Accept any swap impact'),
}

/** Fields by which a caller with a sponsor asks that it pays fees. @source Q-30 */
const sponsorshipFields = {
  subsidizeFees: z.boolean().optional().describe('The sponsor pays all fees, gas top-up included'),
  maxSubsidizationAmount: amount.optional().describe('Cap on the subsidy, USDC with 6 decimals'),
  subsidizeRent: z.boolean().optional().describe('The sponsor pays Solana account rent; needs subsidizeFees'),
  depositFeePayer: addressText.optional().describe('Solana account that pays for the deposit; not `user`'),
  sponsoredFeeComponents: z
    .array(z.enum(sponsoredWords))
    .min(1)
    .max(sponsoredWords.length)
    .optional()
    .describe(
      'What of `fees` the sponsor pays: `relayer` all of `fees.relayer`, `gas` all of `fees.relayerGas`; or single fees by the names of `feeSponsorship.quoted.components`. Rent of an account needs `rent`. `app` changes nothing: app fees stay with the user. Default: `relayer`',
    ),
}

export const priceBodySchema = z.object({ ...sharedFields, recipient: addressText.optional() })

const recipientField = addressText.describe('Receiver on the destination chain')

/** `recipient` is required here and optional on `/quote/v2`. @source rule Q-142 */
export const quoteBodySchema = z.object({ ...sharedFields, ...sponsorshipFields, recipient: recipientField })

export const quoteV2BodySchema = z.object({
  ...sharedFields,
  ...sponsorshipFields,
  recipient: recipientField.optional(),
})

export type PriceBody = z.infer<typeof priceBodySchema>
export type QuoteBody = z.infer<typeof quoteV2BodySchema>

const defaultTopupMicroUsd = 2_000_000n
const defaultPermitExpirySeconds = 600

/**
 * Reads a body into the request that pricing takes: decimal strings become `bigint`, absent fields get their defaults.
 * @throws QuoteError for a field that cannot be honoured
 */
export function toQuoteRequest(body: PriceBody): QuoteRequest {
  refuseClientFields(body)
  return {
    user: body.user,
    recipient: body.recipient,
    originChainId: body.originChainId,
    destinationChainId: body.destinationChainId,
    originCurrency: body.originCurrency,
    destinationCurrency: body.destinationCurrency,
    amount: BigInt(body.amount),
    tradeType: body.tradeType,
    txs: body.txs?.map(toCall) ?? [],
    txsGasLimit: body.txsGasLimit === undefined ? undefined : BigInt(body.txsGasLimit),
    refundTo: body.refundTo ?? body.recoveryAddress,
    topupGas: body.topupGas ?? false,
    topupGasMicroUsd: body.topupGasAmount === undefined ? defaultTopupMicroUsd : BigInt(body.topupGasAmount),
    appFees: body.appFees?.map(toAppFee) ?? [],
    slippageBps: body.slippageTolerance === undefined ? undefined : BigInt(body.slippageTolerance),
    usePermit: body.usePermit ?? false,
    permitExpirySeconds: body.permitExpiry ?? defaultPermitExpirySeconds,
    useDepositAddress: body.useDepositAddress ?? false,
    strict: body.strict ?? false,
    explicitDeposit: body.explicitDeposit ?? true,
    forceSolverExecution: body.forceSolverExecution ?? false,
    overridePriceImpact: body.overridePriceImpact ?? false,
    useFallbacks: body.useFallbacks ?? false,
    useExternalLiquidity: body.useExternalLiquidity ?? false,
    includeProtocolData: body.includeProtocolData ?? false,
    originGasOverhead: body.originGasOverhead === undefined ? undefined : BigInt(body.originGasOverhead),
    swaps: toSwapPermissions(body),
    userPublicKey: body.additionalData?.userPublicKey,
    outputChoice: toOutputChoice(body),
    ttlSeconds: body.ttl,
    referrer: body.referrer,
    referrerAddress: body.referrerAddress,
  }
}

function toCall({ to, value, data }: z.infer<typeof destinationCall>): DestinationCall {
  // CAST: the schema admits only `0x` and hex digits.
  return { to: to.toLowerCase() as Hex, value: BigInt(value), data: data.toLowerCase() as Hex }
}

function toAppFee({ recipient, fee }: z.infer<typeof appFee>): AppFeeRequest {
  // CAST: the schema admits only `0x` and 40 hex digits.
  return { recipient: recipient.toLowerCase() as Hex, bps: BigInt(fee) }
}

/** The sponsorship fields of a body, or undefined where it names none of them. */
export function toSponsorshipRequest(body: QuoteBody): SponsorshipRequest | undefined {
  const { subsidizeFees, maxSubsidizationAmount, subsidizeRent, depositFeePayer, sponsoredFeeComponents } =
    body
  if (
    subsidizeFees === undefined &&
    maxSubsidizationAmount === undefined &&
    subsidizeRent === undefined &&
    depositFeePayer === undefined &&
    sponsoredFeeComponents === undefined
  ) {
    return undefined
  }
  return {
    subsidizeFees: subsidizeFees ?? false,
    capMicroUsd: maxSubsidizationAmount === undefined ? undefined : BigInt(maxSubsidizationAmount),
    subsidizeRent: subsidizeRent ?? false,
    depositFeePayer,
    components: sponsoredFeeComponents,
  }
}
