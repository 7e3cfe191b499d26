import type { Hex } from '@causeway/core'
import type { StoredBody } from '../bodies/index.ts'
import type { StoredTransaction, TransferInfo } from './lighterNode.ts'

const openApi = 'zklighter-perps 1.0.272, openapi.json'

/** Texts, with integers of any size written digit by digit. */
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
      const own = { account: part(info, 'FromAccountIndex'), nonce: part(info, 'Nonce') }
      const taken = `"account_index":${own.account},"nonce":${own.nonce},"expire_at":0`
      const after = `"transaction_index":440,"l1_address":"",${taken}`
      const times = `"queued_at":${queuedAtMs},"executed_at":${queuedAtMs},"committed_at":0,"verified_at":0`
      const key = part(info, 'ApiKeyIndex')
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
    body(index: string, l1Address: string): string {
      const rest = JSON.stringify({
        ...{ code: 0, account_type: 0, l1_address: l1Address, status: 1, account_trading_mode: 0 },
        ...{
          cancel_all_time: 0,
          total_order_count: 0,
          total_isolated_order_count: 0,
          pending_order_count: 0,
        },
        ...{ available_balance: '0.000000', collateral: '0.000000', transaction_time: 0, created_at: 0 },
        ...{ name: '', description: '', can_invite: true, referral_points_percentage: '' },
        ...{ can_rfq: false, can_rfq_market_ids: [], metadata: { color: '' } },
        ...{ positions: [], assets: [], shares: [], total_asset_value: '0', cross_asset_value: '0' },
        ...{ cross_initial_margin_requirement: '0', cross_maintenance_margin_requirement: '0' },
        pool_info: {
          ...{
            status: 0,
            operator_fee: '',
            min_operator_share_rate: '',
            total_shares: 0,
            operator_shares: 0,
          },
          ...{ annual_percentage_yield: 0, sharpe_ratio: 0 },
          ...{ daily_returns: [], share_prices: [], strategies: [] },
        },
      })
      const account = `${rest.slice(0, -1)},"index":${index},"account_index":${index}}`
      return `{"code":200,"total":1,"accounts":[${account}]}`
    },
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
    },
  },
  logs: {
    provenance: 'constructed',
    source: 'oracle-protocol.md 5.5: the members that the explorer of the public interface is asked for',
    proves: ['logs of the explorer name candidates'],
    body: (logs: readonly ExplorerLog[]) =>
      JSON.stringify(
        logs.map(({ hash, status, from, to }) => ({
          ...{ tx_type: 'L2Transfer', hash, status },
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

export type ExplorerLog = {
  readonly hash: string
  readonly status: string
  readonly from: string
  readonly to: string
}

/** A transfer as a transaction's `info`. */
export const renderTransferInfo = lighterBodies.transfer.body

/** A number of a transaction's content as it stands there; 1 where it has none. */
function part(info: string, name: string): string {
  return new RegExp(`"${name}":(\\d+)`).exec(info)?.[1] ?? '1'
}
