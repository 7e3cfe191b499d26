import type { Ledger } from '@causeway/core'
import { readBalance } from './holds/balance.ts'
import { defaultHoldCaps, type HoldCaps } from './holds/holdCaps.ts'
import { reserveFreeHolds, reserveHolds } from './holds/reserve.ts'
import { expireDueHolds, pinHold, postHold, reserveHoldAgain, unpinHold, voidHold } from './holds/resolve.ts'

/** The ledger in PostgreSQL. `caps` are the bounds on quotes without a deposit. */
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
