import { type Hex, orderSchema, type SqlTx } from '@causeway/core'
import { createOpenQuotes } from '../../../pricing/openQuotes/openQuotes.ts'
import type { QuoteRegistry } from '../../../pricing/registry.ts'
import type { QuoteRequest } from '../../../pricing/request.ts'
import { type SponsorshipRequest, selectingFields } from '../../../pricing/sponsorship/sponsorshipTerms.ts'
import { createQuote } from '../../draft/createQuote.ts'
import { createSponsoredQuote, type StoreOutcome } from '../../draft/createSponsoredQuote.ts'
import type { QuoteRecord } from '../../draft/draftQuote.ts'
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

/** The caller's parts of the transaction that stores the new quote. */
type RequoteSteps = {
  /** Runs first: locks the address. @throws Error if another process has changed it, so that nothing is stored */
  lock(tx: SqlTx): Promise<StoredAddress>
  /** Runs last. */
  onStored(tx: SqlTx, record: QuoteRecord, locked: StoredAddress): Promise<void>
}

/**
 * Quotes an amount that arrived at an address: the request of the newest quote, with this amount and present prices. The
 * quote, its place as the newest one and the caller's steps are one commit. The payer of the fees is decided anew.
 * @param amount that arrived, in smallest units of the quoted currency
 * @throws QuoteError where the amount cannot be quoted
 * @source rules
 */
export async function requote(
  context: DepositAddressContext,
  address: StoredAddress,
  amount: bigint,
  { lock, onStored }: RequoteSteps,
): Promise<void> {
  const { database, ledger, quoting } = context
  const storedRequest = await readStoredRequest(context, address.requestId)
  const store = (record: QuoteRecord, hold: Parameters<typeof quoting.storeSponsored>[1]) =>
    database.transaction(async (tx): Promise<StoreOutcome> => {
      const locked = await lock(tx)
      const policyRefusal = hold && (await refuseEndedAddress(tx, address.address, hold))
      if (policyRefusal !== undefined) return policyRefusal
      const outcome = await storeDepositQuote(tx, ledger, record, hold)
      if (!isKept(outcome)) return outcome
      await supersede(tx, address, record.quote.requestId)
      await onStored(tx, record, locked)
      return outcome
    })
  const dependencies = {
    ...quoting,
    // An operator has released the denied payment.
    ...(storedRequest.isReleased && { denyList: undefined }),
    depositAddress: { address: address.address, terms: address.terms },
    // An already paid quote is no open promise, so it does not count against the user's limit: 0 sets none.
    openQuotes: createOpenQuotes({ perUserBps: 0 }),
    store: async (record: QuoteRecord) => void (await store(record, undefined)),
    storeSponsored: store,
  }
  const request = { ...storedRequest.request, amount }
  const { keyId, sponsorship } = storedRequest
  // Nobody asks over HTTP, so there is no caller whose open quotes would count.
  const asker = { keyId, caller: '' }
  // Without a sponsor wallet the key pays for nobody any more, and the user bears the fees.
  const isSponsored = keyId !== undefined && (await quoting.sponsors.walletOf(keyId)) !== undefined
  if (sponsorship === undefined || !isSponsored) await createQuote(dependencies, request, asker)
  else await createSponsoredQuote(dependencies, { request, sponsorship, ...asker })
}

/** `keyId` is the API key of the quote; `isReleased` that an operator let a denied payment pass. */
type StoredQuoteRequest = {
  readonly request: QuoteRequest
  readonly sponsorship: SponsorshipRequest | undefined
  readonly keyId: string | undefined
  readonly isReleased: boolean
}

/** The quote request of an address's newest quote, as far as it is stored. */
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

/** Members that are not stored have the defaults of a request, unless a comment says otherwise. */
function requestOf(row: StoredQuoteRow, { chainById }: Pick<QuoteRegistry, 'chainById'>): QuoteRequest {
  const quoted = quotedAmountsSchema.parse(row.quoted)
  // Every order names a refund account. Pages that do not know the payer name a burn account as `user`, to
  // which nothing may be refunded.
  const refundAccount = orderSchema.parse(row.order_data).inputs[0]?.refunds[0]?.recipient ?? ''
  const isBurnt = chainById.get(Number(row.origin_chain_id))?.payees.isBurnt(refundAccount) === true
  return {
    user: row.user_address,
    recipient: row.recipient,
    originChainId: Number(row.origin_chain_id),
    destinationChainId: Number(row.destination_chain_id),
    originCurrency: quoted.originCurrency,
    destinationCurrency: quoted.destinationCurrency,
    amount: quoted.amountIn,
    // The amount that arrived is the input, whatever the first quote fixed.
    tradeType: 'EXACT_INPUT',
    txs: [],
    txsGasLimit: undefined,
    refundTo: isBurnt ? undefined : refundAccount,
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
    // Addresses of a single use are never quoted anew.
    strict: false,
    explicitDeposit: true,
    forceSolverExecution: false,
    overridePriceImpact: false,
    // The caller's choice of fallbacks is not stored. Without fallbacks some payments could only be sent back.
    useFallbacks: true,
    useExternalLiquidity: false,
    // The solver sweeps only for a signed order, so it is signed at once.
    includeProtocolData: true,
  }
}

function sponsorshipRequestOf({ selected, capMicroUsd }: QuotedSponsorship): SponsorshipRequest {
  return {
    ...selectingFields(selected),
    capMicroUsd,
    // The two members below have no effect where a deposit address is paid.
    depositFeePayer: undefined,
    components: undefined,
  }
}
