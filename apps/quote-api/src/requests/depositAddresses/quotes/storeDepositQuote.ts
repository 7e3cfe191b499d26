import type { HoldRequest, Ledger, SqlWriteTx } from '@causeway/core'
import type { DepositAddress } from '@causeway/families/rules'
import type { StoreOutcome } from '../../draft/createSponsoredQuote.ts'
import type { QuoteRecord } from '../../draft/draftQuote.ts'
import { insertOrders, orderColumns } from '../../orders/orderColumns.ts'
import { isKept, toStoredSponsorship, writeGroup } from '../../orders/sponsoredOrderStore.ts'
import { toStoredOrder } from '../../orders/storedOrder.ts'
import { insertAddress, nameAddress } from '../addressStore.ts'

/**
 * Stores a quote that is paid through a deposit address, with its hold where it has a sponsor. Called directly for a
 * payment to a known address, and by `storeFirstQuote` for a new one. If the hold is refused, nothing is stored.
 */
export async function storeDepositQuote(
  tx: SqlWriteTx,
  ledger: Ledger,
  record: QuoteRecord,
  hold: HoldRequest | undefined,
): Promise<StoreOutcome> {
  const outcome = await storeOrder(tx, ledger, record, hold)
  const { requestId, depositSwap } = record.quote
  if (isKept(outcome)) await nameAddress(tx, addressOf(record).address, { requestId, depositSwap })
  return outcome
}

/** Stores a quote that a caller asked for, together with its new address. */
export async function storeFirstQuote(
  tx: SqlWriteTx,
  ledger: Ledger,
  record: QuoteRecord,
  hold: HoldRequest | undefined,
): Promise<StoreOutcome> {
  const outcome = await storeDepositQuote(tx, ledger, record, hold)
  if (!isKept(outcome)) return outcome
  const { requestId, priced } = record.quote
  const { route, amountIn: askedAmount } = priced
  const { chainId } = route.origin
  const currency = route.currencyIn.address
  const { strict: isStrict } = record.request
  const isKeyed = record.apiKeyId !== undefined
  await insertAddress(tx, addressOf(record), { requestId, chainId, currency, isStrict, askedAmount, isKeyed })
  return outcome
}

async function storeOrder(
  tx: SqlWriteTx,
  ledger: Ledger,
  record: QuoteRecord,
  hold: HoldRequest | undefined,
): Promise<StoreOutcome> {
  const order = toStoredOrder(record)
  const { sponsorship } = record.quote
  if (sponsorship === undefined) {
    await tx.query(insertOrders, orderColumns([order]))
    return { status: 'no_hold' }
  }
  const item = { order, sponsorship: toStoredSponsorship(sponsorship), hold }
  const [outcome] = await writeGroup(tx, ledger, [item])
  if (outcome === undefined) throw new Error('the ledger told no outcome of a hold')
  return outcome
}

function addressOf({ quote }: QuoteRecord): DepositAddress {
  if (quote.depositAddress === undefined) throw new Error('the quote has no deposit address')
  return quote.depositAddress
}
