import type { Hex } from '@causeway/core'

/**
 * A POST to a node's HTTP API. `/wallet` answers from the newest blocks, `/walletsolidity` from solidified
 * ones, which nothing replaces any more.
 */
export type TronRequest = {
  readonly path: `/${'wallet' | 'walletsolidity'}/${string}`
  readonly body: Readonly<Record<string, unknown>>
}

/** Caller in simulated calls. Nodes take an account as 21 bytes of hex without `0x`: 41 and its own 20. */
const nobody = `41${'0'.repeat(40)}`

/** The newest block. */
export const headRequest: TronRequest = { path: '/wallet/getblock', body: { detail: false } }
export const solidHeadRequest: TronRequest = { path: '/walletsolidity/getblock', body: { detail: false } }

export function solidHeaderRequest(number: bigint): TronRequest {
  return { path: '/walletsolidity/getblock', body: { id_or_num: number.toString(), detail: false } }
}

/** The header at `number`, also of a block that may still be replaced. */
export function headerRequest(number: bigint): TronRequest {
  return { path: '/wallet/getblock', body: { id_or_num: number.toString(), detail: false } }
}

/** Result of a transaction in a solidified block. @param transactionId without `0x` */
export function infoRequest(transactionId: string): TronRequest {
  return { path: '/walletsolidity/gettransactioninfobyid', body: { value: transactionId } }
}

/** As `infoRequest`, also for a block that may still be replaced. */
export function unsolidInfoRequest(transactionId: string): TronRequest {
  return { path: '/wallet/gettransactioninfobyid', body: { value: transactionId } }
}

export function transactionRequest(transactionId: string): TronRequest {
  return { path: '/walletsolidity/gettransactionbyid', body: { value: transactionId } }
}

export function blockInfosRequest(number: bigint): TronRequest {
  return { path: '/walletsolidity/gettransactioninfobyblocknum', body: { num: Number(number) } }
}

/** The depository's `callRequests(bytes32)` at the node's newest block that cannot be replaced. */
export function callRequestsRequest(depository: Hex, withdrawalId: Hex): TronRequest {
  return {
    path: '/walletsolidity/triggerconstantcontract',
    body: {
      owner_address: nobody,
      contract_address: `41${depository.slice(2)}`,
      function_selector: 'callRequests(bytes32)',
      parameter: withdrawalId.slice(2),
    },
  }
}

/** As `contractRequest`, with the runtime code. @source TRON, docs/api/http, getcontractinfo */
export function contractInfoRequest(address: Hex): TronRequest {
  return { path: '/wallet/getcontractinfo', body: { value: `41${address.slice(2)}` } }
}

/** The contract at an address; nothing if there is none. */
export function contractRequest(address: Hex): TronRequest {
  return { path: '/wallet/getcontract', body: { value: `41${address.slice(2)}` } }
}
