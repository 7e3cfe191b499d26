import { type Hex, hubAlias, nonceMappingId, type ReadOptions } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import type { EntryPlace, HubEntries, HubEntry } from '../../shared/hubEntries.ts'
import type { HyperliquidTransaction, SendAction } from './answers.ts'
import { NonceMappingMissingError } from './hyperliquidErrors.ts'
import { nonceOf } from './transfers.ts'

/** Purpose of a transfer, as the hub records it. */
export type NonceMapping = {
  readonly orderId: Hex
  /** Depositor that the entry names in place of the sender. */
  readonly depositor: Hex | undefined
}

/** An entry counts only if it is written within this time after the transfer. */
const mappingWindowSeconds = 3_600n
/** Most seconds that a caller is told to wait: entries usually come within seconds. */
const waitSecondsMax = 30n

/**
 * Reads from the hub which order a transfer is for; `undefined` when no entry counts any more. Times are those of the
 * hub's blocks, so that all oracles decide alike.
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
  const { user: alias, id } = placeOfMapping(chainId, user, nonce)
  const entry = await hub.read(alias, id, options)
  return judgeEntry(entry, { nonce, sender: user, timeMs })
}

/** Place of the hub's entry about a sender's transfer with a nonce; an alias is his account on the hub. */
export function placeOfMapping(chainId: string, sender: string, nonce: bigint): EntryPlace {
  return { user: hubAlias({ ...mainNetwork('hyperliquid-vm'), chainId }, sender), id: nonceMappingId(nonce) }
}

/** `open`: an entry may still come; `claimed`: one came in time; `nobodys`: no entry counts any more. */
export type ClaimState = 'open' | 'claimed' | 'nobodys'

/** State of the hub's entry about a transfer's purpose. Pure. */
export function claimOf({ createdAtSeconds, readAtSeconds }: HubEntry, timeMs: bigint): ClaimState {
  const closesAt = timeMs / 1_000n + mappingWindowSeconds
  // 0: the hub has no entry.
  if (createdAtSeconds === 0n) return readAtSeconds > closesAt ? 'nobodys' : 'open'
  return createdAtSeconds > closesAt ? 'nobodys' : 'claimed'
}

/** @throws NonceMappingMissingError */
function judgeEntry(
  entry: HubEntry,
  { timeMs, ...transfer }: { readonly nonce: bigint; readonly sender: string; readonly timeMs: bigint },
): NonceMapping | undefined {
  const state = claimOf(entry, timeMs)
  if (state === 'claimed') return readData(entry.data)
  if (state === 'nobodys') return undefined
  const secondsLeft = timeMs / 1_000n + mappingWindowSeconds - entry.readAtSeconds + 1n
  throw new NonceMappingMissingError({
    ...transfer,
    waitSeconds: Number(secondsLeft < waitSecondsMax ? secondsLeft : waitSecondsMax),
  })
}

const noAccount = '0'.repeat(40)

/** An entry's bytes: an order id, and optionally the depositor's account behind it. Others name no order. */
function readData(data: Hex): NonceMapping | undefined {
  const [orderId, account] = [data.slice(2, 66), data.slice(66)]
  if (orderId.length !== 64 || (account.length !== 0 && account.length !== 40)) return undefined
  const hasDepositor = account !== '' && account !== noAccount
  return { orderId: `0x${orderId}`, depositor: hasDepositor ? `0x${account}` : undefined }
}
