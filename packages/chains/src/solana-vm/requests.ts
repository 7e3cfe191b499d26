import type { HeadTracking } from '../rpc/headTracking.ts'
import type { RpcCall } from '../rpc/jsonRpc.ts'

/** How much of the cluster has voted for what is read. */
export type Commitment = 'confirmed' | 'finalized'

/** Everything that feeds a signature is read at this commitment: what the cluster cannot replace any more. */
const commitment: Commitment = 'finalized'

/** The newest version of a transaction that is read. */
export const newestVersion = 1

/** The wire bytes, so that the signature that is the transaction's id can be checked over them. */
export function transactionCall(transactionId: string, at: Commitment = commitment): RpcCall {
  const options = { commitment: at, encoding: 'base64', maxSupportedTransactionVersion: newestVersion }
  return { method: 'getTransaction', params: [transactionId, options] }
}

/** Where a transaction that is not final yet stands. */
export function statusCall(transactionId: string): RpcCall {
  return { method: 'getSignatureStatuses', params: [[transactionId], { searchTransactionHistory: true }] }
}

export function headCall(at: Commitment = commitment): RpcCall {
  return { method: 'getSlot', params: [{ commitment: at }] }
}

/** Hash and time of the block of `slot`, without its transactions. */
export function blockCall(slot: bigint, at: Commitment = commitment): RpcCall {
  const options = {
    commitment: at,
    transactionDetails: 'none',
    rewards: false,
    maxSupportedTransactionVersion: newestVersion,
  }
  return { method: 'getBlock', params: [Number(slot), options] }
}

/** The most that nodes list at once. @source Solana documentation, getSignaturesForAddress */
export const signaturesMax = 1_000

/** Transactions that name an account, the newest first; behind `before` and down to `until`, where they are given. */
export function signaturesCall(
  address: string,
  { before, until }: { readonly before?: string | undefined; readonly until?: string | undefined },
  at: Commitment,
): RpcCall {
  const options = {
    ...{ commitment: at, limit: signaturesMax },
    ...(before !== undefined && { before }),
    ...(until !== undefined && { until }),
  }
  return { method: 'getSignaturesForAddress', params: [address, options] }
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

/** What transactions that wrote to all of these accounts paid per compute unit, by slot. */
export function priorityFeesCall(accounts: readonly string[]): RpcCall {
  return { method: 'getRecentPrioritizationFees', params: [accounts] }
}

/** What an account without data must hold. */
export function rentRateCall(): RpcCall {
  return { method: 'getMinimumBalanceForRentExemption', params: [0] }
}

/** Slots stand for heights. */
export const solanaHeadTracking: HeadTracking = {
  call: { method: 'getSlot', params: [{ commitment: newest }] },
  readHead: ({ method }, result) =>
    method === 'getSlot' && typeof result === 'number' && Number.isSafeInteger(result)
      ? BigInt(result)
      : undefined,
}

/** Accounts with their data, at the newest final slot. */
export function finalAccountsCall(addresses: readonly string[]): RpcCall {
  return { method: 'getMultipleAccounts', params: [addresses, { commitment, encoding: 'base64' }] }
}

/** How many blocks are final: what blockhashes end by. */
export function finalHeightCall(): RpcCall {
  return { method: 'getBlockHeight', params: [{ commitment }] }
}

/** What became of transactions, however long ago. */
export function statusesCall(signatures: readonly string[]): RpcCall {
  return { method: 'getSignatureStatuses', params: [signatures, { searchTransactionHistory: true }] }
}

/** A block that no fork can take away, so that what names it ends by its height alone. */
export function blockhashCall(): RpcCall {
  return { method: 'getLatestBlockhash', params: [{ commitment }] }
}

/** What a transaction would do now, whoever has signed it. */
export function simulationCall(transaction: string): RpcCall {
  const options = {
    ...{ commitment: newest, encoding: 'base64' },
    ...{ sigVerify: false, replaceRecentBlockhash: true },
  }
  return { method: 'simulateTransaction', params: [transaction, options] }
}

/** The node looks once more whether it would succeed, and leaves sending it again to us. */
export function sendCall(transaction: string): RpcCall {
  const options = { encoding: 'base64', preflightCommitment: newest, maxRetries: 0 }
  return { method: 'sendTransaction', params: [transaction, options] }
}
