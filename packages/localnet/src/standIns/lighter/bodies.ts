import type { Hex } from '@causeway/core'
import type { StoredBody } from '../bodies/index.ts'

/** A transfer with the names that the JSON of `info` has; its integers may exceed the numbers of JavaScript. */
export type TransferInfo = {
  readonly FromAccountIndex: bigint
  readonly ApiKeyIndex: bigint
  readonly ToAccountIndex: bigint
  readonly AssetIndex: bigint
  readonly FromRouteType: bigint
  readonly ToRouteType: bigint
  readonly Amount: bigint
  readonly USDCFee: bigint
  readonly Memo: readonly number[]
  readonly ExpiredAt: bigint
  readonly Nonce: bigint
}

/** A transaction of the exchange; `info` is the JSON that was sent. */
export type StoredTransaction = {
  readonly hash: string
  readonly type: number
  readonly status: number
  readonly queuedAtMs: bigint
  readonly info: string
}

const openApi = 'zklighter-perps 1.0.272, openapi.json'

/** Bodies of Lighter, as texts, because JSON.stringify cannot write integers of any size. */
export const lighterBodies = {
  info: {
    provenance: 'specified',
    source: `${openApi}, ZkLighterInfo`,
    proves: ['the contract on layer 1 tells the network'],
    body: (contract: Hex) => JSON.stringify({ contract_address: contract }),
  },
  transaction: {
    provenance: 'specified',
    source: `${openApi}, EnrichedTx`,
    proves: ['a transaction has its id, type, status and time beside its content'],
    body({ hash, type, status, queuedAtMs, info }: StoredTransaction): string {
      const before = JSON.stringify({ code: 200, hash, type, info, event_info: '{}', status }).slice(0, -1)
      const payer = { account: numberIn(info, 'FromAccountIndex'), nonce: numberIn(info, 'Nonce') }
      const payerFields = `"account_index":${payer.account},"nonce":${payer.nonce},"expire_at":0`
      const after = `"transaction_index":440,"l1_address":"",${payerFields}`
      const times = `"queued_at":${queuedAtMs},"executed_at":${queuedAtMs},"committed_at":0,"verified_at":0`
      const key = numberIn(info, 'ApiKeyIndex')
      const rest = `"block_height":365159121,"sequence_index":139166258732,"parent_hash":"","api_key_index":${key}`
      return `${before},${after},${times},${rest},"transaction_time":0}`
    },
  },
  transfer: {
    provenance: 'constructed',
    source: 'names of the parts of a signed transfer; the schema has the content as a text',
    proves: ['the content of a transfer names payer, payee, asset, routes, amount, memo and expiry'],
    body(info: TransferInfo): string {
      const parts = Object.entries(info).map(([name, value]) =>
        typeof value === 'bigint' ? `"${name}":${value}` : `"${name}":[${value}]`,
      )
      return `{${parts.join()},"Sig":"","L1Sig":""}`
    },
  },
  brokenTransfers: {
    provenance: 'constructed',
    source: 'the content of a transfer, spoilt',
    proves: ['a transfer whose content cannot be read is no answer'],
    body: { none: '', half: '{"Amount":1', list: '[]', withoutAmount: '{"Nonce":1}' },
  },
  otherStatuses: {
    provenance: 'constructed',
    source: 'lighter-ts-sdk, TransactionStatus: numbers of which no answer was seen',
    proves: ['statuses 0 and 1 wait, 2 is executed, 4 and 5 failed'],
    body: { waiting: [0, 1], executed: 2, failed: [4, 5] },
  },
  account: {
    provenance: 'specified',
    source: `${openApi}, DetailedAccounts; values of a real account in nautilus_trader, http_account.json`,
    proves: ['an account names the address that signs for it'],
    body(index: string, l1Address: string, held: ReadonlyMap<string, bigint> = new Map()): string {
      // Currency 0 is perps USDC, which is no asset of the list.
      const available = decimalText(held.get('0') ?? 0n, 6)
      const assets = [...held].flatMap(([currency, amount]) =>
        currency === '0' ? [] : [assetOf(currency, amount)],
      )
      const rest = JSON.stringify({
        code: 0,
        account_type: 0,
        l1_address: l1Address,
        status: 1,
        account_trading_mode: 0,
        cancel_all_time: 0,
        total_order_count: 0,
        total_isolated_order_count: 0,
        pending_order_count: 0,
        available_balance: available,
        collateral: available,
        transaction_time: 0,
        created_at: 0,
        name: '',
        description: '',
        can_invite: true,
        referral_points_percentage: '',
        can_rfq: false,
        can_rfq_market_ids: [],
        metadata: { color: '' },
        positions: [],
        assets,
        shares: [],
        total_asset_value: '0',
        cross_asset_value: '0',
        cross_initial_margin_requirement: '0',
        cross_maintenance_margin_requirement: '0',
        pool_info: {
          status: 0,
          operator_fee: '',
          min_operator_share_rate: '',
          total_shares: 0,
          operator_shares: 0,
          annual_percentage_yield: 0,
          sharpe_ratio: 0,
          daily_returns: [],
          share_prices: [],
          strategies: [],
        },
      })
      const account = `${rest.slice(0, -1)},"index":${index},"account_index":${index}}`
      return `{"code":200,"total":1,"accounts":[${account}]}`
    },
  },
  status: {
    provenance: 'specified',
    source: `${openApi}, Status`,
    proves: ['the exchange tells its time'],
    body: (timestamp: number) => JSON.stringify({ status: 200, network_id: 304, timestamp }),
  },
  nextNonce: {
    provenance: 'specified',
    source: `${openApi}, NextNonce`,
    proves: ['a key has a nonce that comes next'],
    body: (nonce: bigint) => `{"code":200,"nonce":${nonce}}`,
  },
  transferFee: {
    provenance: 'specified',
    source: `${openApi}, TransferFeeInfo`,
    proves: ['a transfer takes what the exchange says for two accounts'],
    body: (fee: bigint) => `{"code":200,"transfer_fee_usdc":${fee}}`,
  },
  assets: {
    provenance: 'specified',
    source: `${openApi}, AssetDetails`,
    proves: ['an asset has decimals'],
    body: () => JSON.stringify({ code: 200, asset_details: ['1', '3'].map(detailsOf) }),
  },
  transactions: {
    provenance: 'specified',
    source: `${openApi}, Txs`,
    proves: ['an account lists its transactions, with what was signed, the newest first'],
    body(stored: readonly StoredTransaction[]): string {
      const listed = stored.map((one) =>
        // Entries of the list lack some members of a single transaction.
        lighterBodies.transaction
          .body(one)
          .replace('"code":200,', '')
          .replace('"committed_at":0,"verified_at":0,', ''),
      )
      return `{"code":200,"txs":[${listed.join()}]}`
    },
  },
  taken: {
    provenance: 'specified',
    source: `${openApi}, RespSendTx`,
    proves: ['a transfer that is taken has an id'],
    body: (hash: string) =>
      JSON.stringify({
        code: 200,
        tx_hash: hash,
        predicted_execution_time_ms: 0,
        volume_quota_remaining: 0,
      }),
  },
  refusedTransfer: {
    provenance: 'constructed',
    source: `${openApi}, ResultCode, with a number and texts that we made up`,
    proves: ['a transfer that is refused has a reason'],
    body: (message: string) => JSON.stringify({ code: 21_104, message }),
  },
  notFound: {
    provenance: 'constructed',
    source: `${openApi}, ResultCode; the numbers as public clients name them`,
    proves: ['codes 21500 and 21100 mean that a transaction or an account does not exist'],
    body: {
      transaction: '{"code":21500,"message":"transaction not found"}',
      account: '{"code":21100,"message":"account not found"}',
    },
  },
  otherErrors: {
    provenance: 'constructed',
    source: `${openApi}, ResultCode, with codes that we made up`,
    proves: ['every other code is no answer'],
    body: {
      invalidParameter: '{"code":20001,"message":"invalid param"}',
      internal: '{"code":500,"message":"internal error"}',
      unauthorized: '{"code":20013,"message":"invalid auth"}',
    },
  },
  logs: {
    provenance: 'constructed',
    source: 'the members for which the explorer is asked',
    proves: ['logs of the explorer name candidates'],
    body: (logs: readonly ExplorerLog[]) =>
      JSON.stringify(
        logs.map(({ hash, status, from, to }) => ({
          tx_type: 'L2Transfer',
          hash,
          status,
          pubdata: { l2_transfer_pubdata_v2: { from_account_index: from, to_account_index: to } },
        })),
      ),
  },
  brokenLogs: {
    provenance: 'constructed',
    source: 'logs of the explorer, spoilt',
    proves: ['an explorer that answers nonsense hides nothing'],
    body: {
      object: '{"logs":[]}',
      numbers: '[1,2]',
      withoutHash: '[{"pubdata":{"l2_transfer_pubdata":{}}}]',
      ofAnotherPlace: '[{"hash":"../account","pubdata":{"l2_transfer_pubdata":{}}}]',
    },
  },
} satisfies Readonly<Record<string, StoredBody>>

