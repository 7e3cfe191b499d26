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
 * Gas units of each shape: the use of its dearest common form on the local contracts, plus room. The dearest form
 * writes a new storage slot (a first allowance, a recipient that never held the token) or pays an account that does not
 * exist yet. The room is for tokens behind a proxy with a block list, which take about 15,000 more than plain ones, and
 * for gas that is refunded only at the end, since the units serve as a step's gas limit.
 * `apps/quote-api/test/marketGasUnits.test.ts` measures every form.
 *
 * Not included: ticks that a swap crosses, and calls that a fill runs. `EthereumFees` adds them.
 * @source rule F-117
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
  /** An approval and a deposit, or a swap before it, through the multicall that submits them. */
  execute: 100_000n,
  'execute-swap': 300_000n,
  /** The dearest form pays out native coin: the router receives wrapped coin, unwraps it and sends it on. */
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
  /** Units that a gas top-up, one more native payment, adds to a fill. */
  'fill-topup': 45_000n,
  /** A contract is made at the address, deposits and is gone. */
  'sweep-native': 110_000n,
  'sweep-erc20': 155_000n,
  'sweep-swap': 380_000n,
  'refund-native': 95_000n,
  'refund-erc20': 105_000n,
}

/** Numbers of storage slots and accounts that a transaction creates. */
export type NewState = { readonly slots: number; readonly accounts: number }

const creates = (slots: number, accounts = 0): NewState => ({ slots, accounts })

/**
 * The most new state that the units of each shape cover. State that a transaction creates and clears again counts,
 * because the gas limit must cover it. The code of a created contract is at most two words, and counts as a slot.
 * @source F-114
 */
export const newState: Readonly<Record<GasShape, NewState>> = {
  approve: creates(1),
  'deposit-native': creates(0),
  'deposit-erc20': creates(1),
  /** A used nonce, then balance, allowance and code of the contract that deposits, and the depository's balance. */
  'permit-eip3009': creates(5, 1),
  /** As before, and the allowance that the permit sets. */
  'permit-eip2612': creates(6, 1),
  'permit-permit2': creates(5, 1),
  'permit-permit2-swap': creates(9, 1),
  execute: creates(2),
  'execute-swap': creates(6),
  /** Balance and allowance of the input, balance of the output, and the recipient's. */
  swap: creates(4, 1),
  'swap-deposit': creates(5),
  wrap: creates(1),
  unwrap: creates(0),
  'send-native': creates(0, 1),
  'send-erc20': creates(1),
  'fill-native': creates(1, 1),
  'fill-erc20': creates(2),
  'fill-swap': creates(5, 1),
  'fill-topup': creates(0, 1),
  'sweep-native': creates(0, 1),
  'sweep-erc20': creates(2, 1),
  'sweep-swap': creates(7, 1),
  'refund-native': creates(1, 1),
  'refund-erc20': creates(2),
}

/** Units of an order's clone: its creation, the calls through it, and the sweep of one token. */
export const orderCloneUnits = 90_000n
/** The clone and its code. */
export const newClone = creates(1, 1)

/** Bytes that calls add to a fill beside themselves, a zero as a quarter: salt, recipient, token, offsets, lengths. */
const callsFrameBytes = 200n
/** Bytes of each call beside its data, a zero as a quarter: target, value, offset and length of the data. */
const callFrameBytes = 80n

/**
 * Bytes of data that an order's calls add to its fill; 0 without calls. A zero byte counts as a quarter, since chains
 * compress the data that they publish.
 */
export function callBytesOf(calls: readonly { readonly data: Hex }[]): bigint {
  if (calls.length === 0) return 0n
  return calls.reduce((sum, { data }) => sum + callFrameBytes + sizeOf(data), callsFrameBytes)
}

function sizeOf(data: Hex): bigint {
  let quarters = 0
  for (let index = 2; index < data.length; index += 2) quarters += data.startsWith('00', index) ? 1 : 4
  return divideUp(BigInt(quarters), 4n)
}

/** Transactions of a user whose gas use was measured exactly, for the expected cost that is shown. */
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
  /** A pool's first swap in a direction writes a slot, which quotes do not read; half of its units are included. */
  swap: 165_000n,
  'swap-from-native': 162_000n,
  'swap-to-native': 171_000n,
  'swap-deposit': 192_000n,
  wrap: 27_900n,
  unwrap: 35_300n,
  'send-native': 21_000n,
  'send-erc20': 34_600n,
}

/** Units that a balance or allowance adds if it was zero before, and units refunded if it becomes zero. */
export const createdSlotUnits = 17_100n
export const clearedSlotUnits = 4_800n
/** Units of an account that gets its first native coin from a contract. */
export const newAccountUnits = 25_000n
/** Refunds are limited to the used units divided by this number. @source EIP-3529 */
export const refundShare = 5n
