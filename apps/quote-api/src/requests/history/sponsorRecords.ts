import { bytesToHex, type Hex, type SqlDatabase } from '@causeway/core'
import { listWalletTopUps, type OpenHold, readOpenHolds, type TopUpEvent } from '@causeway/ledger'
import { readShown, type ShownRow, shownColumns, shownReasons } from '../status/shownReasons.ts'

/** An API key whose requests a wallet pays for, without its secret. */
export type SponsoredKey = { readonly id: string; readonly label: string; readonly linkedAt: Date }

/** A request that a wallet pays for, as its sponsor sees it. `debitMicroUsd` is the hold until the debit is known. */
export type SponsoredRequest = {
  readonly requestId: Hex
  readonly apiKeyId: string
  readonly status: string
  readonly failReason: string | undefined
  readonly originChainId: number
  readonly destinationChainId: number
  readonly debitMicroUsd: bigint
  readonly createdAt: Date
}

/** The newest records of a sponsor's wallet for its console page, newest first. Wallets are lower case. */
export interface SponsorRecords {
  keys(wallet: Hex): Promise<readonly SponsoredKey[]>
  holds(wallet: Hex): Promise<readonly OpenHold[]>
  /** Requests that the wallet pays for, of keys that are linked to it at present. */
  requests(wallet: Hex): Promise<readonly SponsoredRequest[]>
  topUps(wallet: Hex): Promise<readonly TopUpEvent[]>
}

const holdsMax = 100
const requestsMax = 50
const topUpsMax = 20

export function createSponsorRecords(database: SqlDatabase): SponsorRecords {
  return {
    async keys(wallet) {
      const rows = await database.query<{ id: string; label: string; wallet_linked_at: Date }>(
        `select id, label, wallet_linked_at from api_key
         where wallet = $1 and revoked_at is null order by wallet_linked_at desc, id`,
        [wallet],
      )
      return rows.map(({ id, label, wallet_linked_at: linkedAt }) => ({ id, label, linkedAt }))
    },

    topUps: (wallet) => database.transaction((tx) => listWalletTopUps(tx, wallet, topUpsMax)),

    holds: (wallet) => database.transaction((tx) => readOpenHolds(tx, wallet, holdsMax)),

    async requests(wallet) {
      // One subquery per key, because the index of orders begins with the key.
      const rows = await database.query<RequestRow>(
        `select o.* from api_key k cross join lateral (
           select o.request_id, o.api_key_id, ${shownColumns}, o.origin_chain_id, o.destination_chain_id,
             coalesce((select h.posted_amount from hold h where h.request_id = o.request_id and h.state = 'posted'),
               s.debit_micro_usd) as debit_micro_usd, o.created_at
           from orders o join request_sponsorship s using (request_id)
           where o.api_key_id = k.id and s.sponsor = $1 order by o.created_at desc limit $2) o
         where k.wallet = $1 and k.revoked_at is null order by o.created_at desc, o.request_id limit $2`,
        [wallet, requestsMax],
      )
      const standing = await readShown(database, rows)
      return rows.map((row) => ({
        requestId: bytesToHex(row.request_id),
        apiKeyId: row.api_key_id,
        status: row.status,
        failReason: shownReasons(row, standing.get(bytesToHex(row.request_id))).failReason,
        originChainId: Number(row.origin_chain_id),
        destinationChainId: Number(row.destination_chain_id),
        debitMicroUsd: BigInt(row.debit_micro_usd),
        createdAt: row.created_at,
      }))
    },
  }
}

type RequestRow = ShownRow & {
  readonly request_id: Buffer
  readonly api_key_id: string
  readonly origin_chain_id: bigint
  readonly destination_chain_id: bigint
  readonly debit_micro_usd: string | bigint
  readonly created_at: Date
}
