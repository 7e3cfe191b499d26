import type { DenyList } from '@causeway/chains'
import {
  decodeOrderCall,
  type Hex,
  type Order,
  orderSchema,
  type SqlDatabase,
  type SqlTx,
} from '@causeway/core'
import { z } from 'zod'
import type { QuoteRegistry } from '../../pricing/registry.ts'
import { deniedError, deniedField, type Party, partiesOf } from '../../pricing/routes/deniedParties.ts'
import { toBytes } from '../orders/orderColumns.ts'

type Queries = Pick<SqlDatabase, 'query'>
type Chains = Pick<QuoteRegistry, 'chainById'>

/** Operator's decision on a request held by the deny list: continue by the usual rules, or refund the money. */
export const releases = ['release', 'refund'] as const
export type Release = (typeof releases)[number]

/** The accounts of a stored request, which are compared with the deny list. */
export type ScreenedRequest = {
  readonly user: string
  readonly recipient: string
  readonly originChainId: number
  readonly destinationChainId: number
  readonly apiKeyId: string | undefined
  readonly order: Order | undefined
  readonly appFees: readonly { readonly recipient: string }[]
  /** Undefined before an operator has decided. */
  readonly released: Release | undefined
  /** True if a denied or unknown account paid its deposit address. */
  readonly isSenderDenied: boolean
}

/** Compares stored requests with the present deny list. */
export interface Screening {
  /**
   * Field of the request that names its first denied account; `depositor` for one of `senders`. Undefined where no account
   * is denied, and where an operator has released the request.
   * @param senders accounts of the origin chain that brought its money
   */
  deniedIn(request: ScreenedRequest, senders?: readonly string[]): string | undefined
  /** Like `deniedIn`, for stored requests. The answer has only those with a denied account. */
  deniedOf(queries: Queries, requestIds: readonly Hex[]): Promise<ReadonlyMap<Hex, string>>
  /** True if an account of a chain is denied, for the key or for all callers. */
  isDenied(chainId: number, address: string, keyId?: string): boolean
}

/** The account on its chain. On a chain that left the configuration it is compared as it is stored. */
function partyOn({ chainById }: Chains, chainId: number, address: string, field: string): Party {
  const codec = chainById.get(chainId)?.codec ?? { spellAddress: (text) => text }
  return { field, address, codec }
}

export function createScreening(list: DenyList, registry: Chains): Screening {
  const deniedIn = (request: ScreenedRequest, senders: readonly string[] = []) => {
    if (request.released !== undefined) return undefined
    const { originChainId, apiKeyId, isSenderDenied } = request
    const senderParties = senders.map((address) => partyOn(registry, originChainId, address, 'depositor'))
    const field = deniedField(list, [...storedParties(registry, request), ...senderParties], apiKeyId)
    return field ?? (isSenderDenied ? 'depositor' : undefined)
  }
  return {
    deniedIn,
    async deniedOf(queries, requestIds) {
      const requests = await readScreenedRequests(queries, requestIds)
      return new Map(
        [...requests].flatMap(([requestId, request]): [Hex, string][] => {
          const field = deniedIn(request)
          return field === undefined ? [] : [[requestId, field]]
        }),
      )
    },
    // Only the account is asked about, so its field has no name.
    isDenied: (chainId, address, keyId) =>
      deniedField(list, [partyOn(registry, chainId, address, '')], keyId) !== undefined,
  }
}

/**
 * Refuses to execute a request with an account that was denied since the quote. The error does not say which account it is,
 * because the caller may be a stranger who knows only the request id. @throws QuoteError SANCTIONED_WALLET_ADDRESS
 */
export async function refuseDeniedExecution(
  queries: Queries,
  screening: Screening | undefined,
  requestId: Hex,
): Promise<void> {
  if (screening === undefined) return
  const denied = await screening.deniedOf(queries, [requestId])
  if (denied.has(requestId)) throw deniedError('requestId')
}

/** All accounts that the quote named, and those that the order pays, refunds or calls. */
function storedParties(registry: Chains, { order, ...request }: ScreenedRequest): readonly Party[] {
  const [refundTo, ...otherRefundAccounts] =
    order?.inputs.flatMap(({ refunds }) => refunds.map(({ recipient }) => recipient)) ?? []
  const { payments = [], calls = [] } = order?.output ?? {}
  const quoted = partiesOf(registry, { ...request, refundTo, txs: calls.map(decodeOrderCall) })
  const refunded = otherRefundAccounts.map((account) =>
    partyOn(registry, request.originChainId, account, 'refundTo'),
  )
  const paid = payments.map(({ recipient }) =>
    partyOn(registry, request.destinationChainId, recipient, 'recipient'),
  )
  return [...quoted, ...refunded, ...paid]
}

const appFeesSchema = z.array(z.object({ recipient: z.string() }))

/** Reads stored requests by their ids. */
export async function readScreenedRequests(
  queries: Queries,
  requestIds: readonly Hex[],
): Promise<ReadonlyMap<Hex, ScreenedRequest>> {
  if (requestIds.length === 0) return new Map()
  const rows = await queries.query<{
    readonly request_id: Buffer
    readonly user_address: string
    readonly recipient: string
    readonly origin_chain_id: bigint
    readonly destination_chain_id: bigint
    readonly api_key_id: string | null
    readonly order_data: unknown
    readonly app_fees: unknown
    readonly released: Release | null
    readonly is_sender_denied: boolean
  }>(
    `select o.request_id, o.user_address, o.recipient, o.origin_chain_id, o.destination_chain_id, o.api_key_id,
       o.order_data, o.quoted -> 'appFees' as app_fees, ${releasedColumn} as released,
       ${senderDeniedColumn} as is_sender_denied
     from orders o where o.request_id = any($1)`,
    [requestIds.map(toBytes)],
  )
  return new Map(
    rows.map((row) => [
      `0x${row.request_id.toString('hex')}` as const,
      {
        user: row.user_address,
        recipient: row.recipient,
        originChainId: Number(row.origin_chain_id),
        destinationChainId: Number(row.destination_chain_id),
        apiKeyId: row.api_key_id ?? undefined,
        order: row.order_data === null ? undefined : orderSchema.parse(row.order_data),
        appFees: appFeesSchema.parse(row.app_fees),
        released: row.released ?? undefined,
        isSenderDenied: row.is_sender_denied,
      },
    ]),
  )
}

/** SQL over `orders o`: the operator's decision, or null. */
export const releasedColumn = '(select r.resolution from deny_release r where r.request_id = o.request_id)'
/**
 * SQL over `orders o`: true if a denied or unknown account paid its deposit address. Hex addresses are kept in lower
 * case; base58 is told apart by its capitals, so it must be equal.
 */
export const senderDeniedColumn = `exists (select from deposit_address d where d.is_sender_denied
  and d.address in (o.deposit_address, lower(o.deposit_address)))`

/** Stores an operator's decision on a denied request, in place of an earlier one; it is screened no more. */
export async function insertRelease(tx: SqlTx, requestId: Hex, resolution: Release): Promise<void> {
  await tx.query(
    `insert into deny_release (request_id, resolution) values ($1, $2)
     on conflict (request_id) do update set resolution = $2, released_at = clock_timestamp()`,
    [toBytes(requestId), resolution],
  )
}
