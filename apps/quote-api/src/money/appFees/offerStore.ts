import type { Hex, SqlDatabase, SqlTx } from '@causeway/core'
import { toBytes } from '../../requests/orders/orderColumns.ts'
import type { ClaimTerms } from './claimTerms.ts'

// An offer is a claim that was prepared and waits for its signature.

/** Time to sign a claim. */
const lifetimeSeconds = 600
/** Expired offers that each insert deletes, except those that another one deletes now: more than it adds. */
const expiredMax = 10

/** Stores an offer until it is signed or expires. */
export async function saveOffer(
  database: Pick<SqlDatabase, 'query'>,
  claimId: Hex,
  { wallet, recipient, chainId, currency, amount, charged }: ClaimTerms,
): Promise<void> {
  await database.query(
    `with swept as (
       delete from app_fee_claim_offer where claim_id in (
         select claim_id from app_fee_claim_offer where expires_at <= statement_timestamp()
         order by expires_at limit ${expiredMax} for update skip locked))
     insert into app_fee_claim_offer (claim_id, wallet, recipient, chain_id, currency, amount, charged, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp() + make_interval(secs => $8::int))`,
    [toBytes(claimId), wallet, recipient, chainId, currency, amount, charged, lifetimeSeconds],
  )
}

/** The terms of an offer that can still be signed. */
export async function readOffer(
  database: Pick<SqlDatabase, 'query'>,
  claimId: Hex,
): Promise<ClaimTerms | undefined> {
  const [row] = await database.query<OfferRow>(
    `select wallet, recipient, chain_id, currency, amount, charged from app_fee_claim_offer
     where claim_id = $1 and expires_at > clock_timestamp()`,
    [toBytes(claimId)],
  )
  if (row === undefined) return undefined
  const { chain_id, ...terms } = row
  return { ...terms, chainId: Number(chain_id) }
}

/** Deletes the offer, in the transaction that opens its claim. */
export async function dropOffer(tx: SqlTx, claimId: Hex): Promise<void> {
  await tx.query('delete from app_fee_claim_offer where claim_id = $1', [toBytes(claimId)])
}

type OfferRow = {
  readonly wallet: Hex
  readonly recipient: string
  readonly chain_id: bigint
  readonly currency: string
  readonly amount: bigint
  readonly charged: bigint
}
