import { type Hex, orderSchema, type SqlTx } from '@causeway/core'
import { createOpenQuotes } from '../../../pricing/openQuotes/openQuotes.ts'
import type { QuoteRegistry } from '../../../pricing/registry.ts'
import type { QuoteRequest } from '../../../pricing/request.ts'
import { type SponsorshipRequest, selectingFields } from '../../../pricing/sponsorship/sponsorshipTerms.ts'
import { createQuote, type QuoteRecord } from '../../draft/createQuote.ts'
import { createSponsoredQuote, type StoreOutcome } from '../../draft/createSponsoredQuote.ts'
import {
  type QuotedSponsorship,
  quotedAmountsSchema,
  quotedSponsorshipSchema,
} from '../../history/quotedAmounts.ts'
import { toBytes } from '../../orders/orderColumns.ts'
import { isKept } from '../../orders/sponsoredOrderStore.ts'
import { releasedColumn } from '../../screening/screenedRequest.ts'
import { type StoredAddress, supersede } from '../addressStore.ts'
import type { DepositAddressContext } from '../depositAddressContext.ts'
import { refuseEndedAddress } from './openAddressSponsorship.ts'
import { storeDepositQuote } from './storeDepositQuote.ts'

/** Runs in the transaction that stores the new quote. */
type OnStored = (tx: SqlTx, record: QuoteRecord) => Promise<void>
/** Begins the transaction, and throws where the address was moved by another process. */
type Begin = (tx: SqlTx) => Promise<void>

/**
 * Quotes what arrived like the newest quote of its address, at the prices of now, and stores it with all
 * that follows from it in one commit. Who pays the fees is decided anew, by the same rules.
 * @throws QuoteError where what arrived cannot be quoted
 * @source rules
 */
export async function requote(
  context: DepositAddressContext,
  address: StoredAddress,
  amount: bigint,
  { begin, onStored }: { readonly begin: Begin; readonly onStored: OnStored },
): Promise<void> {
  const { database, ledger, quoting } = context
  const storedRequest = await readStoredRequest(context, address.requestId)
  const store = (record: QuoteRecord, hold: Parameters<typeof quoting.storeSponsored>[1]) =>
    database.transaction(async (tx): Promise<StoreOutcome> => {
      await begin(tx)
      const endedOutcome = hold && (await refuseEndedAddress(tx, address.address, hold))
      if (endedOutcome !== undefined) return endedOutcome
      const outcome = await storeDepositQuote(tx, ledger, record, hold)
      if (!isKept(outcome)) return outcome
      await supersede(tx, address, record.quote.requestId)
      await onStored(tx, record)
      return outcome
    })
  const { address: at, terms } = address
  const dependencies = {
    ...quoting,
    // An operator let it pass.
    ...(storedRequest.isReleased && { denyList: undefined }),
    depositAddress: { address: at, terms },
    // The payment was made already, so this quote cannot be left open.
    openQuotes: createOpenQuotes({ perUserBps: 0 }),
    store: async (record: QuoteRecord) => void (await store(record, undefined)),
    storeSponsored: store,
  }
  const request = { ...storedRequest.request, amount }
  const { keyId, sponsorship } = storedRequest
  const asker = { keyId, caller: '' }
  // A key that lost its wallet pays for nobody any more; the payment is quoted all the same.
  const isSponsored = keyId !== undefined && (await quoting.sponsors.walletOf(keyId)) !== undefined
  if (sponsorship === undefined || !isSponsored) await createQuote(dependencies, request, asker)
  else await createSponsoredQuote(dependencies, { request, sponsorship, ...asker })
}

type StoredQuoteRequest = {
  readonly request: QuoteRequest
  readonly sponsorship: SponsorshipRequest | undefined
  readonly keyId: string | undefined
  readonly isReleased: boolean
}

/** Request behind the newest quote, restored from its stored part. */
async function readStoredRequest(
  { database, quoting: { registry } }: Pick<DepositAddressContext, 'database' | 'quoting'>,
  requestId: Hex,
): Promise<StoredQuoteRequest> {
  const [row] = await database.query<StoredQuoteRow>(
    `select o.user_address, o.recipient, o.origin_chain_id, o.destination_chain_id, o.api_key_id, o.quoted,
       o.order_data, s.quoted as sponsorship, ${releasedColumn} is not null as is_released
     from orders o left join request_sponsorship s using (request_id) where o.request_id = $1`,
    [toBytes(requestId)],
  )
  if (row === undefined) throw new Error('a deposit address has its request')
  return {
    request: requestOf(row, registry),
    sponsorship:
      row.sponsorship === null
        ? undefined
        : sponsorshipRequestOf(quotedSponsorshipSchema.parse(row.sponsorship)),
    keyId: row.api_key_id ?? undefined,
    isReleased: row.is_released,
  }
}

type StoredQuoteRow = {
  readonly user_address: string
  readonly recipient: string
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly api_key_id: string | null
  readonly quoted: unknown
  readonly order_data: unknown
  readonly sponsorship: unknown
  readonly is_released: boolean
}

function requestOf(row: StoredQuoteRow, { chainById }: Pick<QuoteRegistry, 'chainById'>): QuoteRequest {
  const quoted = quotedAmountsSchema.parse(row.quoted)
  const refunded = orderSchema.parse(row.order_data).inputs[0]?.refunds[0]?.recipient ?? ''
  // No sender was named: this account is the `user` of pages that do not know the payer.
  const isBurnt = chainById.get(Number(row.origin_chain_id))?.payees.isBurnt(refunded) === true
  return {
    user: row.user_address,
    recipient: row.recipient,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    originCurrency: quoted.originCurrency,
    destinationCurrency: quoted.destinationCurrency,
    amount: quoted.amountIn,
    tradeType: 'EXACT_INPUT',
    txs: [],
    txsGasLimit: undefined,
    refundTo: isBurnt ? undefined : refunded,
    topupGas: false,
    topupGasMicroUsd: 0n,
    appFees: quoted.appFees.map(({ recipient, feeBps }) => ({
      // CAST: the body's schema lets only 20 bytes of hex through.
      recipient: recipient as Hex,
      bps: BigInt(feeBps),
    })),
    slippageBps: BigInt(quoted.slippageBps),
    usePermit: false,
    permitExpirySeconds: 0,
    useDepositAddress: true,
    // One of one use is not quoted anew.
    strict: false,
    explicitDeposit: true,
    forceSolverExecution: false,
    overridePriceImpact: false,
    // The caller's permission for fallbacks is not stored. They are allowed, because a payment that needs them would go
    // back otherwise.
    useFallbacks: true,
    useExternalLiquidity: false,
    // The deposit was paid already, so the order is signed at once.
    includeProtocolData: true,
  }
}

function sponsorshipRequestOf({ selected, capMicroUsd }: QuotedSponsorship): SponsorshipRequest {
  return {
    ...selectingFields(selected),
    capMicroUsd,
    depositFeePayer: undefined,
    components: undefined,
  }
}