/** A transfer as the explorer lists it; `from` and `to` are account numbers. */
export type ExplorerLog = {
  readonly hash: string
  readonly status: string
  readonly from: string
  readonly to: string
}

/** A transfer as a transaction's `info`. */
export const renderTransferInfo = lighterBodies.transfer.body

const symbols: Readonly<Record<string, { readonly symbol: string; readonly decimals: number }>> = {
  '1': { symbol: 'ETH', decimals: 8 },
  '3': { symbol: 'USDC', decimals: 6 },
}

function detailsOf(asset: string): object {
  const { symbol = '', decimals = 0 } = symbols[asset] ?? {}
  const none = {
    loan_to_value: '0',
    liquidation_threshold: '0',
    liquidation_factor: '0',
    liquidation_fee: '0',
  }
  return {
    asset_id: Number(asset),
    symbol,
    l1_decimals: decimals,
    decimals,
    margin_mode: 'disabled',
    min_transfer_amount: '0.000001',
    min_withdrawal_amount: '0.000001',
    index_price: '1',
    price_decimals: 2,
    l1_address: '',
    ...none,
    global_supply_cap: '0',
    user_supply_cap: '0',
    total_supplied: '0',
    multiplier: '1',
  }
}

function assetOf(asset: string, amount: bigint): object {
  const { symbol = '', decimals = 0 } = symbols[asset] ?? {}
  return {
    symbol,
    asset_id: Number(asset),
    balance: decimalText(amount, decimals),
    locked_balance: '0',
    margin_mode: 'disabled',
    margin_balance: '0',
    multiplier: '1',
  }
}

/** An amount of smallest units as the exchange writes it. */
function decimalText(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

/** The digits of a named number in a transaction's `info`; 1 where it has none, as in a spoilt one. */
function numberIn(info: string, name: string): string {
  return new RegExp(`"${name}":(\\d+)`).exec(info)?.[1] ?? '1'
}
