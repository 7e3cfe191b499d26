import type { Hex } from '@causeway/core'
import { divideUp } from '@causeway/core'

/** Transactions whose gas is priced from a table of measured units. */
export const gasShapes = [
  'approve',
  'deposit-native',
  'deposit-erc20',
  'permit-eip3009',
  'permit-eip2612',
  'permit-permit2',
  'permit-permit2-swap',
  'execute',
  'execute-swap',
  'swap',
  'swap-deposit',
  'wrap',
  'unwrap',
  'send-native',
  'send-erc20',
  'fill-native',
  'fill-erc20',
  'fill-swap',
  'fill-topup',
  'sweep-native',
  'sweep-erc20',
  'sweep-swap',
  'refund-native',
  'refund-erc20',
] as const
export type GasShape = (typeof gasShapes)[number]

/**
 * Gas units of each shape: what its dearest common form uses on the local contracts, and room above it.
 * A dearest form writes a new storage slot (a first allowance, a recipient that never held the token) or
 * pays an account that does not exist yet. The room is for tokens behind a proxy with a block list, which
 * take about 15,000 more than a plain one, and because the units are a step's gas limit, which must also
 * cover what is given back at the end. `apps/quote-api/test/marketGasUnits.test.ts`
 * measures every form.
 *
 * Ticks that a swap crosses and calls that a fill runs are for whoever prices a transaction to add.
 * @source pricing-engine.md 1.1
 */
export const gasUnits: Readonly<Record<GasShape, bigint>> = {
  approve: 65_000n,
  /** An event and no storage. */
  'deposit-native': 35_000n,
  'deposit-erc20': 85_000n,
  'permit-eip3009': 150_000n,
  'permit-eip2612': 220_000n,
  /** The calls run in a contract of their own, made and paid for once. */
  'permit-permit2': 215_000n,
  'permit-permit2-swap': 400_000n,
  /** The dearest is paid out in native coin: wrapped coin comes in, is unwrapped and sent on. */
  /** An approval and a deposit, or a swap before it, through the multicall that submits them. */
  execute: 100_000n,
  'execute-swap': 300_000n,
  swap: 280_000n,
  'swap-deposit': 280_000n,
  wrap: 60_000n,
  unwrap: 45_000n,
  /** 21,000 and a few thousand for recipients that are contracts. */
  'send-native': 30_000n,
  'send-erc20': 75_000n,
  /** The fill contract's record of the id is a new slot. */
  'fill-native': 95_000n,
  'fill-erc20': 105_000n,
  /** Payment to the clone that runs calls, its creation, its allowance for the router, the swap and the sweep. */
  'fill-swap': 320_000n,
  /** Units that a native payment adds to a fill. */
  'fill-topup': 45_000n,
  /** A contract is made at the address, deposits and is gone. */
  'sweep-native': 110_000n,
  'sweep-erc20': 155_000n,
  'sweep-swap': 380_000n,
  'refund-native': 95_000n,
  'refund-erc20': 105_000n,
}

/** Slots and accounts that were not there before. */
export type NewState = { readonly slots: number; readonly accounts: number }

const makes = (slots: number, accounts = 0): NewState => ({ slots, accounts })

/**
 * New state that the units of each shape hold, at most. What a transaction makes and clears again counts, because a
 * limit must hold it. The code of a contract that is made is no longer than two words, and counts as a slot.
 * @source F-114
 */
export const newState: Readonly<Record<GasShape, NewState>> = {
  approve: makes(1),
  'deposit-native': makes(0),
  'deposit-erc20': makes(1),
  /** A used nonce, then balance, allowance and code of the contract that deposits, and the depository's balance. */
  'permit-eip3009': makes(5, 1),
  'permit-eip2612': makes(6, 1),
  'permit-permit2': makes(5, 1),
  'permit-permit2-swap': makes(9, 1),
  execute: makes(2),
  'execute-swap': makes(6),
  /** Balance and allowance of the input, balance of the output, and the recipient's. */
  swap: makes(4, 1),
  'swap-deposit': makes(5),
  wrap: makes(1),
  unwrap: makes(0),
  'send-native': makes(0, 1),
  'send-erc20': makes(1),
  'fill-native': makes(1, 1),
  'fill-erc20': makes(2),
  'fill-swap': makes(5, 1),
  'fill-topup': makes(0, 1),
  'sweep-native': makes(0, 1),
  'sweep-erc20': makes(2, 1),
  'sweep-swap': makes(7, 1),
  'refund-native': makes(1, 1),
  'refund-erc20': makes(2),
}

/** Clone of an order that runs its calls: made, called through, and one token swept. */
export const orderCloneUnits = 90_000n
/** The clone and its code. */
export const newClone = makes(1, 1)

/** Bytes of an order that runs calls, beside the calls: salt, recipient, swept token, offsets and lengths. */
const callsFrameBytes = 200n
/** Bytes of each call beside its data: target, value, offset and length of the data. */
const callFrameBytes = 80n

/**
 * Bytes of data that an order's calls add to its fill; a zero byte counts a quarter, since chains compress what they
 * publish. 0 without calls.
 */
export function callBytesOf(calls: readonly { readonly data: Hex }[]): bigint {
  if (calls.length === 0) return 0n
  return calls.reduce((sum, { data }) => sum + callFrameBytes + sizeOf(data), callsFrameBytes)
}

function sizeOf(data: Hex): bigint {
  let quarters = 0
  for (let at = 2; at < data.length; at += 2) quarters += data.startsWith('00', at) ? 1 : 4
  return divideUp(BigInt(quarters), 4n)
}

/** Transactions of a user whose use is known. */
export type UsedShape =
  | 'approve'
  | 'deposit-native'
  | 'deposit-erc20'
  | 'swap'
  | 'swap-from-native'
  | 'swap-to-native'
  | 'swap-deposit'
  | 'wrap'
  | 'unwrap'
  | 'send-native'
  | 'send-erc20'

/**
 * Gas units of a user's transaction if every slot that it writes exists already and stays. Measured on the local
 * contracts; `apps/quote-api/test/execution.test.ts` compares them with real transactions.
 */
export const usedUnits: Readonly<Record<UsedShape, bigint>> = {
  approve: 29_100n,
  'deposit-native': 24_000n,
  'deposit-erc20': 46_750n,
  /** Half of what a pool's first swap in a direction adds is in these: one slot of its own, which nobody reads. */
  swap: 165_000n,
  'swap-from-native': 162_000n,
  'swap-to-native': 171_000n,
  'swap-deposit': 192_000n,
  wrap: 27_900n,
  unwrap: 35_300n,
  'send-native': 21_000n,
  'send-erc20': 34_600n,
}

/** A balance or an allowance that was zero, and one that becomes zero. */
export const createdSlotUnits = 17_100n
export const clearedSlotUnits = 4_800n
/** An account that gets its first coin from a contract. */
export const newAccountUnits = 25_000n
/** No more than this part of what was used is given back: one fifth. */
export const refundShare = 5n
