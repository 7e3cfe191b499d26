import { exactNumber } from '@causeway/core'
import { lighterAsset } from '@causeway/core/encodings'
import { z } from 'zod'
import { FlatFees } from '../../../rules/flatFees.ts'
import type {
  ChainQuoting,
  ChainSettings,
  EncodedTransaction,
  NetworkFees,
  OriginRoute,
  PlannedTransaction,
  QuotingFamily,
} from '../../../rules/quotingFamily.ts'

const exact = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/** A transfer, as the public client's adapter hands it to the exchange. @source families.md 2.5 */
export const lighterStepData = z.object({
  action: z.object({
    type: z.literal('transfer'),
    parameters: z.object({
      ...{ toAccountIndex: exact, assetIndex: exact, fromRouteType: exact, toRouteType: exact },
      ...{ amount: exact, usdcFee: exact },
      memo: z.string(),
    }),
  }),
})

/** The public client prices for this account before a wallet is connected: it is no index. @source rule F-165 */
const clientsNobody = '0x000000000000000000000000000000000000dead'

/** The exchange takes amounts, accounts and fees as JSON numbers. */
export const lighterAmountMax = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * The family whose accounts are indices: one transfer to the depository's account that names the order in its memo. The
 * exchange takes its fee beside the amount, and only the very fee that it asks for. @source rules F-159, F-165
 */
export const lighterQuoting = {
  feeModel: 'flat',
  reserved: () => undefined,
  burnt: [clientsNobody],
  stepData: lighterStepData,
  bind: (settings): ChainQuoting => ({
    isNobody: (address) => address.toLowerCase() === clientsNobody,
    canSign: () => true,
    amountMax: () => lighterAmountMax,
    runsCalls: false,
    paysTokensToCode: true,
    tellsCallsApart: false,
    namesSolvers: false,
    hexAddress: () => {
      throw new Error('accounts of this family are no 20 bytes')
    },
    spenderOf: () => undefined,
    touched: () => [],
    plan: (route) => [plan(route)],
    encode: (planned, route, { identity, fees }) =>
      encode(settings, { planned, route, orderId: identity.orderId, fees }),
    addressSwap: () => undefined,
    encodeAddressSwap: () => {
      throw new Error('this family has no deposit addresses')
    },
  }),
} satisfies QuotingFamily

/** @throws Error for what nobody does on this family */
function plan({ by, swap, currencyIn: { isNative } }: OriginRoute): PlannedTransaction {
  if (by === 'send') return { kind: 'send-input', isNative }
  if ((by === 'deposit' || by === 'deposit-transfer') && swap === undefined)
    return { kind: 'deposit', isNative }
  throw new Error(`nothing is deposited by ${by} on this family`)
}

/** @throws Error for what was planned from another route, and for what users do alone: it is priced only */
function encode(
  { depository }: Pick<ChainSettings, 'depository'>,
  {
    planned,
    route,
    orderId,
    fees,
  }: {
    readonly planned: PlannedTransaction
    readonly route: OriginRoute
    readonly orderId: string | undefined
    readonly fees: NetworkFees
  },
): EncodedTransaction {
  if (planned.kind !== 'deposit' || orderId === undefined)
    throw new Error(`no ${planned.kind} is encoded on this family`)
  if (!(fees instanceof FlatFees)) throw new Error('a step is paid by fees of its own family')
  const { assetIndex, routeType } = lighterAsset(route.currencyIn.address)
  const step: z.infer<typeof lighterStepData> = {
    action: {
      type: 'transfer',
      parameters: {
        toAccountIndex: exactNumber(BigInt(depository)),
        assetIndex: exactNumber(assetIndex),
        fromRouteType: exactNumber(routeType),
        toRouteType: exactNumber(routeType),
        amount: exactNumber(route.amountIn),
        usdcFee: exactNumber(fees.transferFee),
        memo: orderId,
      },
    },
  }
  return { data: step, call: undefined }
}
