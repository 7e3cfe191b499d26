import { type Hex, hubAlias, mainNetwork, nonceMappingId, type ReadOptions } from '@causeway/core'
import type { HubEntries, HubEntry } from '../family/hubEntries.ts'
import type { HyperliquidTransaction, SendAction } from './answers.ts'
import { NonceMappingMissingError } from './hyperliquidErrors.ts'
import { nonceOf } from './transfers.ts'

/** What the hub says a transfer is for. */
export type NonceMapping = {
  readonly orderId: Hex
  /** Whom the entry names in place of the sender. */
  readonly depositor: Hex | undefined
}

/** Entries that are written later than this after the transfer say nothing of it. */
const mappingWindowSeconds = 3_600n
/** A caller need not wait an hour for an entry that comes in seconds. */
const waitSecondsMax = 30n

/**
 * The order of a transfer; `undefined` when none can be named any more. The hub's own blocks tell the time,
 * so that every oracle decides alike.
 * @throws NonceMappingMissingError while an entry may still come
 */
export async function readNonceMapping(
  hub: HubEntries,
  chainId: string,
  transaction: HyperliquidTransaction & { readonly send: SendAction },
  options: ReadOptions,
): Promise<NonceMapping | undefined> {
  const { user, send, timeMs } = transaction
  const nonce = nonceOf(send)
  const alias = hubAlias({ ...mainNetwork('hyperliquid-vm'), chainId }, user)
  const entry = await hub.read(alias, nonceMappingId(nonce), options)
  return judgeEntry(entry, { nonce, sender: user, timeSeconds: timeMs / 1_000n })
}

/** @throws NonceMappingMissingError */
function judgeEntry(
  { data, createdAtSeconds, readAtSeconds }: HubEntry,
  transfer: { readonly nonce: bigint; readonly sender: string; readonly timeSeconds: bigint },
): NonceMapping | undefined {
  const closesAt = transfer.timeSeconds + mappingWindowSeconds
  if (createdAtSeconds === 0n) {
    if (readAtSeconds > closesAt) return undefined
    const left = closesAt - readAtSeconds + 1n
    const waitSeconds = Number(left < waitSecondsMax ? left : waitSecondsMax)
    throw new NonceMappingMissingError({ ...transfer, waitSeconds })
  }
  return createdAtSeconds > closesAt ? undefined : readData(data)
}

const noAccount = '0'.repeat(40)

/** An order id, with the account of the depositor behind it or without; anything else names no order. */
function readData(data: Hex): NonceMapping | undefined {
  const [orderId, account] = [data.slice(2, 66), data.slice(66)]
  if (orderId.length !== 64 || (account.length !== 0 && account.length !== 40)) return undefined
  const hasDepositor = account !== '' && account !== noAccount
  return { orderId: `0x${orderId}`, depositor: hasDepositor ? `0x${account}` : undefined }
}
