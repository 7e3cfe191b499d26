import type { HeadTracking } from '../rpc/headTracking.ts'
import type { RpcCall } from '../rpc/jsonRpc.ts'

/** Everything that feeds a fact is read at this commitment: what the cluster cannot replace any more. */
const commitment = 'finalized'

/** The wire bytes, so that the signature that is the transaction's id can be checked over them. */
export function transactionCall(transactionId: string): RpcCall {
  const options = { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 }
  return { method: 'getTransaction', params: [transactionId, options] }
}

/** Where a transaction that is not final yet stands. */
export function statusCall(transactionId: string): RpcCall {
  return { method: 'getSignatureStatuses', params: [[transactionId], { searchTransactionHistory: true }] }
}

export function headCall(): RpcCall {
  return { method: 'getSlot', params: [{ commitment }] }
}

/** Hash and time of the block of `slot`, without its transactions. */
export function blockCall(slot: bigint): RpcCall {
  const options = {
    commitment,
    transactionDetails: 'none',
    rewards: false,
    maxSupportedTransactionVersion: 0,
  }
  return { method: 'getBlock', params: [Number(slot), options] }
}

/** The account as it stood at `slotMin` or later; a node that is behind refuses. */
export function accountCall(address: string, slotMin: bigint): RpcCall {
  const options = { commitment, encoding: 'base64', minContextSlot: Number(slotMin) }
  return { method: 'getAccountInfo', params: [address, options] }
}

/** An account without its data, at the newest final slot. */
export function programCall(address: string): RpcCall {
  const options = { commitment, encoding: 'base64', dataSlice: { offset: 0, length: 0 } }
  return { method: 'getAccountInfo', params: [address, options] }
}

/** Names the cluster. */
export function genesisCall(): RpcCall {
  return { method: 'getGenesisHash', params: [] }
}

export function versionCall(): RpcCall {
  return { method: 'getVersion', params: [] }
}

/** What quotes are made from: the newest state that most of the cluster has voted for. */
const newest = 'confirmed'

/** Accounts with their data, in their order, at the newest confirmed slot. */
export function accountsCall(addresses: readonly string[]): RpcCall {
  return { method: 'getMultipleAccounts', params: [addresses, { commitment: newest, encoding: 'base64' }] }
}

/** Slots stand for heights. */
export const solanaHeadTracking: HeadTracking = {
  call: { method: 'getSlot', params: [{ commitment: newest }] },
  readHead: ({ method }, result) =>
    method === 'getSlot' && typeof result === 'number' && Number.isSafeInteger(result)
      ? BigInt(result)
      : undefined,
}
