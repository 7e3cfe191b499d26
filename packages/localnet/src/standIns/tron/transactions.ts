import type { Hex } from '@causeway/core'
import { type Types, utils } from 'tronweb'
import { account } from './account.ts'
import { exactNumber } from './exactNumber.ts'

/** What a transaction does. Accounts are 20 bytes; `data` and `memo` begin with `0x`. */
export type SubmittedContract =
  | { readonly kind: 'transfer'; readonly to: Hex; readonly amount: bigint }
  | { readonly kind: 'trigger'; readonly to: Hex; readonly data: Hex; readonly callValue?: bigint }
  /** A TRC-10 token: the same members as a transfer of TRX. */
  | { readonly kind: 'transferAsset'; readonly to: Hex; readonly amount: bigint }

export type EncodedTransaction = {
  /** Without `0x`, as is `rawHex`. */
  readonly transactionId: string
  readonly rawHex: string
}

let last = 0

/** Equal transactions differ in their time, also from those of an earlier run. */
function nextTime(): number {
  last = Math.max(last + 1, Date.now())
  return last
}

/**
 * Bytes and id as tronweb makes them: an encoder that the reader knows nothing of.
 * @param created Unix milliseconds; default: a new time for each
 */
export function encodeTransaction(
  from: Hex,
  contract: SubmittedContract,
  memo?: Hex,
  created = nextTime(),
): EncodedTransaction {
  const encoded = utils.transaction.txJsonToPb({
    raw_data: {
      contract: [contractOf(from, contract)],
      ref_block_bytes: '0001',
      ref_block_hash: '00'.repeat(8),
      expiration: created + 60_000,
      timestamp: created,
      ...(memo !== undefined && { data: memo.slice(2) }),
      ...(contract.kind === 'trigger' && { fee_limit: 100_000_000 }),
    },
  })
  return {
    transactionId: utils.transaction.txPbToTxID(encoded).slice(2).toLowerCase(),
    rawHex: utils.transaction.txPbToRawDataHex(encoded).toLowerCase(),
  }
}

function contractOf(from: Hex, contract: SubmittedContract) {
  const owner_address = account(from)
  switch (contract.kind) {
    case 'transfer':
      return wrapped('TransferContract', {
        owner_address,
        to_address: account(contract.to),
        amount: exactNumber(contract.amount),
      })
    case 'transferAsset':
      return wrapped('TransferAssetContract', {
        owner_address,
        to_address: account(contract.to),
        amount: exactNumber(contract.amount),
        asset_name: '31303030303031',
      })
    case 'trigger':
      return wrapped('TriggerSmartContract', {
        owner_address,
        contract_address: account(contract.to),
        data: contract.data.slice(2),
        ...(contract.callValue !== undefined && { call_value: exactNumber(contract.callValue) }),
      })
  }
}

function wrapped(type: `${Types.ContractType}`, value: object) {
  return { type, parameter: { value, type_url: `type.googleapis.com/protocol.${type}` } }
}
