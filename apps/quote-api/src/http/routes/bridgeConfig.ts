import { convertDown, convertUp, maxBigint, minBigint, pow10 } from '@causeway/core'
import { errorResponses, type HttpApp } from '@causeway/http'
import type { MarketSnapshot } from '@causeway/market'
import { z } from 'zod'
import { QuoteError } from '../../pricing/errors.ts'
import { payableUsd } from '../../pricing/market/inventory.ts'
import { requireChain, requireInventory, requirePrice } from '../../pricing/market/marketAccess.ts'
import { priceRequest, rewardsFor } from '../../pricing/priceRequest.ts'
import type { PricingDependencies } from '../../pricing/pricingDependencies.ts'
import { findCurrency, type QuotableChain, type QuotableCurrency } from '../../pricing/registry.ts'
import { pricingErrors } from '../routeErrors.ts'
import { toQuoteRequest } from '../wire/quoteBody.ts'
import { requireListedChain } from './chains.ts'

const amountText = z.string().describe('Smallest units of the currency')

const answerSchema = z.object({
  enabled: z.boolean().describe('False where the currency cannot be moved between the chains now'),
  user: z
    .object({ balance: amountText, maxBridgeAmount: amountText })
    .optional()
    .describe('Present when `user` was sent and the chain told the balance in time'),
  fee: amountText.optional().describe('Of moving a hundred dollars; absent where that is not possible now'),
  solver: z.object({ address: z.string(), balance: amountText, capacityPerRequest: amountText }),
  supportsExternalLiquidity: z.boolean().describe('Always false: the solver pays from its own'),
})

const chainId = z.coerce.number().int().positive()

const querySchema = z.object({
  originChainId: chainId,
  destinationChainId: chainId,
  user: z.string().min(1).max(128).optional(),
  currency: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Asset id, or an address on the destination; default: native of the destination'),
})

type Dependencies = PricingDependencies & { readonly fillWallet: string | undefined }

/** USD for whose transfer the answer shows the fee; a caller names no amount. */
const usualUsd = 100n
/** Older clients send this address as `user` when they have none, on any chain. @source Q-109 */
const noUser = `0x${'0'.repeat(40)}`

/** GET /config/v2: what can be bridged between two chains in one currency. @source rule Q-109 */
export function registerBridgeConfig(app: HttpApp, dependencies: Dependencies): void {
  const schema = {
    operationId: 'getConfigV2',
    tags: ['discovery'],
    errors: pricingErrors,
    summary: 'What can be moved between two chains in one currency',
    querystring: querySchema,
    response: { 200: answerSchema, ...errorResponses },
  }
  // `/config` is the older name, which OpenAPI does not show. @source Q-111
  for (const [url, hide] of [
    ['/config/v2', false],
    ['/config', true],
  ] as const)
    app.get(url, { schema: { ...schema, hide }, config: { rateLimitClass: 'quote' } }, ({ query }) =>
      readBridgeConfig(dependencies, query),
    )
}

async function readBridgeConfig(
  dependencies: Dependencies,
  query: z.infer<typeof querySchema>,
): Promise<z.infer<typeof answerSchema>> {
  const { registry, snapshot, fillWallet } = dependencies
  const origin = requireListedChain(registry, query.originChainId)
  const destination = requireListedChain(registry, query.destinationChainId)
  const assetId = assetIdOf(destination, query.currency)
  const currencyOut = currencyOfAsset(destination, assetId)
  const currencyIn = currencyOfAsset(origin, assetId)
  const user = readUser(origin, query.user)
  const market = snapshot()
  const capacity = capacityOf(market, currencyOut, dependencies)
  // Absent: the solver keeps none of this currency, or its balance is not known.
  const solverBalance = requireChain(market, destination.chainId).inventory.get(currencyOut.key) ?? 0n
  const capacityIn = convertDown(
    capacity,
    requirePrice(market, currencyOut),
    requirePrice(market, currencyIn),
  )
  const fee = await feeOf(dependencies, { origin, destination, currencyIn, currencyOut })
  const userBalance = user === undefined ? undefined : await balanceOf(dependencies, user, currencyIn)
  // The fee is that of `usualUsd`, not of the balance. Without one nothing can be moved: `enabled` is false.
  return {
    enabled: origin.config.enabled && destination.config.enabled && capacity > 0n && fee !== undefined,
    ...(userBalance !== undefined && {
      user: {
        balance: userBalance.toString(),
        maxBridgeAmount: minBigint(maxBigint(userBalance - (fee ?? 0n), 0n), capacityIn).toString(),
      },
    }),
    ...(fee !== undefined && { fee: fee.toString() }),
    solver: {
      // Empty where none is configured.
      address: fillWallet ?? '',
      balance: solverBalance.toString(),
      capacityPerRequest: capacity.toString(),
    },
    supportsExternalLiquidity: false,
  }
}

