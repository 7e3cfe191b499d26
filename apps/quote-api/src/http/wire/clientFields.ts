import type { OutputChoice } from '@causeway/families/rules'
import { z } from 'zod'
import { QuoteError, type QuoteErrorCode } from '../../pricing/errors.ts'
import { swapSource } from '../../pricing/legs/legs.ts'
import type { SwapPermissions } from '../../pricing/request.ts'

const sources = z.array(z.string().max(64)).max(50).optional()
/** Gas units. A batch of calls that also deploys its account takes less than a million. */
const overheadMax = 9_999_999
/** Slippage tolerance in basis points, as text. @source rule Q-limits-01 */
export const tolerance = z
  .string()
  .regex(/^([0-9]{1,4}|10000)$/, 'must be basis points from 0 to 10000, in at most 4 digits or as 10000')

/**
 * Members that public clients send beside those of the interface document. Each is honoured, has no effect on
 * what is offered here, or is refused by name; docs/reference/request-fields.md lists them.
 * @source rule Q-137
 */
export const clientFields = {
  referrerAddress: z.string().max(128).optional().describe('Kept with the request'),
  ttl: z
    .int()
    .min(1)
    .max(86_400)
    .optional()
    .describe('Seconds after which no payment is begun; never longer than without it'),
  disableOriginSwaps: z.boolean().optional(),
  includedSwapSources: sources,
  excludedSwapSources: sources,
  includedOriginSwapSources: sources,
  includedDestinationSwapSources: sources,
  recoveryAddress: z
    .string()
    .max(128)
    .optional()
    .describe('With useDepositAddress: where deposits go that are not filled; another name for refundTo'),
  enableTrueExactOutput: z.boolean().optional().describe('An exact output is always exact'),
  includeProtocolData: z
    .boolean()
    .optional()
    .describe('The quote shows protocol.v2.orderSignature; /price has none'),
  latePaymentSlippageTolerance: tolerance
    .optional()
    .describe('A permission; late deposits are filled as quoted or refunded'),
  originGasOverhead: z
    .union([z.int().min(0).max(overheadMax), z.string().regex(/^[0-9]{1,7}$/, 'must be 1 to 7 digits')])
    .optional()
    .describe('For POST /execute: gas of the account beside its calls; 0: the user sends the deposit'),
  disableSwapProviderPreference: z.boolean().optional().describe('No effect: the best pool wins'),
  protocolVersion: z.enum(['v2', 'preferV2']).optional().describe('No effect: there is one'),
  additionalData: z
    .object({
      userPublicKey: z
        .string()
        .max(256)
        .optional()
        .describe('Hex. Of a user whose address is the hash of a script: needed to spend from it'),
      excludedOutputs: z
        .array(z.string().regex(/^[0-9a-f]{64}:(0|[1-9][0-9]{0,9})$/, 'must be txid:vout in lower case'))
        .max(500)
        .optional()
        .describe('Outputs of user that are not spent, each `txid:vout`'),
      minimumOutput: z
        .string()
        .regex(/^(0|[1-9][0-9]{0,15})$/, 'must be decimal digits')
        .optional()
        .describe('Outputs of user below this are not spent'),
    })
    .optional()
    .describe('Where outputs of `user` are spent; no effect elsewhere'),
  maxRouteLength: z.int().min(0).optional().describe('As useSharedAccounts'),
  useSharedAccounts: z.boolean().optional().describe('No effect'),
  includeComputeUnitLimit: z.boolean().optional().describe('No effect: it is always there'),
  authorizationList: z.array(z.unknown()).max(20).optional().describe('Refused unless it is empty'),
  gasLimitForDepositSpecifiedTxs: z.number().optional().describe('Refused: deposits carry no calls'),
  fixedRate: z.string().max(64).optional().describe('Refused: rates are those of the market'),
} as const

type ClientFields = z.infer<z.ZodObject<typeof clientFields>>

/** Refuses fields of `clientFields` that cannot be honoured. @throws QuoteError that names the field */
export function refuseClientFields(
  body: ClientFields & {
    readonly refundTo?: string | undefined
    readonly useDepositAddress?: boolean | undefined
  },
): void {
  const { authorizationList, gasLimitForDepositSpecifiedTxs, fixedRate, recoveryAddress, refundTo } = body
  if (authorizationList !== undefined && authorizationList.length > 0) {
    throw refusal('EXTRA_TXS_NOT_SUPPORTED', 'authorizationList', 'no fill carries authorizations')
  }
  if (gasLimitForDepositSpecifiedTxs !== undefined) {
    const code = 'INVALID_GAS_LIMIT_FOR_DEPOSIT_SPECIFIED_TXS'
    throw refusal(code, 'gasLimitForDepositSpecifiedTxs', 'no deposit carries calls')
  }
  if (fixedRate !== undefined)
    throw refusal('UNSUPPORTED_ROUTE', 'fixedRate', 'rates are those of the market')
  if (recoveryAddress === undefined) return
  if (body.useDepositAddress !== true) {
    throw refusal('INVALID_ADDRESS', 'recoveryAddress', 'it needs useDepositAddress')
  }
  // One account may be spelled in two cases.
  if (refundTo !== undefined && refundTo.toLowerCase() !== recoveryAddress.toLowerCase()) {
    throw refusal('INVALID_ADDRESS', 'recoveryAddress', 'refundTo names another account')
  }
}

function refusal(code: QuoteErrorCode, field: string, reason: string): QuoteError {
  return new QuoteError(code, `${field} cannot be honoured: ${reason}. Leave it out.`, { data: { field } })
}

/** The outputs of the user that a deposit may spend, on chains with outputs; undefined where a body does not choose. */
export function toOutputChoice({ additionalData }: ClientFields): OutputChoice | undefined {
  const { excludedOutputs, minimumOutput } = additionalData ?? {}
  if (excludedOutputs === undefined && minimumOutput === undefined) return undefined
  return {
    excluded: excludedOutputs ?? [],
    ...(minimumOutput !== undefined && { least: BigInt(minimumOutput) }),
  }
}

/** Tells on which sides of the route a swap is allowed. An empty list of sources restricts nothing. */
export function toSwapPermissions(body: ClientFields): SwapPermissions {
  const { includedSwapSources, excludedSwapSources, disableOriginSwaps } = body
  const includesOurSource = (sourceNames: readonly string[] | undefined) =>
    sourceNames === undefined || sourceNames.length === 0 || sourceNames.includes(swapSource)
  const isAllowed =
    includesOurSource(includedSwapSources) && excludedSwapSources?.includes(swapSource) !== true
  return {
    isOriginDisabled: disableOriginSwaps ?? false,
    hasOriginSource: isAllowed && includesOurSource(body.includedOriginSwapSources),
    hasDestinationSource: isAllowed && includesOurSource(body.includedDestinationSwapSources),
  }
}
