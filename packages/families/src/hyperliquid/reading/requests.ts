/** Body of a POST to `/info`. @source Hyperliquid API, "Info endpoint" */
export type InfoRequest =
  | { readonly type: 'spotMeta' }
  | { readonly type: 'exchangeStatus' }
  | { readonly type: 'userRole'; readonly user: string }
  | {
      readonly type: 'userNonFundingLedgerUpdates'
      readonly user: string
      readonly startTime: number
      readonly endTime: number
    }

/** Body of a POST to `/explorer`. */
export type ExplorerRequest =
  | { readonly type: 'txDetails'; readonly hash: string }
  | { readonly type: 'userDetails'; readonly user: string }

export const spotMetaRequest: InfoRequest = { type: 'spotMeta' }

export function userRoleRequest(user: string): InfoRequest {
  return { type: 'userRole', user }
}

/** Request for an account's ledger entries of one millisecond. */
export function ledgerRequest(user: string, timestampMs: number): InfoRequest {
  return ledgerRangeRequest(user, timestampMs, timestampMs)
}

/** Request for an account's ledger entries between two milliseconds, both included. */
export function ledgerRangeRequest(user: string, startTime: number, endTime: number): InfoRequest {
  return { type: 'userNonFundingLedgerUpdates', user, startTime, endTime }
}

export const statusRequest: InfoRequest = { type: 'exchangeStatus' }

/** @param transactionId canonical */
export function transactionRequest(transactionId: string): ExplorerRequest {
  return { type: 'txDetails', hash: transactionId }
}

/** The recent transactions of an account. */
export function recentRequest(user: string): ExplorerRequest {
  return { type: 'userDetails', user }
}

/** Explorer URL of the exchange itself, to which the proxy forwards. */
export const publicExplorerUrl = 'https://rpc.hyperliquid.xyz/explorer'