/** @returns undefined where the query names no user @throws QuoteError INVALID_ADDRESS */
function readUser({ codec }: QuotableChain, text: string | undefined): string | undefined {
  const user = text === noUser ? undefined : text
  if (user === undefined || codec.isAddress(user)) return user
  throw new QuoteError('INVALID_ADDRESS', 'user is no address of the origin chain.', {
    data: { field: 'user' },
  })
}

/** The most that the solver pays for one request, in smallest units; 0 of a currency that it does not hold. */
function capacityOf(
  market: MarketSnapshot,
  currency: QuotableCurrency,
  { inventoryView }: Dependencies,
): bigint {
  const price = requirePrice(market, currency)
  if (currency.asset.inventory === undefined) return 0n
  const payableUsdX18 = payableUsd(requireInventory(inventoryView(market), currency), currency)
  return payableUsdX18 > 0n ? (payableUsdX18 * pow10(currency.decimals)) / price.usdX18 : 0n
}

/** The user's balance; undefined where the chain does not tell it in time. */
async function balanceOf(
  { userFacts }: Dependencies,
  user: string,
  { chainId, address }: QuotableCurrency,
): Promise<bigint | undefined> {
  // Only the balance is asked for: no allowance of a spender, and no `touched` balances of other accounts.
  const facts = await userFacts({ chainId, user, currency: address, spender: undefined, touched: [] })
  return facts.balance
}

/** The asset that the query means. Older clients send an address, the zero address for the native currency. @source Q-109 */
function assetIdOf(chain: QuotableChain, currency: string | undefined): string {
  if (currency === undefined) return chain.native.asset.id
  return findCurrency(chain, currency)?.asset.id ?? currency
}

/** The chain's currency of an asset, one that the solver uses first. @throws QuoteError UNSUPPORTED_CURRENCY */
function currencyOfAsset(chain: QuotableChain, assetId: string): QuotableCurrency {
  const currencies = [...chain.currencies.values()].filter(({ asset }) => asset.id === assetId)
  const currency = currencies.find(({ solver }) => solver) ?? currencies[0]
  if (currency !== undefined) return currency
  throw new QuoteError('UNSUPPORTED_CURRENCY', 'The currency is not on both chains.', {
    data: { field: 'currency' },
  })
}

type FeeQuestion = {
  readonly origin: QuotableChain
  readonly destination: QuotableChain
  readonly currencyIn: QuotableCurrency
  readonly currencyOut: QuotableCurrency
}

/** Fee for moving `usualUsd`, in units of the input currency; undefined if the market or the solver cannot serve it now. */
async function feeOf(
  dependencies: PricingDependencies,
  { origin, destination, currencyIn, currencyOut }: FeeQuestion,
): Promise<bigint | undefined> {
  const price = requirePrice(dependencies.snapshot(), currencyIn)
  const [user, recipient] = [origin.payees.nobody, destination.payees.nobody]
  if (user === undefined || recipient === undefined) return undefined
  const request = toQuoteRequest({
    user,
    // A price that names no recipient tries no payment.
    ...(recipient !== user && { recipient }),
    originChainId: origin.chainId,
    destinationChainId: destination.chainId,
    originCurrency: currencyIn.address,
    destinationCurrency: currencyOut.address,
    amount: ((usualUsd * pow10(18) * pow10(currencyIn.decimals)) / price.usdX18).toString(),
    tradeType: 'EXACT_INPUT',
  })
  try {
    // The fee is that of a caller without an API key.
    const rewards = rewardsFor(dependencies, undefined)
    const { split, prices } = await priceRequest(dependencies, request, { rewards })
    return convertUp(split.relayer, prices.feeCurrency, prices.currencyIn)
  } catch (error) {
    if (error instanceof QuoteError) return undefined
    throw error
  }
}
