import { createHash } from 'node:crypto'
import type { Hex } from '@causeway/core'
import type { LighterWithdrawal } from '@causeway/families/rules'
import {
  type LighterNode,
  renderTransferInfo,
  type StoredTransaction,
  type TransferInfo,
} from '@causeway/localnet/standIns/lighter'

export const depository = '723071'
export const additional = '731033'
export const user = '462196'
export const orderId: Hex = `0x${'abcd1234'.repeat(8)}`
export const noOrder: Hex = `0x${'0'.repeat(64)}`
export const queuedAtMs = 1_792_918_063_880n

export const keyOf = (byte: string): Hex => `0x${byte.repeat(20)}`

export const memoOf = (hex: string): readonly number[] => [...Buffer.from(hex.replace(/^0x/, ''), 'hex')]

/** A transfer from the user to the depository, with parts changed. */
export function transfer(change: Partial<TransferInfo> = {}): TransferInfo {
  return {
    FromAccountIndex: BigInt(user),
    ApiKeyIndex: 4n,
    ToAccountIndex: BigInt(depository),
    AssetIndex: 3n,
    FromRouteType: 0n,
    ToRouteType: 0n,
    Amount: 1_000_000n,
    USDCFee: 3_000_000n,
    Memo: memoOf(orderId),
    ExpiredAt: queuedAtMs + 600_000n,
    Nonce: 7n,
    ...change,
  }
}

let count = 0

/** Put on all nodes alike. @returns its id: 40 bytes, as real ones have */
export function put(
  nodes: readonly LighterNode[],
  info: TransferInfo,
  change: Partial<StoredTransaction> = {},
): string {
  count += 1
  const hash = createHash('sha512').update(String(count)).digest('hex').slice(0, 80)
  const stored = { hash, type: 12, status: 3, queuedAtMs, info: renderTransferInfo(info), ...change }
  for (const node of nodes) node.put(stored)
  return stored.hash
}

/** The withdrawal that a transfer executes. */
export function withdrawalOf(info: TransferInfo, lighterChainId = 304n): LighterWithdrawal {
  return {
    nonce: info.Nonce,
    apiKeyIndex: info.ApiKeyIndex,
    assetIndex: info.AssetIndex,
    fromAccountIndex: info.FromAccountIndex,
    fromRouteType: info.FromRouteType,
    toAccountIndex: info.ToAccountIndex,
    toRouteType: info.ToRouteType,
    amount: info.Amount,
    usdcFee: info.USDCFee,
    lighterChainId,
    memo: `0x${Buffer.from(info.Memo).toString('hex').padEnd(64, '0')}`,
  }
}
