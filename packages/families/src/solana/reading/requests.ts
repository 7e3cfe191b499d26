import type { HeadTracking, RpcCall } from '@causeway/rpc'

/** Commitment at which everything is read: blocks that the cluster cannot replace any more. @source F-104 */
const commitment = 'finalized'

/** The newest version of a transaction that is read. */
export const newestVersion = 1

/** Call for a transaction as bytes, over which its id, a signature, can be checked. */
export function transactionCall(transactionId: string): RpcCall {
  const options = { commitment, encoding: 'base64', maxSupportedTransactionVersion: newestVersion }
  return { method: 'getTransaction', params: [transactionId, options] }
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
    maxSupportedTransactionVersion: newestVersion,
  }
  return { method: 'getBlock', params: [Number(slot), options] }
}

/** The most that nodes list at once. @source Solana documentation, getSignaturesForAddress */
export const signaturesMax = 1_000

/**
 * Call for transactions that name an account, the newest first: older than `before` and newer than `until`, if given.
 */
export function signaturesCall(
  address: string,
  { before, until }: { readonly before?: string | undefined; readonly until?: string | undefined },
): RpcCall {
  const options = {
    commitment,
    limit: signaturesMax,
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

/** Call for the genesis hash, by which a cluster is recognised. */
export function genesisCall(): RpcCall {
  return { method: 'getGenesisHash', params: [] }
}

export function versionCall(): RpcCall {
  return { method: 'getVersion', params: [] }
}

/** Accounts with their data, in their order, at the newest final slot. */
export function accountsCall(addresses: readonly string[]): RpcCall {
  return { method: 'getMultipleAccounts', params: [addresses, { commitment, encoding: 'base64' }] }
}

/** Call for priority fees per compute unit, by slot, of transactions that wrote to all of these accounts. */
export function priorityFeesCall(accounts: readonly string[]): RpcCall {
  return { method: 'getRecentPrioritizationFees', params: [accounts] }
}

/** Call for the minimum balance of an account without data. */
export function rentRateCall(): RpcCall {
  return { method: 'getMinimumBalanceForRentExemption', params: [0] }
}

/** Slots stand for heights. */
export const solanaHeadTracking: HeadTracking = {
  call: headCall(),
  readHead: ({ method }, result) =>
    method === 'getSlot' && typeof result === 'number' && Number.isSafeInteger(result)
      ? BigInt(result)
      : undefined,
}

/** Call for the final block height, by which blockhashes expire. */
export function finalHeightCall(): RpcCall {
  return { method: 'getBlockHeight', params: [{ commitment }] }
}

/** Call for the statuses of transactions, however old. */
export function statusesCall(signatures: readonly string[]): RpcCall {
  return { method: 'getSignatureStatuses', params: [signatures, { searchTransactionHistory: true }] }
}

/** Call for the hash of a final block: no fork removes it, so it expires by height alone. */
export function blockhashCall(): RpcCall {
  return { method: 'getLatestBlockhash', params: [{ commitment }] }
}

/** Call for a simulation of a transaction, without a check of its signatures. */
export function simulationCall(transaction: string): RpcCall {
  const options = {
    commitment,
    encoding: 'base64',
    sigVerify: false,
    replaceRecentBlockhash: true,
  }
  return { method: 'simulateTransaction', params: [transaction, options] }
}

/** Call that sends a transaction, after the node has simulated it. The node does not repeat it: the solver does. */
export function sendCall(transaction: string): RpcCall {
  const options = { encoding: 'base64', preflightCommitment: commitment, maxRetries: 0 }
  return { method: 'sendTransaction', params: [transaction, options] }
}
