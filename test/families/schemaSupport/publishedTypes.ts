import type { TxOutspend, TxStatus } from '@mempool/mempool.js/lib/interfaces/bitcoin/transactions.js'
import type { SendAssetResponse } from '@nktkas/hyperliquid/api/exchange'
import type {
  ClearinghouseStateResponse,
  ExchangeStatusResponse,
  PreTransferCheckResponse,
  SpotClearinghouseStateResponse,
  SpotMetaResponse,
  TxDetailsResponse,
  UserAbstractionResponse,
  UserDetailsResponse,
  UserNonFundingLedgerUpdatesResponse,
  UserRoleResponse,
} from '@nktkas/hyperliquid/api/info'
import type { Types } from 'tronweb'

/** With members left out: nodes leave out what is empty or zero. */
type Sparse<Body> = Body extends readonly (infer Member)[]
  ? readonly Sparse<Member>[]
  : Body extends object
    ? { readonly [Name in keyof Body]?: Sparse<Body[Name]> }
    : Body

/** Status of a transaction; one in the mempool has no block. */
type Place = TxStatus | { readonly confirmed: false }

/** Answers as the clients of others declare them, by the name of the question. */
export type PublishedTypes = {
  readonly spotMeta: SpotMetaResponse
  readonly exchangeStatus: ExchangeStatusResponse
  readonly preTransferCheck: PreTransferCheckResponse
  readonly clearinghouseState: ClearinghouseStateResponse
  readonly spotClearinghouseState: SpotClearinghouseStateResponse
  readonly userAbstraction: UserAbstractionResponse
  readonly sendAsset: SendAssetResponse
  readonly userRole: UserRoleResponse
  readonly userNonFundingLedgerUpdates: UserNonFundingLedgerUpdatesResponse
  readonly txDetails: TxDetailsResponse
  readonly userDetails: UserDetailsResponse
  readonly status: Place
  readonly outspend: { readonly spent: false } | (Omit<TxOutspend, 'status'> & { readonly status: Place })
  readonly getblock: Sparse<Types.Block>
  readonly gettransactionbyid: Sparse<Types.GetTransactionResponse>
  readonly gettransactioninfobyid: Sparse<Types.TransactionInfo>
  readonly gettransactioninfobyblocknum: readonly Sparse<Types.TransactionInfo>[]
  readonly triggerconstantcontract: Sparse<Types.TransactionWrapper>
  readonly getnowblock: Sparse<Types.Block>
  readonly getaccount: Sparse<Types.Account>
  readonly getchainparameters: { readonly chainParameter: readonly Sparse<Types.ChainParameter>[] }
}
