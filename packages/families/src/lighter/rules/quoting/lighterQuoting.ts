import { exactNumber } from '@causeway/core'
import { lighterAsset } from '@causeway/core/encodings'
import { z } from 'zod'
import type { EncodedTransaction } from '../../../rules/encodedStep.ts'
import { FlatFees } from '../../../rules/flatFees.ts'
import type { NetworkFees } from '../../../rules/networkFees.ts'
import type { OriginRoute } from '../../../rules/originRoute.ts'
import type { PlannedTransaction } from '../../../rules/plannedTransaction.ts'
import type { ChainQuoting, ChainSettings, QuotingFamily } from '../../../rules/quotingFamily.ts'

const exact = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)

/**
 * Step data: a transfer as the public client's adapter passes it to the exchange.
 * @source github.com/relayprotocol/relay-kit, relay-lighter-wallet-adapter
 */
export const lighterStepData = z.object({
  action: z.object({
    type: z.literal('transfer'),
    parameters: z.object({
      toAccountIndex: exact,
      assetIndex: exact,
      fromRouteType: exact,
      toRouteType: exact,
      amount: exact,
      usdcFee: exact,
      memo: z.string(),
    }),
  }),
})

/** User for whom clients ask prices before a wallet is connected; it is no account index. @source rule F-165 */
const placeholderUser = '0x000000000000000000000000000000000000dead'

/** Largest amount of a transfer: the exchange reads amounts, accounts and fees as JSON numbers. */
export const lighterAmountMax = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Lighter in quotes. Accounts are indices. A deposit is one transfer to the depository's account that names the order
 * in its memo. The exchange's fee is paid beside the amount, and a transfer must name it exactly. @source rules
 * F-159, F-165
 */
export const lighterQuoting = {
  feeModel: 'flat',
  // An index does not tell whether an account belongs to the exchange itself.
  reserved: () => undefined,
  // Accounts that nobody holds, so that nothing is refunded to them.
  burnt: [placeholderUser],
  stepData: lighterStepData,
  bind: (settings): ChainQuoting => ({
    isNobody: (address) => address.toLowerCase() === placeholderUser,
    // An index does not tell whether somebody has the account's key.
    canSign: () => true,
    amountMax: () => lighterAmountMax,
    // No account has code: fills run no calls, and no payment is refused for the recipient's code.
    runsCalls: false,
    paysTokensToCode: true,
    // Routes that users execute alone get a price, but no quote: no `call` of a step would identify them.
    tellsCallsApart: false,
    // Orders name their solver under another chain, since accounts of this family are no 20-byte keys.
    namesSolvers: false,
    hexAddress: () => {
      throw new Error('accounts of this family are no 20 bytes')
    },
    // No payment needs an allowance, and no cost depends on balances that are read before pricing.
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

/** Both ways of depositing are one transfer here. @throws Error for ways that this family does not have */
function plan({ by, swap, currencyIn: { isNative } }: OriginRoute): PlannedTransaction {
  if (by === 'send') return { kind: 'send-input', isNative }
  if ((by === 'deposit' || by === 'deposit-transfer') && swap === undefined)
    return { kind: 'deposit', isNative }
  throw new Error(`nothing is deposited by ${by} on this family`)
}

/** The transfer that the user signs. @throws Error for other kinds: what users do alone is only priced */
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
