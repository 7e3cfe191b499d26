import type { BalanceRecord, Ledger, SqlTx } from '@causeway/core'
import { defaultHoldCaps, type HoldCaps } from './holds/holdCaps.ts'
import { reserveFreeHolds, reserveHolds } from './holds/reserve.ts'
import { expireDueHolds, pinHold, postHold, reserveHoldAgain, unpinHold, voidHold } from './holds/resolve.ts'
import { usdcAssetId } from './transfers/accounts.ts'

/** The ledger in PostgreSQL; it works in the caller's transaction. `caps`: bounds on holds without a deposit. */
export function createLedger({ caps = defaultHoldCaps }: { caps?: HoldCaps } = {}): Ledger {
  return {
    async reserve(tx, request) {
      const [outcome] = await reserveHolds(tx, [request], { caps })
      if (outcome === undefined) throw new Error('a request was not decided')
      return outcome
    },
    reserveBatch: (tx, requests) => reserveHolds(tx, requests, { caps }),
    reserveFree: (tx, requests) => reserveFreeHolds(tx, requests, { caps }),
    reserveAgain: (tx, args) => reserveHoldAgain(tx, args, caps),
    pin: pinHold,
    unpin: unpinHold,
    post: postHold,
    void: voidHold,
    expireDue: expireDueHolds,
    balance: readBalance,
  }
}

type BalanceRow = { readonly available: bigint; readonly held: bigint; readonly pending: bigint }

/** A sponsor's balance; zeros for a wallet that never had one. */
async function readBalance(tx: SqlTx, sponsor: string): Promise<BalanceRecord> {
  const [row] = await tx.query<BalanceRow>(
    `select ledger_available(a) as available, debits_pending as held, credits_pending as pending
     from account a where kind = 'sponsor' and owner = $1 and asset_id = $2`,
    [sponsor, usdcAssetId],
  )
  const { available = 0n, held = 0n, pending = 0n } = row ?? {}
  return { sponsor, availableMicroUsd: available, heldMicroUsd: held, pendingMicroUsd: pending }
}
