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

/** Swap of a deposit address before its deposit. The order's salt commits to the swap, its random nonce included. */
export type DepositSwap = AddressSwap & { readonly nonce: Hex }

/** Makes the salt of an order paid through a deposit address: it commits to the address, and to the swap if there is one. */
export function depositSaltOf(
  { address }: Pick<DepositAddress, 'address'>,
  route: OriginRoute,
  { quoting }: Pick<QuotableChain, 'quoting'>,
  randomBytes: (length: number) => Buffer,
): { readonly salt: Hex; readonly swap: DepositSwap | undefined } {
  if (quoting.depositAddresses === undefined) throw new Error('a chain without deposit addresses has none')
  const addressName = quoting.depositAddresses.nameOf(address)
  const swap = quoting.addressSwap(route)
  if (swap === undefined)
    return { salt: depositOrderSalt(addressName, randomBytes(depositSaltRandomBytes)), swap }
  const swapWithNonce: DepositSwap = { ...swap, nonce: `0x${randomBytes(32).toString('hex')}` }
  return { salt: depositSwapSalt(addressName, swapWithNonce), swap: swapWithNonce }
}

const integer = z
  .string()
  .regex(/^[0-9]{1,78}$/)
  .transform(BigInt)
const address20 = hexText(20)

/** Shape of column `orders.deposit_swap`, which `depositSwapToJson` writes. */
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

/**
 * True if a currency can be paid to a deposit address: for the list of chains, by the same rule as quotes.
 * @param fillWallet of chains that configure none of their own
 */
export function takesDepositAddresses(
  { config, quoting }: QuotableChain,
  currency: QuotableCurrency,
  fillWallet: string | undefined,
): boolean {
  const hasAddresses =
    quoting.depositAddresses !== undefined && (config.fillWallet ?? fillWallet) !== undefined
  const canBeDeposited = !needsOriginSwap(currency) || config.depositRouter !== undefined
  return config.enabled && hasAddresses && canBeDeposited
}

/**
 * Makes a new deposit address. With `creditsDepositor`, deposits from it are credited to the `depositor` of
 * its terms. That is the account that is refunded, so that a refund and a withdrawal from the hub end with
 * the same party; or the fill wallet in place of a burn account, so that an operator can recover the
 * deposits. Without `creditsDepositor`, every deposit is credited to the fill wallet that sweeps, and
 * `depositor` only names who may withdraw from the address before a sweep.
 * @param parties.refunded account that the order names for its refund
 * @param parties.nonce 32 random bytes
 * @throws QuoteError UNSUPPORTED_EXECUTION_TYPE where no fill wallet could empty it; INVALID_ADDRESS where the refund would
 * go to the native currency's id, which oracles read as "whoever deposits"
 * @source Q-66
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
  // On test networks, pages that know no user send a placeholder that is an address of another network.
  if (!codec.isAddress(parties.refunded) || codec.spellAddress(parties.refunded) === codec.nativeCurrency) {
    throw new QuoteError('INVALID_ADDRESS', 'A deposit address needs somebody to refund: name refundTo.', {
      data: { field: 'refundTo' },
    })
  }
  const refundAccount = codec.canonicalAddress(parties.refunded)
  const isBurnt = origin.payees.isBurnt(refundAccount)
  const depositor =
    isBurnt && depositAddresses.creditsDepositor ? codec.canonicalAddress(fillWallet) : refundAccount
  return depositAddresses.make({ orderSigner, fillWallet, depositor, nonce })
}
