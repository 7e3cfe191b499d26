import { bytes32Text, type Hex, hexText } from '@causeway/core'
import {
  type AddressSwap,
  type DepositAddress,
  depositOrderSalt,
  depositSaltRandomBytes,
  depositSwapSalt,
  type OriginRoute,
} from '@causeway/families/rules'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import { needsOriginSwap, withoutDepositAddresses } from '../../pricing/execution/executionMode.ts'
import type { QuotableChain, QuotableCurrency } from '../../pricing/registry.ts'
import type { Route } from '../../pricing/routes/route.ts'

/** Swap of a deposit address before its deposit. The nonce is one of the inputs that the order's salt commits to. */
export type DepositSwap = AddressSwap & { readonly nonce: Hex }

/** The order's salt, and the swap that it commits to where there is one. */
export function depositSaltOf(
  { address }: Pick<DepositAddress, 'address'>,
  route: OriginRoute,
  { quoting }: Pick<QuotableChain, 'quoting'>,
  randomBytes: (length: number) => Buffer,
): { readonly salt: Hex; readonly swap: DepositSwap | undefined } {
  if (quoting.depositAddresses === undefined) throw new Error('a chain without deposit addresses has none')
  const name = quoting.depositAddresses.nameOf(address)
  const swap = quoting.addressSwap(route)
  if (swap === undefined) return { salt: depositOrderSalt(name, randomBytes(depositSaltRandomBytes)), swap }
  const kept: DepositSwap = { ...swap, nonce: `0x${randomBytes(32).toString('hex')}` }
  return { salt: depositSwapSalt(name, kept), swap: kept }
}

const integer = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform(BigInt)
const address20 = hexText(20)

/** Column `orders.deposit_swap`. Written by `depositSwapToJson`. */
export const depositSwapSchema = z.object({
  tokenIn: address20,
  amountIn: integer,
  tokenOut: address20,
  amountOutMin: integer,
  hops: z.array(z.object({ tokenOut: address20, feePips: z.int() })),
  nonce: bytes32Text,
})

export function depositSwapToJson({ amountIn, amountOutMin, ...swap }: DepositSwap): string {
  return JSON.stringify({ ...swap, amountIn: String(amountIn), amountOutMin: String(amountOutMin) })
}

/** True if a currency of the chain can be paid to a deposit address. Quotes of an address use the same check. */
export function takesDepositAddresses(
  { config, quoting }: QuotableChain,
  currency: QuotableCurrency,
  fillWallet: string | undefined,
): boolean {
  const hasAddresses =
    quoting.depositAddresses !== undefined && (config.fillWallet ?? fillWallet) !== undefined
  const isTaken = !needsOriginSwap(currency) || config.depositRouter !== undefined
  return config.enabled && hasAddresses && isTaken
}

/**
 * An address that nobody has used. Whoever is refunded is also credited with the deposits, so that both
 * ways back end with the same party; where nobody holds that account, the fill wallet is, so that a deposit can be recovered.
 * @throws QuoteError UNSUPPORTED_EXECUTION_TYPE where nobody could empty it, INVALID_ADDRESS where the native currency's id,
 * which oracles read as whoever deposits, would be refunded
 * @source Q-66
 * @param parties.refunded whom its order names for the refund
 */
export function newDepositAddress(
  route: Route,
  parties: {
    readonly orderSigner: Hex
    readonly fillWallet: string | undefined
    readonly refunded: string
    readonly nonce: Hex
  },
): DepositAddress {
  const { origin } = route
  const { depositAddresses } = origin.quoting
  const { orderSigner, nonce } = parties
  const fillWallet = origin.config.fillWallet ?? parties.fillWallet
  if (depositAddresses === undefined || fillWallet === undefined) throw withoutDepositAddresses(origin)
  const { codec } = origin
  // Pages name nobody by an address of another network on one of a test.
  if (!codec.isAddress(parties.refunded) || codec.spellAddress(parties.refunded) === codec.nativeCurrency) {
    throw new QuoteError('INVALID_ADDRESS', 'A deposit address needs somebody to refund: name refundTo.', {
      data: { field: 'refundTo' },
    })
  }
  const refunded = codec.canonicalAddress(parties.refunded)
  const isNobodys = origin.payees.isBurnt(refunded)
  const depositor =
    isNobodys && depositAddresses.creditsDepositor ? codec.canonicalAddress(fillWallet) : refunded
  return depositAddresses.make({ orderSigner, fillWallet, depositor, nonce })
}
